"""What the numbers of a study file rule out is refused; what depends on who comes is not."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from chorale.cli.check import plan_table
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from protocol_study import write_protocol_study
from random_study import Drawn, write_study
from writing_study import write_writing_study

ARMS = '[arms]\nnames = ["left", "right"]\nafter = "trained"\n'
BOTH = ('"left"', '"right"')
SECOND = '[[stage]]\nname = "more"\ntitle = "More"\ntask = "rules-meaningful"\nguidelines = "guidelines.md"\n'
SECOND += 'round = { file = "round.jsonl" }\nentry = { qualifications = ["trained"] }\n'
GROWN = "top_share = 1.0\nworkers = "


def told(folder: Path) -> list[str]:
    return [str(problem) for problem in check_folder(folder)[1]]


@pytest.mark.parametrize(
    ("changes", "most"),
    [
        # A thing has two sides, and nobody judges both.
        ({"gate": "top = 1"}, "it needs 2 different people or more, and no more than 1 can reach"),
        ({"gate": "top = 5", "judgments": "3"}, "it needs 6 different people or more, and no more than 5"),
        (
            {"gate": "top = 3", "arms": ARMS, "arms_of": BOTH, "judgments": "2"},
            "needs 4 different people or more, and no",
        ),
        ({"gate": "top = 7", "judgments": "{ min = 4, max = 9, until = 0.9 }"}, "it needs 8 different people"),
        (
            {"gate": "top = 9", "judgments": "{ min = 1, max = 1, sample = { items = 1, judgments = 10 } }"},
            "it needs 10 different people or more, and no more than 9",
        ),
        (
            {"extra": SECOND + '[[gate]]\nname = "b"\nstage = "more"\ntop = 9\nworkers = 5', "gate": "top = 4"},
            "at most 4",
        ),
        (
            {"extra": SECOND + '[[gate]]\nname = "b"\nstage = "more"\ntop_share = 1.0\nworkers = 5', "gate": "top = 4"},
            "would never close: at most 4 people can be scored there, since gate `trained` passes no more",
        ),
        # A gate that closes by itself after a round is passed by no more than it waits for.
        (
            {"gate": 'top_share = 0.5\nworkers = 2\nties = "draw"'},
            "needs 2 different people or more, and no more than 1 can reach",
        ),
        ({"gate": "top = 3\nworkers = 2", "judgments": "2"}, "it needs 4 different people or more, and no more than 2"),
        (
            {"gate": 'threshold = 0.5\ndecides = "together"\nworkers = 2', "judgments": "2"},
            "it needs 4 different people or more, and no more than 2 can reach it through `trained`",
        ),
        (
            {"gate": 'top_share = 0.1\nworkers = 10\nties = "draw"'},
            "it needs 2 different people or more, and no more than 1 can reach",
        ),
        (
            {"extra": SECOND + '[[gate]]\nname = "b"\nstage = "more"\ntop = 5\nworkers = 5', "gate": GROWN + "4"},
            "the gate would never close: at most 4 people can be scored there, since gate `trained` passes no more",
        ),
    ],
)
def test_too_few_by_the_studys_own_numbers_is_refused(tmp_path: Path, changes: dict[str, str], most: str) -> None:
    write_protocol_study(tmp_path, **changes)  # type: ignore[arg-type]
    [first, *_] = told(tmp_path)
    assert most in first
    assert "study.toml:" in first


@pytest.mark.parametrize(
    "changes",
    [
        {"gate": "top = 2"},
        {"gate": "top = 9", "judgments": "{ min = 1, max = 1, sample = { share = 0.01, judgments = 10 } }"},
        {"gate": "top = 6", "judgments": "3"},
        # All of the sample may ask for fewer.
        {"gate": "top = 2", "judgments": "{ min = 3, max = 3, sample = { items = 8, judgments = 1 } }"},
        {"gate": "top = 7", "arms": ARMS, "arms_of": BOTH, "judgments": "2"},
        {"gate": "top_share = 0.5\nworkers = 4"},
        {"gate": "top_share = 0.15\nworkers = 10"},
        {"gate": 'threshold = 0.5\ndecides = "together"\nworkers = 4', "judgments": "2"},
        # By this one, everybody is decided about by themselves, however many come.
        {"gate": "threshold = 0.5\nworkers = 2", "judgments": "2"},
        # How many come to an open round, and how many of them reach a threshold, nobody knows.
        {"gate": "top_share = 0.01\nworkers = 10000"},
        {"gate": "threshold = 1.0"},
        {"gate": "top = 8", "judgments": "{ min = 4, max = 9, until = 0.9 }"},
        {"extra": SECOND + '[[gate]]\nname = "b"\nstage = "more"\ntop_share = 0.5\nworkers = 4', "gate": "top = 4"},
        # The cost is counted for so many; nothing waits for them.
        {"extra": SECOND + '[[gate]]\nname = "b"\nstage = "more"\nthreshold = 0.5\nworkers = 5', "gate": "top = 4"},
    ],
)
def test_what_can_be_enough_is_in_order(tmp_path: Path, changes: dict[str, str]) -> None:
    write_protocol_study(tmp_path, **changes)  # type: ignore[arg-type]
    assert told(tmp_path) == []


PARTS = """\
[study]
title = "Parts"
contact = "team@example.org"
consent = "text.md"
[pay]
minimum_hourly = 1200
[[stage]]
name = "words"
title = "Words"
task = "form"
guidelines = "text.md"
items = { file = "items.jsonl" }
judgments = 1
[stage.pay]
per_judgment = 10
parts = { beyond = 1, amounts = [10, 20] }
expected_seconds = 60
EXPECTED
[stage.gold]
file = "gold.jsonl"
share = 0.5
bonus = { right = 3, of = 4, amount = 8 }
[stage.options]
shows = [{ item = "text" }]
[[stage.options.fields]]
name = "a"
kind = "text"
ask = "One?"
part = true
[[stage.options.fields]]
name = "b"
kind = "text"
ask = "Another?"
part = true
required = false
[[stage.options.fields]]
name = "c"
kind = "text"
ask = "A third?"
part = true
required = false
"""


def write_parts(folder: Path, expected: str) -> None:
    gold = [{"a": "x"}, {"a": "x", "b": "y"}, {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "y", "c": "z"}]
    rows = [{"id": f"g{n}", "text": f"g{n}", "answer": one, "explanation": "So."} for n, one in enumerate(gold)]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "items.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "t{n}"}}\n' for n in range(4)))
    (folder / "text.md").write_text("A text.\n")
    (folder / "study.toml").write_text(PARTS.replace("EXPECTED", expected))


@pytest.mark.parametrize(
    ("expected", "each"),
    [
        # One, two, three and three parts in gold: nothing, 10, 30 and 30 on top.
        ("", 10 + 17.5),
        ("expected_parts = 2", 20),
        ("expected_parts = 2.5", 30),
        ("expected_parts = 4", 10 + 10 + 20 + 20),
    ],
)
def test_what_parts_and_gold_are_expected_to_earn_counts(tmp_path: Path, expected: str, each: float) -> None:
    write_parts(tmp_path, expected)
    [stage] = plan_study(load_folder(tmp_path)).stages
    # Four items and four gold; the gold is one row, all of it right. An hour has sixty answers, half of them gold.
    assert stage.cost == 8 * each + 8
    # The guidelines are two words, which all eight answers of a worker share.
    seconds = 60 + 2 * 60 / 238 / 8
    assert stage.hourly_wage == round(3600 / seconds * (each + 8 / 4 / 2))


@pytest.mark.parametrize(
    ("parts", "beyond", "refused"),
    [
        (3, 2, None),
        (3, 3, "is never paid: the maximum number of parts of an answer is 3, and it pays for those beyond 3"),
        (0, 1, "is never paid: the maximum number of parts of an answer is 1, and it pays for those beyond 1"),
        # An answer without parts is one.
        (0, 0, None),
    ],
)
def test_pay_for_parts_that_no_answer_has_is_refused(
    tmp_path: Path, parts: int, beyond: int, refused: str | None
) -> None:
    write_parts(tmp_path, "expected_parts = 9")
    text = (tmp_path / "study.toml").read_text().replace("beyond = 1", f"beyond = {beyond}")
    (tmp_path / "study.toml").write_text(text if parts else text.replace("part = true\n", ""))
    found = told(tmp_path)
    assert (refused is None and found == []) or (refused is not None and len(found) == 1 and refused in found[0])


def test_a_budget_that_the_most_judgments_exceed_is_noted(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, judgments="{ min = 1, max = 3, until = 0.9 }", pay="budget = 100")
    plan = plan_study(load_folder(tmp_path))
    for budget, noted in ((plan.cost, True), (plan.most - 1, True), (plan.most, False)):
        write_protocol_study(tmp_path, judgments="{ min = 1, max = 3, until = 0.9 }", pay=f"budget = {budget}")
        notes = [note for note in study_notes(load_folder(tmp_path)) if "the budget of" in note]
        assert [("if every item needs the maximum number of annotations" in note) for note in notes] == [True] * noted


def test_a_drawn_share_is_told_as_about_so_many(tmp_path: Path) -> None:
    create_study(tmp_path / "study", "qasrl")
    plan = plan_study(load_folder(tmp_path / "study"))
    monitoring = plan.stages[-1]
    # One in a hundred of 25: none or one, or two.
    assert (monitoring.name, monitoring.items, monitoring.at_most, monitoring.by_chance) == (
        "monitoring",
        1,
        False,
        True,
    )
    output = StringIO()
    Console(file=output, width=120).print(plan_table(plan))
    assert re.search(r"monitoring +≈ 1 ", output.getvalue())


def test_too_few_parts_for_the_least_wage_are_refused(tmp_path: Path) -> None:
    write_parts(tmp_path, "expected_parts = 1")
    [problem] = told(tmp_path)
    assert "pays $6.00 an hour" in problem
    assert "Pay at least 20 ($0.20) per judgment" in problem


@pytest.mark.parametrize(
    ("without", "entry", "noted"),
    [
        (
            "expected_seconds = 60\n",
            "",
            ["stage words has no stage.pay.expected_seconds, so the hourly pay can't be compared"],
        ),
        ("", "", []),
        # Paying nothing is no way around it, unless it is experts who work.
        ("expected_seconds = 60\nper_judgment = 10\n", "", ["stage words has no stage.pay.expected_seconds"]),
        # An expected time would not help where nothing is paid: then the wage would be 0, and refused.
        (
            "expected_seconds = 60\nper_judgment = 10\nparts = { beyond = 1, amounts = [10, 20] }\n",
            "",
            ["stage words pays nothing for answers, although your minimum is $12.00 an hour"],
        ),
        ("expected_seconds = 60\nper_judgment = 10\n", '[stage.entry]\nqualifications = ["expert"]\n', []),
        ("expected_seconds = 60\nminimum_hourly = 1200\n", "", []),
    ],
)
def test_wages_that_cant_be_checked_are_told(tmp_path: Path, without: str, entry: str, noted: list[str]) -> None:
    write_parts(tmp_path, "")
    text = (tmp_path / "study.toml").read_text().replace("[stage.gold]", f"{entry}[stage.gold]")
    for line in without.splitlines(keepends=True):
        assert line in text
        text = text.replace(line, "", 1)
    (tmp_path / "study.toml").write_text(text)
    found = [note for note in study_notes(load_folder(tmp_path)) if "pay.minimum_hourly" in note]
    assert len(found) == len(noted) and all(map(str.startswith, found, noted))


def points(folder: Path, best: str) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("points = [0, 0.5, 1]", f"points = [0, 0.1, {best}]"))


@pytest.mark.parametrize(
    ("second", "over_both", "refused"),
    [
        ("threshold = 0.75", False, "nobody could pass: the best possible answers score 0.6"),
        # The round counts as much, and can be done without a mistake.
        ("threshold = 0.75", True, None),
        ("threshold = 0.9", True, "score 0.8"),
        ("top = 3\nfloor = 0.7", False, "score 0.6"),
        ("top = 3\ncriteria = { quality = 0.7 }", True, "nobody could pass: the best possible answers score 0.6 in"),
        ("top = 3\ncriteria = { quality = 0.6 }", True, None),
    ],
)
def test_more_than_a_rubric_can_give_is_refused(
    tmp_path: Path, second: str, over_both: bool, refused: str | None
) -> None:
    write_study(tmp_path, Drawn(second=second, over_both=over_both))
    points(tmp_path, "0.6")
    found = told(tmp_path)
    assert (refused is None and found == []) or (refused is not None and refused in found[0])


def test_a_gate_that_closes_by_itself_is_planned_for_no_more_than_it_waits_for(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate="top_share = 0.5\nworkers = 4", judgments="{ min = 1, max = 9, until = 0.9 }")
    plan = plan_study(load_folder(tmp_path))
    assert [(gate.workers, gate.passing) for gate in plan.gates] == [(4, 2)]
    assert plan.stages[0].workers == 4


def test_a_gate_after_graded_work_may_close_with_more_than_it_waits_for(tmp_path: Path) -> None:
    write_writing_study(tmp_path)
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace("top_share = 0.4", "top_share = 0.5\nworkers = 2"))
    assert told(tmp_path) == []


RUBRIC = """\
shows = [{ item = "text" }, { item = "question" }]
fields = [
  { name = "clear", kind = "choice", ask = "Clear?", options = ["yes", "no"], points = [0.5, 0] },
  { name = "hard", kind = "choice", ask = "Hard?", options = ["yes", "no"], points = [1, 0]HOW },
]
"""


@pytest.mark.parametrize(
    ("how", "threshold", "best"),
    [
        ("", "0.76", "0.75"),
        ("", "0.75", None),
        # Whoever grades may leave out what drags the mean down, and never what raises it.
        (", required = false", "0.76", "0.75"),
        (', shown_if = { field = "clear", is = "no" }', "0.76", "0.75"),
        ("first, required = false", "1.0", None),
    ],
)
def test_the_best_grade_is_a_mean_of_what_is_always_graded(
    tmp_path: Path, how: str, threshold: str, best: str | None
) -> None:
    write_writing_study(tmp_path, grading_pay="")
    rubric = RUBRIC.replace("HOW", how.removeprefix("first"))
    if how.startswith("first"):
        rubric = RUBRIC.replace("HOW", "").replace("points = [0.5, 0]", "points = [0.5, 0], required = false")
    settings = tmp_path / "study.toml"
    text = re.sub(r"shows = \[\{ item = \"text\" \}, .*?\n\]\n", rubric, settings.read_text(), flags=re.S)
    settings.write_text(text.replace("top_share = 0.4", f"threshold = {threshold}"))
    found = told(tmp_path)
    assert (best is None and found == []) or (best is not None and f"possible answers score {best}" in found[0])


@pytest.mark.parametrize(
    ("second", "refused"),
    [
        ("threshold = 0.5\ngraded = 5", "nobody could pass: one person can give at most 4 answers in `write-a`"),
        ("threshold = 0.5\ngraded = 4", None),
        # Four things with two answers each are two answers of four people, or one of eight.
        (
            "top_share = 0.5\ngraded = 2\nworkers = 5",
            "at most 4 people can be scored there, since `write-a` has no more",
        ),
        ("top_share = 0.5\ngraded = 2\nworkers = 4", None),
        ("top_share = 0.5\nworkers = 8", None),
    ],
)
def test_more_answers_than_there_are_items_for_are_refused(tmp_path: Path, second: str, refused: str | None) -> None:
    write_study(tmp_path, Drawn(second=second, items=4, judgments=2))
    found = told(tmp_path)
    assert (refused is None and found == []) or (refused is not None and refused in found[0])


def test_writers_do_not_count_for_what_they_wrote(tmp_path: Path) -> None:
    """Two write about every verb, and a third person, as practised as they, puts it together."""
    create_study(tmp_path / "study", "qasrl")
    assert told(tmp_path / "study") == []
    file = tmp_path / "study" / "study.toml"
    file.write_text(re.sub(r"^top = 11 .*$", "top = 2", file.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    [problem] = told(tmp_path / "study")
    assert "the stage `consolidation` can never be finished: it needs 3 different people or more" in problem


@pytest.mark.parametrize(("limit", "refused"), [(4, False), (1, True)])
def test_too_few_graders_are_refused(tmp_path: Path, limit: int, refused: bool) -> None:
    """Promoted are half of those who were trained; three graders take three of them."""
    drawn = Drawn(first=f"top = {2 * limit}", promotes=True, grades_by="grader", graders=3)
    write_study(tmp_path, drawn)
    file = tmp_path / "study.toml"
    # A second round for the few, whose best half are the graders.
    text = file.read_text().replace('promote = { to = "grader", top_share = 0.5 }\n', "")
    again = text[text.index('[[stage]]\nname = "training"') : text.index('[[stage]]\nname = "write-a"')]
    again = again.replace('"training"', '"again"').replace(
        "guidelines =", 'entry = { qualifications = ["trained"] }\nguidelines ='
    )
    gate = '[[gate]]\nname = "best"\nstage = "again"\ntop_share = 1.0\npromote = { to = "grader", top_share = 0.5 }\n'
    file.write_text(text.replace('[[stage]]\nname = "write-a"', again + '[[stage]]\nname = "write-a"', 1) + gate)
    found = told(tmp_path)
    assert bool(found) is refused, found
    assert not refused or "the stage `grading` can never be finished: it needs 3 different people" in found[0]


@pytest.mark.parametrize(
    ("scored", "graded", "refused"),
    [(4, 4, True), (4, 3, False), (3, 4, False), (4, 1, False)],
)
def test_whoever_must_write_about_everything_can_grade_nothing(
    tmp_path: Path, scored: int, graded: int, refused: bool
) -> None:
    """Four are let in, and the graders are among them: about every text one of them at least must not have written."""
    write_writing_study(tmp_path)
    file = tmp_path / "study.toml"
    entry = 'entry = { qualifications = ["chosen"] }\n'
    text = (
        file.read_text()
        .replace("judgments = 60\n", f"judgments = 60\n{entry}")
        .replace("judgments = 3\n", "judgments = 1\n")
    )
    text = text.replace("grades = true\n", 'grades = true\nentry = { qualifications = ["grader"] }\n')
    text = text.replace("graded = 4\ntop_share = 0.4\n", f"graded = {graded}\ntop_share = 1.0\nworkers = {scored}\n")
    text = re.sub(r"\[arms\]\nnames = .*\n|^arms = .*\n", "", text, flags=re.MULTILINE)
    text = text[: text.index('[[stage]]\nname = "quick-practice"')]
    (tmp_path / "first.jsonl").write_text(
        json.dumps({"id": "f", "text": "A bell.", "answer": {"kind": "what"}, "explanation": "It is a thing."})
    )
    chosen = text[text.index("[stage.options]") : text.index('[[stage]]\nname = "careful-grades"')]
    chosen = (
        '[[stage]]\nname = "first"\ntitle = "First"\ntask = "form"\nguidelines = "guidelines.md"\n'
        f'round = {{ file = "first.jsonl" }}\n{chosen}\n[[gate]]\nname = "chosen"\nstage = "first"\n'
        'top = 4\nworkers = 5\npromote = { to = "grader", top_share = 0.5 }\n'
    )
    file.write_text(text + chosen)
    found = told(tmp_path)
    assert bool(found) is refused, found
    assert not refused or "`careful-grades` can never be finished: it needs 5 different people or more" in found[0]


@pytest.mark.parametrize(("judgments", "workers", "refused"), [(2, 8, True), (2, 6, False), (1, 8, False)])
def test_graders_who_are_too_few_for_each_others_answers_are_not_waited_for(
    tmp_path: Path, judgments: int, workers: int, refused: bool
) -> None:
    """Eight of ten go on, two of them grade: what these two write, one alone could grade."""
    write_writing_study(tmp_path)
    file = tmp_path / "study.toml"
    text = re.sub(r"\[arms\]\nnames = .*\n|^arms = .*\n", "", file.read_text(), flags=re.MULTILINE)
    text = text[: text.index('[[stage]]\nname = "careful-final"')]
    first = text[text.index('[[stage]]\nname = "careful-practice"') :]
    again = first.replace("careful-", "again-").replace("judgments = 3\n", f"judgments = {judgments}\n")
    again = again.replace("graded = 4\n", "graded = 1\n")
    again = again.replace("judgments = 60\n", 'judgments = 60\nentry = { qualifications = ["careful-trained"] }\n')
    again = again.replace("grades = true\n", 'grades = true\nentry = { qualifications = ["grader"] }\n')
    again = again.replace("top_share = 0.4\n", f"top_share = 0.5\nworkers = {workers}\n")
    # Four texts, ten answers to each, four of everybody.
    first = first.replace("judgments = 60\n", "judgments = 10\n")
    promotes = 'top_share = 0.8\npromote = { to = "grader", top_share = 0.2 }\n'
    head = text[: text.index('[[stage]]\nname = "careful-practice"')]
    file.write_text(head + first.replace("top_share = 0.4\n", promotes) + again)
    found = told(tmp_path)
    assert bool(found) is refused, found
    assert not refused or "at most 6 people can be scored there, since the people who may grade in `again" in found[0]


def test_practice_that_no_gate_looks_at_is_counted_for_all_it_is_open_to(tmp_path: Path) -> None:
    more = SECOND + "pay = { per_judgment = 100 }\n"
    write_protocol_study(tmp_path, gate="top = 6\nworkers = 9", extra=more)
    without = plan_study(load_folder(tmp_path)).cost
    write_protocol_study(tmp_path, gate="top = 3\nworkers = 9", extra=more)
    assert without - plan_study(load_folder(tmp_path)).cost == 3 * 4 * 100
