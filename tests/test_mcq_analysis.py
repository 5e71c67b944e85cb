"""What `chorale evaluate mcq` says beyond scores, and `chorale prepare mcq`: texts, files, costs, pictures."""

import json
import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.cli import app
from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.files.study_exports import PaidAmount, Worked
from chorale.kits.questions.files.texts import SourceText
from chorale.kits.questions.metrics import alpha_over_draws
from chorale.kits.questions.metrics.artifacts import (
    by_place,
    first_less_second,
    measure_explanations,
    measure_written,
    option_lengths,
    repeated_questions,
)
from chorale.kits.questions.metrics.costs import costs_by_arm
from chorale.kits.questions.metrics.difficulty import difficulties
from chorale.kits.questions.metrics.measures import measure_mcq
from chorale.kits.questions.metrics.wording import (
    NEARLY_THE_SAME,
    alike_places,
    is_generic,
    overlap,
    wh_word,
)
from chorale.kits.questions.preparing import cut, prepare_passages
from chorale.kits.questions.scoring.measured import McqOptions, NamedQuestions
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics.resampling import Resampling
from chorale.present.svg import Bar, bar_chart, standalone
from chorale.text.alike import alike_pairs, words_of

PASSAGES = (
    "The ferry waited because the captain saw her running down the hill.",
    "The baker gave every customer a free roll, and sold out before noon.",
)


def record(number: int, **change: Any) -> dict[str, Any]:
    right = 1 + number % 4
    options = ["Somebody was late", "It broke down", "There was dense fog", "Nobody had paid yet"]
    options[right - 1] = "A person was hurrying toward the boat"
    return {
        "question_id": f"q{number:02d}",
        "question": ("Why did it not leave?", "What is true?", "Who was running down the hill?")[number % 3],
        "document": PASSAGES[number % 2],
        "options": options,
        "gold_answer": f"option{right}",
        "justification": None,
        "worker_id": f"w{number % 5}",
        "passage_id": f"p{number // 2}",
        "passage_index": 1 + number % 2,
        "validation_data": [{"worker_answer": f"option{right}"}] * (10 if number % 2 else 2),
        "model_predictions": [[right - 1 if number % 2 else right % 4, "bert"]],
        "protocol": "baseline",
        **change,
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(records), "utf-8")
    return path


def read(tmp_path: Path, records: list[dict[str, Any]]) -> McqQuestions:
    return read_mcq(write(tmp_path / "questions.json", records))[0]


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


# Words


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), max_size=12), st.sampled_from([0.3, 0.5, 0.8]))
def test_alike_pairs_are_all_there_are(sets: list[frozenset[str]], threshold: float) -> None:
    wanted = [
        (left, right)
        for right in range(len(sets))
        for left in range(right)
        if sets[left] and sets[right] and len(sets[left] & sets[right]) / len(sets[left] | sets[right]) >= threshold
    ]
    assert sorted((left, right) for left, right, _ in alike_pairs(sets, threshold)) == sorted(wanted)


@pytest.mark.parametrize(
    ("question", "word", "generic"),
    [
        ("Which of the following statements is NOT mentioned in the passage?", "which", True),
        ("What is the main idea of the text?", "what", True),
        ("To whom did the captain wave?", "who", False),
        ("The ferry was late because", "other", False),
        ("", "other", True),
    ],
)
def test_questions_have_a_kind(question: str, word: str, generic: bool) -> None:
    assert (wh_word(question), is_generic(question)) == (word, generic)


def test_overlap_is_of_content_words() -> None:
    assert overlap("The captain of the ship", "The CAPTAIN waved.") == 0.5
    assert overlap("of the", "of the") is None
    assert words_of("It’s “late”, isn't it?") == ["it's", "late", "isn't", "it"]


