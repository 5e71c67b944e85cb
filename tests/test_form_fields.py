"""Fields of a form after the page: each is compared, exported and made gold by itself, and free text by nothing."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import chorale
from chorale.audit.verify import verify
from chorale.cli.program import app
from chorale.engine import gold_desk
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.files.judgment_layout import FREE_TEXT
from chorale.folder.reading import check_folder
from chorale.model import UserError
from chorale.monitor.event_words import in_words
from chorale.monitor.worker_record import worker_record
from chorale.report.questions import questions_of
from chorale.store import events
from chorale.store.gold import gold_items
from chorale.store.items import all_items
from chorale.store.workers import find_by_identity
from crowd import Person, do, look
from test_form import field_toml, read_table, span, write_form_study

OPTIONS = (
    field_toml(name="tone", kind="choice", ask="Which?", options=["kind", "rude"])
    + field_toml(name="words", kind="spans", ask="Where?", item="text")
    + field_toml(name="reason", kind="long_text", ask="Why?")
)
TEXTS = ("Could you please wait?", "You never wait!", "Wait here, all of you.", "No.")
SAID = (("kind", 0), ("rude", 1), ("rude", 0), ("rude", 0))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Three people agree on the tone of all texts but the last; nobody writes the same reason twice."""
    rows = "".join(json.dumps({"id": f"i{place}", "text": text}) + "\n" for place, text in enumerate(TEXTS))
    gold = json.dumps({"id": "g", "text": "Hello there.", "answer": {"tone": "kind"}, "explanation": "A greeting."})
    write_form_study(tmp_path, OPTIONS, rows=rows, gold=gold + "\n", extra="judgments = { min = 3, max = 3 }")
    opened = open_study(tmp_path)
    for name in ("ada", "ben", "cy"):
        person = Person(opened, name)
        while (offer := person.next("only")).lease is not None:
            text = (offer.view or {})["text"]
            tone, start = ("kind", 0) if text not in TEXTS else SAID[TEXTS.index(text)]
            tone = "kind" if text == TEXTS[-1] and name == "cy" else tone
            answer = {"tone": tone, "words": [span(start, start + 1)], "reason": f"{name} thinks so of {text!r}"}
            person.submit(offer, answer)
    yield opened
    opened.close()


def test_unanimous_items_become_gold_without_their_texts(study: Study) -> None:
    stage = study.stage("only")
    found = look(study, lambda tx: gold_desk.candidates(tx, stage))
    assert sorted(item.key for item in found.unanimous) == ["i0", "i1", "i2"]
    first = look(study, lambda tx: gold_desk.first_candidates(tx, stage, 2, 100))
    assert (len(first.unanimous), first.unanimous_total) == (2, 3)
    assert gold_desk.promote_unanimous(study, stage, "owner") == 3
    made = {row.key: row.answer for row in look(study, lambda tx: gold_items(tx, "only", stage.lowest_correct))}
    assert made["i1"] == {"tone": "rude", "words": [span(1, 2)]}
    own_words = {"tone": "rude", "words": [span(1, 2)], "reason": "It is a reproach."}
    assert stage.task.grading.grade(own_words, made["i1"]).score == 1


def test_gold_is_made_of_the_fields_that_are_named(study: Study, tmp_path: Path) -> None:
    stage = study.stage("only")
    found = look(study, lambda tx: gold_desk.candidates(tx, stage))
    assert found.by_field == {"tone": 3, "words": 4}
    only_words = look(study, lambda tx: gold_desk.candidates(tx, stage, fields=("words",)))
    assert sorted(item.key for item in only_words.unanimous) == ["i0", "i1", "i2", "i3"]
    with pytest.raises(UserError, match=r"has no field 'reason' that can become gold. Fields that can: tone, words"):
        gold_desk.promote_unanimous(study, stage, "owner", ("reason",))
    with pytest.raises(UserError, match="has no field that is graded"):
        do(study, gold_desk.promote, stage, "i3", {"reason": "Because."}, "Read it again.", "owner")
    command = ["gold", str(tmp_path), "--promote-unanimous", "--field", "words", "--json"]
    assert json.loads(CliRunner().invoke(app, command).stdout)["promoted"] == {"only": 4}
    made = {row.key: row.answer for row in look(study, lambda tx: gold_items(tx, "only", stage.lowest_correct))}
    assert made["i3"] == {"words": [span(0, 1)]}
    listed = CliRunner().invoke(app, ["gold", str(tmp_path)]).stdout
    assert "“never”" in listed and "start" not in listed
    (event,) = (one for one in look(study, lambda tx: events.recent(tx, 100, kinds=("made gold",))) if one.item == "i1")
    (worded,) = look(study, lambda tx: in_words(tx, study, [event]))
    assert worded.evidence["answer"] == "words: “never”"
    assert worded.evidence["crowd"].startswith("tone: rude · words: “never” · reason: “")


