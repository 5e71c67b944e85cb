"""Batches in the layout of the frame corpus become frame studies."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.kits.frames.imported import item_of
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.judgments import Judgments

SENTENCES = {
    "v1": ("They frame the frame .", "frame", "3", "f:Cause to frame,f:Placing,f:Motion"),
    "v2": ("She ran a mill .", "ran", "1", "f:Self_motion,f:Operating_a_system"),
}
TICKED = {
    "v1": ["Cause to frame", "Cause to frame|Placing", "None of the above.", "Placing|None of the above."],
    "v2": ["Operating a system", "Operating a system", "Self motion|Operating a system", "Operating a system"],
}


def write_batch(path: Path) -> Path:
    rows = [
        {
            "HITId": f"hit-{vid}",
            "AssignmentId": f"{vid}-{number}",
            "WorkerId": f"W{number}",
            "AssignmentStatus": "Approved",
            "SubmitTime": "Tue Sep 05 12:00:00 PDT 2017",
            "WorkTimeInSeconds": "30",
            "Reward": "$0.05",
            "Input.vid": vid,
            "Input.sentence": SENTENCES[vid][0],
            "Input.word_phrase": SENTENCES[vid][1],
            "Input.b": SENTENCES[vid][2],
            "Input.e": str(int(SENTENCES[vid][2]) + 1),
            "Input.frames": SENTENCES[vid][3],
            "Input.frame_def": "'" + "','".join(f"What <em>{f}</em> is." for f in SENTENCES[vid][3].split(",")) + "'",
            "Input.frame_ex": "'"
            + "','".join("<p>(1) It <span id='phrase_example'>is</span> so.</p>" for _ in SENTENCES[vid][3].split(","))
            + "'",
            "Answer.framelist": SENTENCES[vid][3],
            "Answer.FrameType": ticked,
            "Answer.WhyNone": "a picture" if ticked.startswith("None") else "",
        }
        for vid, all_ticked in TICKED.items()
        for number, ticked in enumerate(all_ticked)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_batch_of_the_corpus_becomes_a_frame_study(tmp_path: Path) -> None:
    batch, study = write_batch(tmp_path / "Batch_1_batch_results.csv"), tmp_path / "study"
    assert "becomes a field" not in run("import", batch, "--out", study), "the answers become frames, not fields"
    rows = [json.loads(line) for line in next(study.glob("*.jsonl")).read_text().splitlines()]
    first = next(row for row in rows if row["vid"] == "v1")
    assert (first["word"], first["start"]) == ("frame", 15), "the second of the two"
    assert [each["frame"] for each in first["candidates"]] == ["Cause_to_frame", "Placing", "Motion"]
    assert first["candidates"][0]["definition"] == "What f:Cause to frame is."
    assert first["candidates"][0]["example"] == "It is so."
    assert json.loads(run("verify", study, "--json"))["ok"]
    run("export", study, "--format", "frames-fss", "--out", tmp_path / "FSS.csv")
    with (tmp_path / "FSS.csv").open(newline="") as file:
        ours = {(row["sent_id"], row["frame"]): float(row["fss_sent_centric"]) for row in csv.DictReader(file)}
    tasks, workers, labels = [], [], []
    for vid, all_ticked in TICKED.items():
        for number, ticked in enumerate(all_ticked):
            names = {part.replace(" ", "_") for part in ticked.split("|") if part != "None of the above."}
            tasks.append(f"hit-{vid}")
            workers.append(f"W{number}")
            labels.append(sorted(names) or ["none"])
    expected = dict(crowdtruth(Judgments.from_columns(tasks, workers, labels)).unit_annotation_scores())
    assert len(ours) == 7, "candidates and none"
    for (task, frame), score in ours.items():
        assert score == pytest.approx(expected[task].get(frame, 0.0)), (task, frame)
    run("export", study, "--format", "jsonl", "--out", tmp_path / "responses.jsonl")
    answers = [json.loads(line)["answer"] for line in (tmp_path / "responses.jsonl").read_text().splitlines()]
    assert {"frames": ["none"], "meaning": "a picture"} in answers


def test_a_row_without_its_word_is_refused(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch.csv")
    batch.write_text(batch.read_text().replace("She ran a mill .", "She was away ."))
    done = CliRunner().invoke(app, ["import", str(batch), "--out", str(tmp_path / "study")])
    assert done.exit_code == 2 and not (tmp_path / "study").exists()
    assert "a word that is not in its sentence" in done.output and "batch.csv:6" in done.output


@pytest.mark.parametrize("column", ["sentence", "word_phrase", "frames"])
def test_an_empty_cell_is_refused_by_its_column(column: str) -> None:
    cells = {"sentence": "She ran .", "word_phrase": "ran", "frames": "f:Motion", column: " "}
    with pytest.raises(ValueError, match=f"has no value in Input.{column}"):
        item_of(cells)


def test_a_word_is_spelt_as_its_sentence_spells_it() -> None:
    """The corpus has 71 sentences that begin with their word, and gives the word in lower case."""
    item = item_of({"sentence": "Running a mill is hard .", "word_phrase": "running", "frames": "f:Motion", "b": "0"})
    assert (item["word"], item["start"]) == ("Running", 0)


def test_frames_with_another_separator_are_refused_by_their_column(tmp_path: Path) -> None:
    batch = write_batch(tmp_path / "batch.csv")
    batch.write_text(batch.read_text().replace("f:Self_motion,f:Operating", "f:Self_motion|f:Operating"))
    done = CliRunner().invoke(app, ["import", str(batch), "--out", str(tmp_path / "study")])
    assert done.exit_code == 2 and "not separated by commas in Input.frames" in done.output


@pytest.mark.parametrize(("more", "start"), [({"beg": "11"}, 11), ({"beg": "1"}, 5), ({"b": "3"}, 15), ({}, 5)])
def test_the_word_is_found_by_character_by_word_or_first(more: dict[str, str], start: int) -> None:
    sentence = "They frame frame frame." if more.get("beg") == "11" else "They frame the frame ."
    cells = {"sentence": sentence, "word_phrase": "frame", "frames": "f:A,f:B", **more}
    assert item_of(cells)["start"] == start