def test_explanations_are_compared_within_and_across_writers(tmp_path: Path) -> None:
    empty = "One needs to read the passage carefully to answer."
    said = [
        record(0, justification=empty, worker_id="a"),
        record(1, justification=empty + " Really.", worker_id="a"),
        record(2, justification=empty, worker_id="b"),
        record(3, justification="The captain saw her, and running means that she was late.", worker_id="b"),
        record(4),
    ]
    questions = read(tmp_path, said)
    found = measure_explanations(questions)
    assert found is not None
    statistics, metric = found
    scores = metric.scores(statistics)
    assert len(statistics.items) == 4
    assert (scores["alike"], scores["alike_by_worker"], scores["trivial"]) == (0.75, 0.5, 0.75)
    assert repeated_questions(questions.texts) == 0
    assert measure_explanations(read(tmp_path, [record(0)])) is None
    shares = written_section([NamedQuestions("f", questions, "")], McqOptions(), Resampling(ci=True, resamples=200))
    told = shares.json["files"]["f"]["explanations"]
    assert told["ci"]["alike"][0] < 0.75 < told["ci"]["alike"][1] and told["ci"].keys() < told.keys()


def test_first_and_second_questions_are_compared_with_an_interval(tmp_path: Path) -> None:
    # The model knows all first questions, and every other second one.
    right = [
        record(
            number, model_predictions=[[number % 4 if number % 2 == 0 or number % 4 == 1 else (number + 1) % 4, "m"]]
        )
        for number in range(40)
    ]
    questions = read(tmp_path, right)
    found = first_less_second(questions, measure_mcq(questions), Resampling(resamples=200))["m"]
    assert (found.first, found.second) == (1, 0.5)
    assert 0 < found.interval.low < found.difference < found.interval.high
    assert found.p_bootstrap < 0.05
    assert first_less_second(read(tmp_path, right[:1]), measure_mcq(read(tmp_path, right[:1])), Resampling()) == {}


def test_what_was_written_is_measured(tmp_path: Path) -> None:
    questions = read(tmp_path, [record(number) for number in range(12)])
    statistics, metric = measure_written(questions)
    scores = metric.scores(statistics)
    assert scores["words of a correct option"] == 7
    assert scores["generic questions"] == pytest.approx(4 / 12)
    assert scores["asked by who"] == pytest.approx(4 / 12)
    right, wrong = option_lengths(questions)
    assert right[7] == 1 and wrong.sum() == pytest.approx(1)
    assert by_place(questions, measure_mcq(questions)) == {"bert": {1: 0.0, 2: 1.0}}
    bare = read(tmp_path, [{"question_id": "a", "options": ["x", "y z"], "gold_answer": "option1"}])
    assert set(measure_written(bare)[1].scores(measure_written(bare)[0])) == {
        "words of an option",
        "words of a correct option",
        "words of a wrong option",
    }


# Draws and difficulty


def test_alpha_over_draws_is_that_of_what_is_kept(tmp_path: Path) -> None:
    sure = [record(number) for number in range(8)]
    found = alpha_over_draws(read(tmp_path, sure), draws=50)
    assert found["all"].value == found["all"].interval.low == 1
    torn = record(9, validation_data=[{"worker_answer": f"option{1 + vote % 3}"} for vote in range(10)])
    drawn = alpha_over_draws(read(tmp_path, [*sure, torn]), draws=500)["resampled"]
    # Now and then no majority is drawn, and the question that nobody agrees on does not count.
    assert drawn.interval.low < drawn.value < drawn.interval.high == 1


def test_questions_that_fewer_models_solve_are_harder(tmp_path: Path) -> None:
    rng = random.Random(1)
    records = []
    for number in range(30):
        one = record(number)
        right = int(one["gold_answer"][-1]) - 1
        chance = 0.95 if number < 15 else 0.35
        one["model_predictions"] = [
            [right if rng.random() < chance else (right + 1) % 4, f"m{model:02d}"] for model in range(24)
        ]
        records.append(one)
    easy, hard = read(tmp_path, records[:15]), read(tmp_path, records[15:])
    found = difficulties({"easy": easy, "hard": hard})
    assert found is not None
    groups = found.by_group()
    assert np.median(groups["hard"]) > np.median(groups["easy"])
    assert difficulties({"none": read(tmp_path, [record(0, model_predictions=[])])}) is None


