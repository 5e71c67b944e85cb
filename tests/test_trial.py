"""What keeps a trial of question writing clean: who grades what, how gold counts, when graders see the key."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chorale.audit.verify import verify
from chorale.contract import installed_tasks
from chorale.contract.errors import AnswerError
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.exchange.export import write_export
from chorale.folder.reading import check_folder
from chorale.model import EntryKind, GoldBonus, GoldRecord, GoldSettings, Standing, UserError
from chorale.protocol import gold_after, gold_bonus, review_worker, trust
from chorale.store import gates, ledger, messages
from crowd import Person, do, look
from mcq_study import PASSAGE, TWO
from test_console_acts import as_owner

WRITTEN = {name: value for name, value in TWO.items() if name != "why_2"}
HEAD = 'study = { title = "Questions", contact = "team@example.org", consent = "text.md" }\n'
STAGE = '[[stage]]\nname = "{name}"\ntitle = "{name}"\ntask = "mcq-{name}"\nguidelines = "text.md"\n'
GRADES: dict[str, str] = {
    f"{name}_{number}": level
    for number in (1, 2)
    for name, level in (("answerable", "yes"), ("reading", "whole"), ("creative", "very"), ("distracting", "yes"))
}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Study]]:
    studies = []

    def open_with(settings: str, **files: list[dict[str, Any]]) -> Study:
        (tmp_path / "text.md").write_text("Read.\n")
        for name, rows in files.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "study.toml").write_text(HEAD + settings)
        assert check_folder(tmp_path)[1] == []
        studies.append(open_study(tmp_path))
        return studies[-1]

    yield open_with
    for study in studies:
        study.close()


def differences(study: Study) -> list[str]:
    settle_everything(study)
    return look(study, lambda tx: verify(tx, study)).differences


# Who grades what


@pytest.mark.parametrize("by_text", [False, True])
def test_nobody_grades_a_text_they_wrote_about(opened: Callable[..., Study], by_text: bool) -> None:
    rows = [{"id": f"{text}{copy}", "passage": f"{PASSAGE} It was {text}."} for text in "ab" for copy in range(3)]
    write = STAGE.format(name="write") + 'judgments = 1\nitems = { file = "texts.jsonl" }\n'
    grade = STAGE.format(name="grade") + 'judgments = 1\nitems = { from = "write", of = "answers" }\n'
    apart = 'entry = { exclude_contributors = "group" }\n' if by_text else ""
    study = opened(write + grade + apart, texts=rows)
    writer, other, reader = (Person(study, name) for name in ("writer", "other", "reader"))
    for person in (writer, other):
        for _ in "ab":
            person.judge(WRITTEN, "write")
    # Of the pairs that the other wrote, each is about a text that the writer has written about, too.
    assert writer.next("grade").status == ("wait" if by_text else "item")
    while reader.next("grade").status == "item":
        reader.judge(GRADES, "grade")
    # And nobody writes about a text after grading what others wrote about it.
    assert reader.next("write").status == ("wait" if by_text else "item")
    assert differences(study) == []


# Everybody gets a result


def graded(opened: Callable[..., Study], tmp_path: Path, rule: str) -> Study:
    rows = [{"id": f"t{number}", "passage": f"{PASSAGE} It was {number}."} for number in range(4)]
    (tmp_path / "message.md").write_text("You had {{ score }}.\n")
    write = STAGE.format(name="write") + 'judgments = 1\nitems = { file = "texts.jsonl" }\n'
    grade = STAGE.format(name="grade") + 'grades = true\njudgments = 1\nitems = { from = "write", of = "answers" }\n'
    gate = f'[[gate]]\nname = "passed"\nstage = "write"\ngraded = 1\nmessage = "message.md"\n{rule}\n'
    return opened(write + grade + gate, texts=rows)


def messages_to(study: Study, person: Person) -> list[str]:
    return [message.body for message in look(study, lambda tx: messages.messages_to(tx, person.id))]


def test_everybody_has_a_result_when_a_gate_closes(tmp_path: Path, opened: Callable[..., Study]) -> None:
    study = graded(opened, tmp_path, "top_share = 1.0")
    first, second, away = (Person(study, name) for name in ("first", "second", "away"))
    for person in (first, second):
        person.judge(WRITTEN, "write")
    # One of the two is graded, by the other.
    first.judge(GRADES, "grade")
    assert second.next("write").status == "item"
    do(study, close_gate, study.gates["passed"], "the test")
    assert [body.startswith("You had") for body in messages_to(study, second)] == [True]
    assert ["could be scored" in body for body in messages_to(study, first)] == [True]
    assert messages_to(study, away) == []
    found = look(study, lambda tx: {row.worker: row.passed for row in gates.verdicts(tx)})
    assert found == {first.pseudonym: False, second.pseudonym: True}
    assert differences(study) == []


def test_people_read_which_criterion_they_missed(tmp_path: Path, opened: Callable[..., Study]) -> None:
    study = graded(opened, tmp_path, "top_share = 1.0\ncriteria = { answerable = 0.5 }")
    writer, grader = Person(study, "writer"), Person(study, "grader")
    writer.judge(WRITTEN, "write")
    grader.judge({**GRADES, "answerable_1": "no", "answerable_2": "no"}, "grade")
    do(study, close_gate, study.gates["passed"], "the test")
    [body] = messages_to(study, writer)
    assert "too few points for: “Does the text give exactly one correct answer?”" in body
    assert differences(study) == []


# How gold counts


def validated(opened: Callable[..., Study], unit: str) -> Study:
    rows = [{"id": f"t{number}", "passage": f"{PASSAGE} It was {number}.", **TWO} for number in range(30)]
    known = {"answer": {"answer_1": "option1", "answer_2": "option1"}, "explanation": "So it says."}
    gold = [{**row, "id": f"g{row['id']}", "passage": f"{row['passage']} Gold.", **known} for row in rows[:8]]
    return opened(
        STAGE.format(name="validate")
        + 'judgments = 1\nitems = { file = "texts.jsonl" }\npay = { per_judgment = 75 }\n'
        + f'[stage.gold]\nfile = "gold.jsonl"\nshare = 0.5\nfloor = 0.5\nafter = 4\nunit = "{unit}"\ngrace = 0\n'
        + "bonus = { right = 3, of = 4, amount = 50 }\n",
        texts=rows,
        gold=gold,
    )


def answer_gold(person: Person, *answers: tuple[str, str]) -> str:
    """Answer until all of these went to gold; how the person stands then."""
    left = list(answers)
    outcome = None
    while left:
        offer = person.next("validate")
        assert offer.view is not None, offer
        first, second = left.pop(0) if "Gold" in offer.view["passage"] else ("option1", "option1")
        outcome = person.submit(offer, {"answer_1": first, "answer_2": second})
    assert outcome is not None
    return outcome.standing


BOTH, HALF, NONE = ("option1", "option1"), ("option2", "option1"), ("option2", "option3")


@pytest.mark.parametrize(
    ("unit", "answers", "stays", "bonus"),
    [
        ("part", (HALF, HALF), True, 0),
        ("part", (HALF, NONE), False, 0),
        ("part", (BOTH, HALF), True, 50),
        ("part", (HALF, BOTH, BOTH, NONE), True, 50),
        ("item", (BOTH, HALF), True, 0),
        ("item", (HALF, HALF, HALF, BOTH), False, 0),
    ],
)
def test_gold_pairs_count_by_question(
    opened: Callable[..., Study], unit: str, answers: tuple[tuple[str, str], ...], stays: bool, bonus: int
) -> None:
    study = validated(opened, unit)
    person = Person(study, "one")
    standing = answer_gold(person, *answers)
    assert standing == (Standing.ACTIVE if stays else Standing.DROPPED)
    entries = look(study, lambda tx: list(ledger.ledger_lines(tx)))
    assert sum(entry.amount for entry in entries if entry.kind == EntryKind.BONUS) == bonus
    assert differences(study) == []


def test_pages_and_files_count_gold_as_the_stage_does(tmp_path: Path, opened: Callable[..., Study]) -> None:
    """By question, everybody has a gold accuracy of one half or more; by item, one of three has."""
    study = validated(opened, "part")
    everybody = {"halves": (HALF, HALF, HALF), "best": (BOTH,), "most": (HALF, BOTH)}
    for name, answers in everybody.items():
        answer_gold(Person(study, name), *answers)
    settle_everything(study)
    counts = ["1.00 (2 of 2)", "0.75 (3 of 4)", "0.50 (3 of 6)"]
    owner = as_owner(study)
    page = owner.get("/console/workers?stage=validate&order=gold&direction=down").text
    assert re.findall(r"\d\.\d\d \(\d of \d\)", page) == counts
    workers = re.findall(r'id="worker-(w-\w+)"', page)
    for worker, count in zip(workers, counts, strict=True):
        assert count in owner.get(f"/console/workers/{worker}").text
    write_export(study, "workers", tmp_path / "workers.csv")
    with (tmp_path / "workers.csv").open(newline="") as file:
        exported = {row["worker"]: (row["gold_right"], row["gold_answered"]) for row in csv.DictReader(file)}
    assert exported == dict(zip(workers, (("2", "2"), ("3", "4"), ("3", "6")), strict=True))


def test_parts_are_only_counted_where_a_task_has_some(tmp_path: Path, opened: Callable[..., Study]) -> None:
    validated(opened, "part")
    settings = tmp_path / "study.toml"
    one = "options = { questions = 1 }\n[stage.gold]"
    settings.write_text(settings.read_text().replace("[stage.gold]", one))
    for name in ("texts", "gold"):
        rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        for row in rows:
            for column in ("question_2", "options_2", "right_2", "why_2"):
                row.pop(column)
            row.get("answer", {}).pop("answer_2", None)
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [problem] = check_folder(tmp_path)[1]
    assert "no parts to count" in problem.message


def test_what_gold_counts_stays_once_somebody_has_begun(tmp_path: Path, opened: Callable[..., Study]) -> None:
    study = validated(opened, "part")
    Person(study, "one").next("validate")
    study.close()
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace('unit = "part"', 'unit = "item"'))
    with pytest.raises(UserError, match=r"gold\.unit"):
        open_study(tmp_path)


def test_a_bonus_is_paid_for_every_row_that_an_answer_ends() -> None:
    rule = GoldSettings(file="g.jsonl", unit="part", bonus=GoldBonus(right=1, of=2, amount=5))
    record = gold_after(GoldRecord(), [True, False, True, True, False], rule)
    assert gold_bonus(record, rule.bonus, 5) == 10
    after = gold_after(record, [False], rule)
    assert gold_bonus(after, rule.bonus, 1) == 0
    assert trust(after, rule) == 0.5 and review_worker(after, rule).evidence["answered"] == 6


# When graders see the key


def test_graders_answer_before_they_grade() -> None:
    task = installed_tasks()["mcq-grade"]
    first = task.configured(task.options.model(answer_first=True))
    with pytest.raises(AnswerError):
        first.shape.parse_answer(GRADES)
    answered = {**GRADES, "answer_1": "option2", "answer_2": "invalid"}
    assert first.shape.parse_answer(answered) == answered
    assert first.grading.marks is not None and task.grading.marks is not None
    # Their own answers are no grades.
    assert first.grading.marks(answered) == task.grading.marks(GRADES)
    assert first.combining.distance(answered, {**GRADES, "answer_1": "option1", "answer_2": "option1"}) == 0
    assert first.grading.grade({**answered, "answer_1": "option3"}, answered).score == 1