def test_the_fields_that_decide_an_item_can_be_named(tmp_path: Path) -> None:
    rows = json.dumps({"id": "i0", "text": TEXTS[0]}) + "\n"
    for named, confidence in (("", 2 / 3), (', fields = ["tone"]', 1.0), (', fields = ["words"]', 2 / 3)):
        folder = tmp_path / f"study{len(named)}"
        write_form_study(folder, OPTIONS, rows=rows, extra=f"judgments = {{ min = 3, max = 3{named} }}")
        opened = open_study(folder)
        for number, name in enumerate(("ada", "ben", "cy")):
            offer = (person := Person(opened, name)).next("only")
            words = [span(number // 2, number // 2 + 1)]
            person.submit(offer, {"tone": "kind", "words": words, "reason": f"{name} thinks so"})
        (item,) = look(opened, lambda tx: list(all_items(tx, "only")))
        assert item.confidence == pytest.approx(confidence)
        assert not look(opened, lambda tx: verify(tx, opened)).differences  # noqa: B023
        opened.close()


@pytest.mark.parametrize(("name", "what"), [("reason", "free text"), ("tones", "not a field of the answer")])
def test_a_field_that_can_not_decide_is_refused(tmp_path: Path, name: str, what: str) -> None:
    write_form_study(tmp_path, OPTIONS, extra=f'judgments = {{ min = 3, max = 3, fields = ["{name}"] }}')
    _, (told,) = check_folder(tmp_path)
    assert f"names {name!r}, which is {what}" in str(told) and "Use some of: `tone`, `words`." in str(told)


def test_exported_fields_are_read_one_by_one(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "crowdkit.csv"
    write_export(study, "crowdkit", path)
    rows = read_table(path)
    assert list(rows[0]) == ["task", "worker", "tone", "words", "reason", FREE_TEXT] and len(rows) == 12
    units = {row["task"]: [one["tone"] for one in rows if one["task"] == row["task"]] for row in rows}
    matrix = [[units[task][place] for task in sorted(units)] for place in range(3)]
    assert chorale.alpha(path, label="tone", ci=False).value == pytest.approx(chorale.alpha(matrix, ci=False).value)
    command = ["agreement", str(path), "--label", "words", "--sep", "json", "--distance", "ua-f1", "--json"]
    assert json.loads(CliRunner().invoke(app, command).stdout)["value"] == 1.0
    as_written = CliRunner().invoke(app, ["agreement", str(path), "--label", "words"])
    assert "Add --sep json" in as_written.output
    refused = CliRunner().invoke(app, ["agreement", str(path)])
    assert refused.exit_code == 2 and "--label" in refused.output and "tone" in refused.output


def test_the_table_of_results_has_the_item_s_text(study: Study, tmp_path: Path) -> None:
    write_export(study, "form", tmp_path / "form.csv")
    rows = {row["item"]: row for row in read_table(tmp_path / "form.csv")}
    assert [rows[f"i{place}"]["text"] for place in range(4)] == list(TEXTS)
    assert rows["i1"]["tone"] == "rude" and json.loads(rows["i1"]["words"])[0]["text"] == "never"


def test_who_marks_nothing_disagrees_with_who_does(tmp_path: Path) -> None:
    """Left out, everybody who saw nothing to mark would raise the agreement."""
    marked = ["[]", '["0:2"]', '["0:2"]', '["0:2"]', "[]", "[]", "", '["3:4"]']
    lines = [f'i{place // 2},w{place % 2},"{cell.replace(chr(34), chr(34) * 2)}"' for place, cell in enumerate(marked)]
    path = tmp_path / "spans.csv"
    path.write_text("task,worker,label\n" + "\n".join(lines) + "\n", "utf-8")
    for distance in ("ua-f1", "span"):
        score = chorale.alpha(path, sep="json", distance=distance, items=True, ci=False)
        assert {row["item"]: row["disagreement"] for row in score.json["items"]} == {"i0": 1.0, "i1": 0.0, "i2": 0.0}
        assert score.json["n_judgments"] == 7 and any("no label" in note for note in score.notes)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_who_chooses_no_option_disagrees_with_who_does(tmp_path: Path, suffix: str) -> None:
    """Left out, four people who chose nothing would leave the label to the fifth, with confidence 1."""
    chosen: dict[str, list[list[str] | None]] = {
        "i0": [[], [], [], [], ["law"]],
        "i1": [["law"], ["law"], ["law", "people"], None, []],
    }
    rows = [(item, f"w{place}", value) for item, values in chosen.items() for place, value in enumerate(values)]
    path = tmp_path / f"chosen{suffix}"
    if suffix == ".csv":
        cells = [(item, worker, "" if value is None else json.dumps(value)) for item, worker, value in rows]
        lines = [f'{item},{worker},"{cell.replace(chr(34), chr(34) * 2)}"' for item, worker, cell in cells]
        path.write_text("task,worker,label\n" + "\n".join(lines) + "\n", "utf-8")
    else:
        objects = [{"task": item, "worker": worker, "label": value} for item, worker, value in rows]
        path.write_text("\n".join(map(json.dumps, objects)) + "\n", "utf-8")
    score = chorale.alpha(path, sep="json", distance="masi", items=True, ci=False)
    assert score.json["n_judgments"] == 9 and any("1 row left out" in note for note in score.notes)
    assert {row["item"]: row["disagreement"] for row in score.json["items"]} == pytest.approx(
        # Pairs of people: 4 of 10 have nothing in common; 3 of 6, and 2 of 6 share one of two options.
        {"i0": 0.4, "i1": (3 + 2 * 2 / 3) / 6}
    )
    done = CliRunner().invoke(app, ["aggregate", str(path), "--sep", "json", "--method", "majority", "--json"])
    probabilities = json.loads(done.stdout)["probabilities"]
    assert probabilities["i0"] == {"law": 0.2, "nothing marked": 0.8, "people": 0.0}, done.output
    # A value that means no label leaves an empty list, which is no answer.
    without = chorale.alpha(path, sep="json", distance="masi", missing=("law",), ci=False)
    assert without.json["n_judgments"] == 6


def test_a_worker_s_gold_and_agreement_are_those_of_each_field(study: Study) -> None:
    ada = look(study, lambda tx: find_by_identity(tx, "prolific", "ada"))
    cy = look(study, lambda tx: find_by_identity(tx, "prolific", "cy"))
    assert ada is not None and cy is not None
    (of_ada,) = look(study, lambda tx: worker_record(tx, study, ada)).standings
    (of_cy,) = look(study, lambda tx: worker_record(tx, study, cy)).standings
    assert of_ada.fields == [("tone", 1.0, 4), ("words", 1.0, 4)] and of_cy.fields[0] == ("tone", 0.75, 4)
    assert list(of_ada.gold_fields) in ([], ["tone"])
    assert all(right == answered for right, answered in of_ada.gold_fields.values())


def test_making_gold_needs_a_stage_with_gold(tmp_path: Path) -> None:
    write_form_study(tmp_path, OPTIONS, rows=json.dumps({"id": "i0", "text": "Hello."}) + "\n")
    open_study(tmp_path).close()
    refused = CliRunner().invoke(app, ["gold", str(tmp_path), "--promote-unanimous"])
    assert refused.exit_code == 2
    assert "No stage has a [stage.gold] table in study.toml (stages: only)." in " ".join(refused.stderr.split())


def test_no_choice_is_not_a_missing_answer_in_a_batch_file(tmp_path: Path) -> None:
    topics = field_toml(name="topics", kind="choices", ask="Which?", options=["law", "people"], min=0)
    words = field_toml(name="words", kind="spans", ask="Where?", item="text", min=0)
    later = field_toml(name="why", kind="choices", ask="Why?", options=["a", "b"], min=0, required=False)
    write_form_study(tmp_path / "study", topics + words + later, extra="judgments = 3")
    study = open_study(tmp_path / "study")
    answers: tuple[dict[str, list[str]], ...] = (
        {"topics": [], "words": [], "why": []},
        {"topics": ["law", "people"], "words": []},
    )
    for number, answer in enumerate(answers):
        (person := Person(study, f"p{number}")).submit(person.next("only"), answer)
    write_export(study, "mturk", tmp_path / "batch.csv")
    rows = read_table(tmp_path / "batch.csv")
    columns = ("topics", "topics.law", "topics.people", "words", "why", "why.a", "why.b")
    assert [tuple(row[f"Answer.{name}"] for name in columns) for row in rows] == [
        ("", "false", "false", "[]", "", "false", "false"),
        ("law|people", "true", "true", "[]", "", "", ""),
    ]
    study.close()


def test_a_distance_without_a_name_of_its_own_is_one_between_answers(tmp_path: Path) -> None:
    """Before, reports had the words “distance between other”."""
    options = field_toml(name="happiest", kind="best_worst", ask="Which is happiest?", item="words")
    row = {"id": "i1", "words": [{"id": name, "text": name} for name in "abc"]}
    write_form_study(tmp_path, options, rows=json.dumps(row) + "\n")
    with closing(open_study(tmp_path)) as opened:
        assert [question.measured for question in questions_of(opened.stage("only"))] == ["distance between answers"]


JUDGMENTS = {
    "crowdkit": "crowdkit.csv",
    "csv": "responses.csv",
    "jsonl": "responses.jsonl",
    "parquet": "responses.parquet",
    "form-answers": "form-answers.csv",
    "mturk": "batch_results.csv",
}


@pytest.mark.parametrize("name", JUDGMENTS)
def test_an_exported_file_alone_says_which_fields_are_free_text(study: Study, tmp_path: Path, name: str) -> None:
    """Before, short texts that repeat had an alpha without a warning."""
    path = tmp_path / JUDGMENTS[name]
    write_export(study, name, path)
    refused = CliRunner().invoke(app, ["agreement", str(path), "--label", "reason"])
    told = " ".join(refused.output.split())
    assert refused.exit_code == 2 and "The values of 'reason'" in told and "are free text" in told
    asked_for = CliRunner().invoke(app, ["agreement", str(path), "--label", "reason", "--free-text"])
    assert asked_for.exit_code == 0 and "are free text, compared as they are written" in asked_for.output
    assert CliRunner().invoke(app, ["agreement", str(path), "--label", "tone"]).exit_code == 0
    refused = CliRunner().invoke(app, ["aggregate", str(path), "--label", "reason", "--method", "majority"])
    assert refused.exit_code == 2 and "are free text. Use a method for texts (rover" in refused.output


def test_files_of_older_versions_and_dataframes_are_read_as_well(study: Study, tmp_path: Path) -> None:
    write_export(study, "crowdkit", tmp_path / "crowdkit.csv")
    frame = pl.read_csv(tmp_path / "crowdkit.csv")
    assert set(frame[FREE_TEXT]) == {"reason"}
    assert any("free text" in note for note in chorale.alpha(frame, label="reason", ci=False).notes)
    assert not chorale.alpha(frame, label="tone", ci=False).notes
    frame.drop(FREE_TEXT).write_csv(tmp_path / "older.csv")
    assert not chorale.alpha(tmp_path / "older.csv", label="reason", ci=False).notes


def test_values_of_several_fields_are_never_mixed(study: Study, tmp_path: Path) -> None:
    """Before, naming both columns compared every worker's last value, whatever its field."""
    path = tmp_path / "tidy.csv"
    write_export(study, "tidy", path)
    command = ["--task", "item", "--label", "value"]
    refused = CliRunner().invoke(app, ["agreement", str(path), *command])
    told = " ".join(refused.output.split())
    assert refused.exit_code == 2 and "has values of several fields (found 'reason', 'tone', 'words')" in told
    tidy = pl.read_csv(path)
    tidy.filter(pl.col("field") == "tone").write_csv(path)
    assert CliRunner().invoke(app, ["agreement", str(path), *command]).exit_code == 0
    tidy.filter(pl.col("field") == "reason").write_csv(path)
    assert "are free text" in CliRunner().invoke(app, ["agreement", str(path), *command]).output