# Files of their own


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return write(tmp_path / "arm.json", [record(number) for number in range(12)])


def test_validations_and_predictions_may_come_in_files_of_their_own(arm: Path, tmp_path: Path) -> None:
    votes, guesses = tmp_path / "votes.csv", tmp_path / "guesses.jsonl"
    rows = [f"q00,v{number},{'invalid' if number else 'option1'}" for number in range(8)]
    votes.write_text("question_id,worker_id,answer\n" + "\n".join(rows) + "\n")
    guesses.write_text(json.dumps({"question_id": "q01", "model": "t5", "answer": "option2"}) + "\n")
    command = ("evaluate", "mcq", arm, "--validations", votes, "--predictions", guesses, "--json", "--resamples", 100)
    found = json.loads(chorale(*command).stdout)
    assert found["files"]["arm"]["models"]["t5"]["all"]["accuracy"] == 1
    assert 0 < found["files"]["arm"]["discarded"] <= 1
    assert "validations:" in found["signature"] and "predictions:" in found["signature"]


def test_arms_of_one_file_are_taken_by_themselves(tmp_path: Path) -> None:
    both = [record(number, protocol="crowd" if number % 4 < 2 else "baseline") for number in range(16)]
    file = write(tmp_path / "mcq.json", both)
    command = ("evaluate", "mcq", file, "--by-arm", "--json", "--resamples", 100)
    found = json.loads(chorale(*command).stdout)
    assert {name: one["questions"] for name, one in found["files"].items()} == {"baseline": 8, "crowd": 8}
    compared = json.loads(chorale(*command, "--against", "baseline").stdout)
    # The arm that the other is compared with is in the first table too.
    assert compared["files"] == found["files"] and compared["against"]["file"] == "baseline"
    assert set(compared["against"]["files"]) == {"crowd"} and compared["against"]["scores"]
    shown = chorale(*command[:4], "--against", "baseline", "--resamples", 100).stdout
    assert re.search(r"^questions +measure +baseline +crowd", shown, re.MULTILINE)
    alone = write(tmp_path / "alone.json", [record(number, protocol="crowd") for number in range(8)])
    refused = chorale("evaluate", "mcq", alone, "--by-arm", "--against", "crowd", code=2).output
    assert "--against crowd: this is the only arm" in refused
    assert "Arms: baseline, crowd" in chorale(*command, "--against", "expert", code=2).output
    bare = write(tmp_path / "bare.json", [record(0, protocol=None)])
    assert "Set `protocol` to the arm" in chorale("evaluate", "mcq", bare, "--by-arm", code=2).output


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["q99,w1,option1"], ":2: refers to a question that is not in any of the files (found 'q99')"),
        (["q01,w1,option1", "q01,w1,option2"], ":3: repeats an answer: w1 already answered in line 2"),
        (["q01,w1,option7"], ":2: has an answer that is not one of the options (found 'option7')"),
        (["q01,,option1"], ":2: has no worker_id"),
        ([], "has no answers"),
    ],
)
def test_validations_that_can_not_be_are_told_with_line_and_fix(
    arm: Path, tmp_path: Path, rows: list[str], told: str
) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("question_id,worker_id,answer\n" + "".join(f"{row}\n" for row in rows))
    output = chorale("evaluate", "mcq", arm, "--validations", votes, code=2).output
    assert told in " ".join(output.split())


