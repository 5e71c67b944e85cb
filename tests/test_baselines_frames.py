"""Systems that name frames: the crowd's top frame, WordNet's senses, the trained classifier; and their commands."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from chorale.cli import app
from chorale.kits.frames.baselines import (
    choose_sense,
    frames_by_sense,
    scores_of,
    top_crowd_frames,
    write_predictions,
)
from chorale.kits.frames.baselines.fulltext import (
    DEV_DOCUMENTS,
    TEST_DOCUMENTS,
    most_frequent_frames,
    part_of,
    sentences_of,
    tokens_of,
)
from chorale.kits.frames.baselines.lexicon import Lexicon, pieces_of
from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.scores import FrameScores, read_frame_scores
from chorale.kits.frames.files.sense_map import read_frame_map
from chorale.kits.frames.files.words import FrameWord, read_frame_words
from chorale.kits.frames.framenet import FrameNet, read_framenet
from chorale.kits.frames.metrics.agreement import frame_agreement
from chorale.model import UserError
from chorale.text.wordnet import WordNet, read_wordnet
from tiny_framenet import SENTENCES, write_framenet, write_map, write_wordnet

CROWD = (
    ("s1", "Ann ran to the river .", "ran", {"self_motion": 0.9, "operating": 0.1, "none": 0.0}),
    ("s2", "Bob ran the bakery .", "ran", {"self_motion": 0.2, "operating": 0.8, "none": 0.1}),
    ("s3", "Gave she nothing ?", "gave", {"giving": 0.7, "operating": 0.1}),
    ("s4", "They whistled .", "whistled", {"statement": 0.4, "giving": 0.3}),
)


def write_crowd(path: Path, crowd: Sequence[tuple[str, str, str, dict[str, float]]] = CROWD) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["frame", "fss_sent_centric", "sent_id", "sentence", "word"])
        for name, text, word, frames in crowd:
            writer.writerows([frame, score, name, text, word] for frame, score in frames.items())
    return path


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resources")
    write_framenet(folder / "framenet")
    write_wordnet(folder / "wordnet")
    write_map(folder / "map.csv")
    write_crowd(folder / "crowd.csv")
    return folder


@pytest.fixture(scope="module")
def framenet(resources: Path) -> FrameNet:
    return read_framenet(resources / "framenet")


@pytest.fixture(scope="module")
def wordnet(resources: Path) -> WordNet:
    return read_wordnet(resources / "wordnet")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


# The words


def test_words_are_found_in_their_sentences_whatever_their_case(resources: Path) -> None:
    words = read_frame_words([resources / "crowd.csv"])
    assert [one.id for one in words] == ["s1", "s2", "s3", "s4"]
    assert words[2].text[slice(*words[2].span)] == "Gave"
    assert FrameWord("x", "He overran it and ran on", "ran").span == (18, 21)


def test_a_word_that_is_not_in_its_sentence_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_crowd(tmp_path / "bad.csv", [*CROWD, ("s5", "Ann slept .", "ran", {"giving": 1.0})])
    with pytest.raises(UserError) as caught:
        read_frame_words([path])
    (problem,) = caught.value.problems
    assert (problem.line, problem.message) == (12, "has a word that is not in its sentence")
    other = write_crowd(tmp_path / "other.csv", [("s1", "Another text .", "text", {"giving": 1.0})])
    with pytest.raises(UserError, match="has a different sentence"):
        read_frame_words([resources_crowd(tmp_path), other])
    bare = tmp_path / "bare.csv"
    bare.write_text("frame,score,sent_id\ngiving,1,s1\n", "utf-8")
    with pytest.raises(UserError, match="Fill in the columns sent_id, sentence and word"):
        read_frame_words([bare])


def resources_crowd(folder: Path) -> Path:
    return write_crowd(folder / "crowd.csv")


# TC and FS


def test_the_top_crowd_frame_is_what_the_metrics_take_for_it(resources: Path, tmp_path: Path) -> None:
    crowd = read_frame_scores([resources / "crowd.csv"], need_scores=True)
    top = top_crowd_frames(crowd)
    assert [dict(one.frames) for one in top] == [
        {"self_motion": 1.0},
        {"operating": 1.0},
        {"giving": 1.0},
        {"statement": 1.0},
    ]
    ours, theirs = frame_agreement(crowd, scores_of(top)), frame_agreement(crowd, crowd, top=True)
    assert ours.cosine.tolist() == theirs.cosine.tolist()
    for name in ("top.csv", "top.tsv", "top.jsonl"):
        write_predictions(top, tmp_path / name)
        assert frame_agreement(crowd, read_frame_scores([tmp_path / name])).tau.tolist() == theirs.tau.tolist()


def test_senses_are_chosen_by_frequency_or_by_glosses(wordnet: WordNet) -> None:
    moving, running = (FrameWord("s", text, "ran") for text in ("Ann ran to the river .", "Bob ran the bakery ."))
    assert choose_sense(running, wordnet, "first") == "00000100-v"
    assert choose_sense(running, wordnet, "lesk") == "00000200-v"
    assert choose_sense(moving, wordnet, "lesk") == "00000100-v"
    assert choose_sense(FrameWord("s", "They whistled .", "whistled"), wordnet, "first") is None


def test_frames_of_the_chosen_sense_are_named(resources: Path, framenet: FrameNet, wordnet: WordNet) -> None:
    mapped = read_frame_map([resources / "map.csv"], framenet, wordnet)
    candidates = CandidateFrames(framenet, wordnet, mapped.frames, "map")
    found = frames_by_sense(read_frame_words([resources / "crowd.csv"]), candidates, "lesk")
    assert [sorted(one.frames) for one in found] == [["Self_motion"], ["Operating"], ["Giving"], []]
    with pytest.raises(ValueError, match="requires WordNet"):
        frames_by_sense([], CandidateFrames(framenet, reach="units"))


def test_the_commands_write_what_evaluate_reads(resources: Path, tmp_path: Path) -> None:
    crowd = resources / "crowd.csv"
    top, senses = tmp_path / "tc.csv", tmp_path / "fs.csv"
    done = run("baseline", "frames", "tc", crowd, "--out", top, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) | {"signature": ""} == {
        "system": "tc",
        "sentences": 4,
        "named": 4,
        "frames": 4,
        "out": str(top),
        "signature": "",
    }
    options = ["--framenet", resources / "framenet", "--wordnet", resources / "wordnet", "--map", resources / "map.csv"]
    done = run("baseline", "frames", "fs", crowd, *options, "--senses", "lesk", "--reach", "map", "--out", senses)
    assert done.exit_code == 0, done.output
    assert "3 frames for 3 of 4 sentences." in done.stdout
    unjudged = tmp_path / "unjudged.csv"
    unjudged.write_text("id,text,word\nn1,Eve ran a bakery .,ran\n", "utf-8")
    done = run("baseline", "frames", "fs", unjudged, *options, "--senses", "lesk", "--out", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
    assert "n1,operating,1.0" in (tmp_path / "new.csv").read_text("utf-8")
    picture = tmp_path / "curves.svg"
    scored = run("evaluate", "frames", senses, crowd, "--only", senses, "--with", top, "--curves", picture, "--json")
    assert scored.exit_code == 0, scored.output
    assert json.loads(scored.stdout)["n_sentences"] == 3
    assert "only:" in json.loads(scored.stdout)["signature"]
    drawn = picture.read_text("utf-8")
    assert drawn.count("<polyline") == 4
    assert ">fs<" in drawn
    assert ">tc<" in drawn


def test_mistakes_of_the_commands_are_told_with_a_fix(resources: Path, tmp_path: Path) -> None:
    crowd, out = resources / "crowd.csv", tmp_path / "out.csv"
    for arguments, words in (
        (("fs", crowd, "--out", out), "--framenet"),
        (("fs", crowd, "--out", out, "--framenet", resources, "--reach", "map"), "--map"),
        (("fs", crowd, "--out", out, "--framenet", tmp_path), "frameIndex.xml"),
        (("tc", tmp_path / "no.csv", "--out", out), "does not exist"),
        (("tc", crowd, "--out", tmp_path / "out.txt"), ".csv, .tsv or .jsonl"),
        (("tc", crowd, "--out", crowd), "--force"),
        (("top", crowd, "--out", out), "not one of"),
    ):
        done = run("baseline", "frames", *arguments)
        assert done.exit_code == 2, (arguments, done.output)
        assert words in done.output, (words, done.output)
        assert "Traceback" not in done.output
    assert not out.exists()
    top = tmp_path / "top.csv"
    assert run("baseline", "frames", "tc", crowd, "--out", top).exit_code == 0
    away = tmp_path / "away.csv"
    away.write_text("sent_id,frame\nelsewhere,giving\n", "utf-8")
    for option, value, words in (
        ("--with", top, "--curves"),
        ("--only", away, "has no sentence in common with the gold"),
        ("--curves", tmp_path / "curves.png", ".svg"),
    ):
        done = run("evaluate", "frames", top, crowd, option, value)
        assert done.exit_code == 2, (option, done.output)
        assert words in done.output


def test_the_classifier_needs_the_extra(resources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.model.extras.find_spec", lambda _name: None)
    for arguments in (
        ("baseline", "frames", "os", resources / "crowd.csv", "--out", tmp_path / "os.csv"),
        ("train", "frames", tmp_path / "model", "--framenet", resources / "framenet"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert "pip install 'chorale-crowd[models]'" in done.output


def test_scores_can_be_had_of_some_sentences_only() -> None:
    scores = FrameScores.from_columns(
        ["a", "a", "b", "c"], ["x", "y", "x", "y"], [1, 2, 3, 4], quality={"a": 0.1, "b": 0.2, "c": 0.3}
    )
    some = scores.only(["c", "a", "elsewhere"])
    assert some.sentences == ("a", "c")
    assert some.sentence.tolist() == [0, 0, 1]
    assert some.score.tolist() == [1, 2, 4]
    assert some.quality is not None
    assert some.quality.tolist() == [0.1, 0.3]


# What the classifier is made of, without torch


def test_texts_are_held_out_as_others_do() -> None:
    assert (len(TEST_DOCUMENTS), len(DEV_DOCUMENTS)) == (23, 8)
    assert not TEST_DOCUMENTS & DEV_DOCUMENTS
    assert [part_of(name) for name in ("KBEval__atm", "KBEval__MIT", "NTI__Kazakhstan")] == ["test", "dev", "train"]


def test_annotated_texts_become_tokens_and_targets(framenet: FrameNet) -> None:
    parts = sentences_of(framenet)
    assert sum(map(len, parts.values())) == len(SENTENCES)
    assert {part: len(some) > 5 for part, some in parts.items()} == {"train": True, "dev": True, "test": True}
    for sentence in parts["train"]:
        (target,) = sentence.targets
        assert [sentence.tokens[place] for place in target.tokens] in (["ran"], ["gave"], ["wrote"])
    assert most_frequent_frames(parts["train"], framenet.lexical_units)["give.v"] == "Giving"
    assert tokens_of("He didn't go.")[0] == ("He", "didn", "'", "t", "go", ".")


def test_a_batch_has_every_target_with_its_candidates(framenet: FrameNet) -> None:
    some = sentences_of(framenet)["train"][:7]
    lexicon = Lexicon.of(some, framenet.lexical_units, at_least=1)
    batch = lexicon.batch(some)
    assert batch.words.shape == (7, max(len(one.tokens) for one in some))
    assert batch.token_share.tolist() == [1.0] * 7
    for row, one in enumerate(some):
        names = lexicon.candidates(one.targets[0].unit)
        assert batch.real[row].sum() == len(names)
        assert names[batch.right[row]] == one.targets[0].frame
    assert pieces_of("ran") == pieces_of("ran")
    assert max(pieces_of("a" * 10_000)) < 2**13


# The classifier


@pytest.fixture(scope="module")
def trained(resources: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    folder = tmp_path_factory.mktemp("models") / "first"
    options = ["--framenet", resources / "framenet", "--epochs", 30, "--seed", 3, "--json"]
    done = run("train", "frames", folder, *options)
    assert done.exit_code == 0, done.output
    return folder, json.loads(done.stdout)


@pytest.mark.slow
def test_the_classifier_learns_what_the_rest_of_a_sentence_tells(trained: tuple[Path, dict[str, Any]]) -> None:
    _, told = trained
    held_out = told["held_out"]["test"]
    assert held_out["targets"] > 5
    assert held_out["ambiguous_accuracy"] > held_out["ambiguous_most_frequent"]
    assert held_out["accuracy"] > 0.85
    assert told["seed"] == 3
    assert "seed:3" in told["signature"]


@pytest.mark.slow
def test_a_saved_classifier_comes_back_as_it_was_and_training_can_be_done_again(
    trained: tuple[Path, dict[str, Any]], resources: Path, tmp_path: Path, framenet: FrameNet
) -> None:
    from chorale.kits.frames.baselines.saved import load_classifier, save_classifier  # noqa: PLC0415 - needs torch
    from chorale.kits.frames.baselines.training import FrameTraining, train_frames  # noqa: PLC0415

    folder, told = trained
    classifier = load_classifier(folder)
    assert classifier.signature == told["signature"]
    assert classifier.training["held_out"] == told["held_out"]
    save_classifier(classifier, tmp_path / "again")
    for name in ("model.safetensors", "model.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    repeated = train_frames(framenet, FrameTraining(epochs=30, seed=3))
    sentences = sentences_of(framenet)["test"]
    for first, second in zip(repeated.scores(sentences), classifier.scores(sentences), strict=True):
        assert np.array_equal(first, second)
    words = read_frame_words([resources / "crowd.csv"])
    one, several = classifier.predict(words, "one"), classifier.predict(words, "several")
    assert [dict(found.frames) for found in one] == [
        {"Self_motion": 1.0},
        {"Operating": 1.0},
        {"Giving": 1.0},
        {},
    ]
    assert set(several[0].frames) == {"Operating", "Self_motion"}
    assert all(0 <= score <= 1 for found in several for score in found.frames.values())


@pytest.mark.slow
def test_a_training_that_was_interrupted_continues_to_the_same_weights(
    trained: tuple[Path, dict[str, Any]], resources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chorale.files import training_progress  # noqa: PLC0415 - needs torch
    from chorale.kits.frames.baselines import training  # noqa: PLC0415 - needs torch

    folder, _ = trained
    options = ("--framenet", resources / "framenet", "--epochs", 30, "--seed", 3)
    once, calls = training_progress.save_progress, []

    def stopped(*arguments: Any) -> None:
        once(*arguments)
        calls.append(arguments)
        if len(calls) == 7:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(training, "save_progress", stopped)
        assert run("train", "frames", tmp_path / "again", *options).exit_code != 0
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["training.safetensors"]
    assert run("train", "frames", tmp_path / "again", *options).exit_code == 0
    for name in ("README.md", "model.json", "model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.slow
def test_commands_use_the_saved_classifier_and_refuse_spoiled_ones(
    trained: tuple[Path, dict[str, Any]], resources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = trained
    crowd = resources / "crowd.csv"
    for system in ("os", "os+"):
        done = run("baseline", "frames", system, crowd, "--model", folder, "--out", tmp_path / f"{system}.csv")
        assert done.exit_code == 0, done.output
        assert "3 of 4 sentences" in done.stdout
    scored = run("evaluate", "frames", tmp_path / "os+.csv", crowd, "--against", tmp_path / "os.csv", "--json")
    assert scored.exit_code == 0, scored.output

    def refused(name: str, content: bytes) -> str:
        spoiled = tmp_path / "spoiled"
        spoiled.mkdir(exist_ok=True)
        for each in ("model.safetensors", "model.json"):
            (spoiled / each).write_bytes((folder / each).read_bytes())
        (spoiled / name).write_bytes(content)
        found = run("baseline", "frames", "os", crowd, "--model", spoiled, "--out", tmp_path / "never.csv")
        assert found.exit_code == 2, found.output
        assert "Traceback" not in found.output
        return found.output

    about = json.loads((folder / "model.json").read_text("utf-8"))
    assert "is not the file that model.json describes" in refused("model.safetensors", b"not weights")
    assert "is not JSON" in refused("model.json", b"{")
    assert "does not describe a frame classifier" in refused("model.json", b"[]")
    assert "another version" in refused("model.json", json.dumps({**about, "version": 9}).encode())
    assert "does not fit" in refused("model.json", json.dumps({**about, "frames": about["frames"][:2]}).encode())
    wide = {**about, "shape": {**about["shape"], "hidden": 10**9}}
    assert "hidden" in refused("model.json", json.dumps(wide).encode())
    wide["shape"]["hidden"] = 4096
    with monkeypatch.context() as patched:
        # Refused before memory is taken for it.
        patched.setattr("torch.nn.Module.load_state_dict", lambda *_: pytest.fail("a network was made"))
        assert "has the shape" in refused("model.json", json.dumps(wide).encode())
    again = run("train", "frames", folder, "--framenet", resources / "framenet")
    assert again.exit_code == 2
    assert "--force" in again.output
    poor = write_framenet(tmp_path / "poor", [one for one in SENTENCES if one[2] == "give.v"])
    nothing = run("train", "frames", tmp_path / "untrained", "--framenet", poor)
    assert nothing.exit_code == 2
    assert "no training data" in nothing.output
    assert not (tmp_path / "untrained").exists()
    missing = run("baseline", "frames", "os", crowd, "--out", tmp_path / "never.csv")
    assert "chorale train frames" in missing.output