def test_who_has_answered_in_the_file_of_questions_does_not_answer_again_beside_it(tmp_path: Path) -> None:
    one = record(0, validation_data=[{"worker_answer": "option1", "worker_id": "v1"}], model_predictions=[[0, "m"]])
    file = write(tmp_path / "arm.json", [one])
    answers = tmp_path / "answers.csv"
    for option, column, who in (("--validations", "worker_id", "v1"), ("--predictions", "model", "m")):
        answers.write_text(f"question_id,{column},answer\nq00,{who},option2\n")
        told = " ".join(chorale("evaluate", "mcq", file, option, answers, code=2).output.split())
        assert f"answers.csv:2: repeats an answer: {who} already answered in the file of questions" in told


def test_everything_at_once_with_pictures(arm: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", [record(number, justification="So.") for number in range(12)])
    folder = tmp_path / "pictures"
    command = ("evaluate", "mcq", arm, other, "--irt", "--pictures", folder, "--ci", "--resamples", 100)
    output = chorale(*command).output
    assert "Written questions: difference from arm" in output
    assert "Explanations (fractions)" in output
    assert "Difficulties are based on only 1 model" in output
    names = {path.name for path in folder.iterdir()}
    assert names == {"answer-lengths.svg", "question-words.svg", "human-model-gap.svg", "difficulty.svg"}
    for path in folder.iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    found = json.loads(chorale(*command, "--json").stdout)
    assert found["written"]["files"]["other"]["explanations"]["trivial"] == 1
    assert set(found["irt"]["questions"]) >= {"q00"}


def test_models_that_beat_people_are_in_the_picture_too() -> None:
    bars = [Bar("behind", 0.1, 0.05, 0.2), Bar("ahead", -0.1, -0.15, 0.0)]
    drawn = ElementTree.fromstring(standalone(bar_chart("Gap", bars, lambda value: f"{value:.1f}")))
    behind, ahead = (one for one in drawn.iter() if one.tag.endswith("rect") and one.get("stroke"))
    zero = float(behind.get("x", "0"))
    assert float(ahead.get("x", "0")) + float(ahead.get("width", "0")) == pytest.approx(zero, abs=0.2)
    assert 0 < float(ahead.get("width", "0")) == pytest.approx(float(behind.get("width", "0")), abs=0.2)
    assert "-0.1" in "".join(drawn.itertext())


def test_partial_inputs_are_learnt_by_the_light_model(tmp_path: Path) -> None:
    first, second = (
        write(
            tmp_path / f"{name}.json",
            [record(number, document=f"{name} {number // 2}. {PASSAGES[0]}") for number in range(40)],
        )
        for name in ("first", "second")
    )
    command = (
        "evaluate",
        "mcq",
        first,
        second,
        "--partial-inputs",
        "light",
        "--folds",
        2,
        "--json",
        "--resamples",
        100,
    )
    found = json.loads(chorale(*command).stdout)["partial_inputs"]
    # The right option is always the same text.
    assert found["files"]["first"]["a"]["accuracy"] > 0.9
    assert found["files"]["first"]["a"]["guessing"] == 0.25
    assert found["transfer"]["first"]["second"] > 0.9
    few = write(tmp_path / "few.json", [record(0), record(1)])
    refused = chorale("evaluate", "mcq", few, "--partial-inputs", "light", code=2).output
    assert "makes 5 folds" in refused and "Use --folds 2, or a file" in refused
    same_passage = write(tmp_path / "same-passage.json", [record(0), record(2)])
    # Two folds of a single passage cannot be made either.
    assert "--folds" not in chorale("evaluate", "mcq", same_passage, "--partial-inputs", "light", code=2).output


# Costs


def worked(number: int, stage: str, task: str, worker: str, **more: Any) -> Worked:
    base = {"arm": "expert", "item": "i", "questions": 0, "seconds": 60.0}
    return Worked(response=str(number), stage=stage, task=task, worker=worker, **{**base, **more})


def test_costs_are_with_and_without_training_and_experts() -> None:
    work = [
        worked(1, "round-1", "mcq-write", "a", questions=2),
        worked(2, "round-1-grades", "mcq-grade", "e", arm=None, item="p1/1", seconds=1800.0),
        worked(3, "final", "mcq-write", "a", questions=2),
        worked(4, "validation", "mcq-validate", "b", arm="baseline", item="p2/3"),
        worked(5, "first", "mcq-write", "b", arm="baseline", questions=2),
        worked(6, "validation", "mcq-validate", "a", item="p3/5"),
    ]
    paid = [
        PaidAmount("a", "round-1", "base", 350),
        PaidAmount("a", "round-1", "bonus", 500),
        PaidAmount("a", "final", "base", 350),
        PaidAmount("a", "final", "fee", 70),
        PaidAmount("a", "validation", "base", 75),
        PaidAmount("b", "first", "base", 350),
        PaidAmount("b", "validation", "base", 75),
        PaidAmount("e", "round-1-grades", "base", 0),
    ]
    costs = costs_by_arm(work, paid)
    assert costs["baseline"].per_question() == 175
    expert = costs["expert"]
    assert (expert.questions, expert.writers, expert.writing, expert.training) == (2, 1, 350, 850)
    assert expert.per_question(training=False) == 175
    assert expert.per_question() == 600
    assert expert.per_question(hourly=4000) == 600 + 1000
    assert costs_by_arm([], []) == {}


def test_costs_from_files_that_are_none_are_refused(arm: Path, tmp_path: Path) -> None:
    responses, ledger = tmp_path / "responses.jsonl", tmp_path / "ledger.csv"
    responses.write_text(json.dumps({"response": 1, "stage": "s"}) + "\n")
    ledger.write_text("worker,stage,kind,amount\nw,s,base,many\n")
    command = ("evaluate", "mcq", arm, "--responses", responses, "--ledger", ledger)
    assert "responses.jsonl:1: has no task" in chorale(*command, code=2).output
    grades = tmp_path / "grades.csv"
    grades.write_text("task,worker,label,criterion\nq/1,w,often,creative\n")
    output = chorale("evaluate", "mcq", arm, "--grades", grades, code=2).output
    assert "grades.csv:2: has a label that is not a whole number (found 'often')" in " ".join(output.split())


# Passages


def sentences(words: int, seed: int) -> str:
    rng = random.Random(seed)
    vocabulary = [f"word{number}" for number in range(400)]
    return " ".join(
        (" ".join(rng.choice(vocabulary) for _ in range(10)) + ".").capitalize() for _ in range(words // 10)
    )


@settings(max_examples=50)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 30), st.integers(0, 60), st.integers(0, 9))
def test_passages_keep_the_words_and_the_limits(lengths: list[int], fewest: int, more: int, seed: int) -> None:
    text = "\n\n".join(sentences(10 * length, seed + place) for place, length in enumerate(lengths))
    pieces = list(cut(text, fewest, fewest + more))
    assert " ".join(piece for piece, _ in pieces).split() == text.split()
    assert all(len(piece.split()) <= fewest + more for piece, _ in pieces)
    assert all(len(piece.split()) >= fewest for piece, enough in pieces if enough)


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), max_size=5), st.sampled_from("xy")), max_size=12))
def test_repetitions_are_those_that_comparing_all_texts_finds(written: list[tuple[list[str], str]]) -> None:
    texts, owners = [" ".join(words) for words, _ in written], [owner for _, owner in written]
    sets = [set(words) for words, _ in written]

    def repeated(place: int, *, by_anybody: bool) -> bool:
        return any(
            len(sets[place] & sets[other]) >= NEARLY_THE_SAME * len(sets[place] | sets[other]) > 0
            for other in range(len(sets))
            if other != place and (by_anybody or owners[other] == owners[place])
        )

    assert alike_places(texts) == [repeated(place, by_anybody=True) for place in range(len(texts))]
    assert alike_places(texts, owners) == [repeated(place, by_anybody=False) for place in range(len(texts))]


def test_passages_are_there_once() -> None:
    one, other = sentences(100, 1), sentences(100, 2)
    nearly = one.replace("word", "sword", 1)
    texts = [SourceText(str(number), text, "", "f") for number, text in enumerate([one, other, one.upper(), nearly])]
    found = prepare_passages(texts, fewest=60, most=250)
    assert [passage.id for passage in found.passages] == ["0#1", "1#1"]
    assert (found.twice, found.nearly_twice, found.too_short) == (1, 1, 0)
    assert found.left_out == {"2": "duplicate of an earlier text", "3": "near-duplicate of an earlier text"}


def test_texts_without_a_passage_are_named_with_why(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    texts = {"long": sentences(80, 6), "again": sentences(80, 6), "short": "Too few words."}
    rows.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    command = ("prepare", "mcq", rows, "--out", tmp_path / "passages.jsonl", "--force")
    said = " ".join(chorale(*command).stdout.split())
    assert "Texts without a passage: again (duplicate of an earlier text), short (fewer than 60 words)." in said
    assert json.loads(chorale(*command, "--json").stdout)["left_out"].keys() == {"again", "short"}


def test_a_passage_too_long_for_the_page_is_left_out_and_not_the_corpus(tmp_path: Path) -> None:
    names = ",".join(f"Name{number}" for number in range(4_000))
    (tmp_path / "names.txt").write_text(f"{sentences(60, 8)} {names} {sentences(60, 9)}")
    (tmp_path / "good.txt").write_text(sentences(80, 7))
    command = ("prepare", "mcq", tmp_path, "--out", tmp_path / "passages.jsonl", "--force")
    found = json.loads(chorale(*command, "--json").stdout)
    assert (found["passages"], found["too_long"], found["too_short"]) == (1, 1, 0)
    assert found["left_out"] == {"names.txt": "a passage of more than 20,000 characters"}
    assert "left out: too long 1" in " ".join(chorale(*command).stdout.split())


def test_passages_come_from_folders_by_genre_text_and_rows(tmp_path: Path) -> None:
    corpus = tmp_path / "oanc"
    for place, seed in (("written_1/journal/slate/1/a.txt", 3), ("written_2/travel_guides/b/b.txt", 4), ("x/c.txt", 5)):
        path = corpus / place
        path.parent.mkdir(parents=True)
        path.write_text(sentences(300, seed))
    (corpus / "x" / "nothing.txt").write_text("\n")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "r1", "text": sentences(80, 6), "genre": "letters"}) + "\n")
    out = tmp_path / "passages.jsonl"
    command = ("prepare", "mcq", corpus, rows, "--out", out, "--json")
    found = json.loads(chorale(*command).stdout)
    assert set(found["genres"]) == {"slate", "travel", "x", "letters"}
    assert found["left_out"] == {"x/nothing.txt": "empty"}, "one empty file does not refuse a corpus"
    made = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len({one["id"] for one in made}) == len(made) == found["passages"]
    assert all(60 <= len(one["passage"].split()) <= 250 for one in made)
    assert "Add --force" in chorale(*command, code=2).output
    drawn = json.loads(chorale(*command, "--force", "--sample", 4).stdout)
    assert drawn["genres"] == dict.fromkeys(("letters", "slate", "travel", "x"), 1)
    only = json.loads(chorale(*command, "--force", "--genre", "Travel").stdout)
    assert set(only["genres"]) == {"travel"} and (only["texts"], only["other_genres"]) == (1, 4)
    assert "left out: text of another genre" in chorale(*command[:-1], "--force", "--genre", "travel").stdout
    assert "Available genres: letters, slate" in chorale(*command, "--force", "--genre", "novels", code=2).output


def test_unreadable_files_of_a_folder_are_counted_and_named(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    unreadable = {
        "a-latin.txt": "café\n".encode("latin-1"),
        "b-excel.txt": "text".encode("utf-16"),
        "c-null.txt": b"one\0two",
    }
    for name, raw in unreadable.items():
        (corpus / name).write_bytes(raw)
    command = ("prepare", "mcq", corpus, "--out", tmp_path / "passages.jsonl", "--force")
    refused = " ".join(chorale(*command, code=2).output.split())
    assert all(name in refused for name in unreadable), "without any readable file, all are named"
    (corpus / "good.txt").write_text(sentences(80, 7))
    (corpus / "more.md").write_text(sentences(80, 8))
    found = json.loads(chorale(*command, "--json").stdout)
    assert (found["texts"], found["unreadable"], found["passages"], found["other_files"]) == (1, 3, 1, 1)
    assert found["left_out"] == {
        "a-latin.txt": "not UTF-8 text",
        "b-excel.txt": "UTF-16 text, not UTF-8",
        "c-null.txt": "contains a NUL character",
    }
    said = " ".join(chorale(*command).stdout.split())
    assert "left out: unreadable file" in said and "left out: file that is not .txt 1" in said
    assert "Texts without a passage: a-latin.txt (not UTF-8 text), b-excel.txt (UTF-16 text, not UTF-8)" in said
    command = ("prepare", "mcq", corpus / "a-latin.txt", "--out", tmp_path / "passages.jsonl", "--force")
    assert "is not UTF-8 text" in chorale(*command, code=2).output, "a file that is named itself is refused"


def test_one_command_fills_all_rounds_of_a_trial_with_texts_of_their_own(tmp_path: Path) -> None:
    rows = [{"id": f"t{n}", "text": sentences(70, n), "genre": "ab"[n % 3 == 0]} for n in range(12)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    folder = tmp_path / "passages"
    folder.mkdir()
    command = ("prepare", "mcq", tmp_path / "texts.jsonl", "--out", folder, "--json")
    parts = ("--part", "round-1=4", "--part", "round-2=4", "--part", "final=3")
    told = json.loads(chorale(*command, *parts).stdout)
    assert {name: one["passages"] for name, one in told["parts"].items()} == {"round-1": 4, "round-2": 4, "final": 3}
    made = {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in folder.iterdir()}
    ids = [one["id"] for part in made.values() for one in part]
    assert len(set(ids)) == len(ids) == told["passages"] == 11
    assert {one["genre"] for one in made["round-1"]} == {"a", "b"}
    assert json.loads(chorale(*command, *parts, "--force").stdout) == told
    assert "Add --force" in chorale(*command, *parts, code=2).output
    for wrong, why in (
        (("--part", "more=13"), "need 13 passages, but the texts have only 12"),
        (("--part", "../x=1"), "e.g. round-1=225"),
        (("--part", "x=0"), "e.g. round-1=225"),
        (("--part", "x=1", "--part", "x=2"), "repeats the name of another part"),
        (("--part", "x=1", "--sample", "3"), "both set the number"),
    ):
        assert why in " ".join(chorale(*command, *wrong, code=2).output.split()), wrong
    assert {path.stem for path in folder.iterdir()} == {"round-1", "round-2", "final"}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"id": "x", "text": ""}\n', "a.jsonl:1: has no text"),
        ("a.jsonl", '{"id": ["x"], "text": "Hi."}\n', "a.jsonl:1: has an ID or genre that is not text"),
        ("a.csv", "text\nHi\n", "is a table"),
        ("a.txt", "Too short.", "No text has a passage of 60 to 250 words"),
        ("none.txt", None, "does not exist"),
    ],
)
def test_texts_that_can_not_be_used_are_told(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    output = chorale("prepare", "mcq", tmp_path / name, "--out", tmp_path / "out.jsonl", code=2).output
    assert told in " ".join(output.split())
    assert not (tmp_path / "out.jsonl").exists()
