"""From which score an answer to gold is correct: a setting of the study, the same for every task."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from chorale.audit.verify import verify
from chorale.engine.opening import open_study
from chorale.engine.running import RunningStage, Study
from chorale.folder.reading import check_folder
from chorale.store import participations
from chorale.store.gold import gold_items
from chorale.store.participations import ParticipationSummary
from crowd import Person, look

RIGHT, HALF = {"one": "a", "two": "a"}, {"one": "a", "two": "b"}


def write_study(folder: Path, gold: str = "", round_: str | None = None) -> None:
    """A form of two choices, with gold in nearly every second place, or a round."""
    rows = [{"id": f"{kind}{number}"} for kind in "ig" for number in range(12)]
    known = [{**row, "answer": RIGHT, "explanation": "So."} for row in rows if row["id"].startswith("g")]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows if row["id"].startswith("i")))
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in known))
    (folder / "text.md").write_text("Read.\n")
    items = '[stage.items]\nfile = "items.jsonl"\n[stage.gold]\nfile = "gold.jsonl"\nshare = 0.5\nfloor = 0\n'
    items += 'feedback = "at once"\n'
    rounds = f'[stage.round]\nfile = "gold.jsonl"\nfeedback = "at once"\n{round_}\n'
    choice = 'kind = "choice", ask = "Which?", options = ["a", "b"]'
    (folder / "study.toml").write_text(
        f"""\
[study]
title = "Two choices"
contact = "team@example.org"
consent = "text.md"
[[stage]]
name = "only"
title = "Choose"
task = "form"
guidelines = "text.md"
{rounds if round_ is not None else items + gold}
[stage.options]
fields = [{{ name = "one", {choice} }}, {{ name = "two", {choice} }}]
"""
    )


def standing(study: Study) -> ParticipationSummary:
    (row,) = look(study, participations.participation_summaries)
    return row


def answer_all(person: Person) -> list[str | None]:
    """Answer all there is half right; what each was told about it."""
    explanations = []
    while (offer := person.next("only")).lease is not None:
        explanations.append(person.submit(offer, HALF).explanation)
    return explanations


@pytest.mark.parametrize(("setting", "correct"), [("", False), ("pass_score = 1.0", False), ("pass_score = 0.5", True)])
def test_what_counts_as_correct_is_set_by_the_study(tmp_path: Path, setting: str, correct: bool) -> None:
    write_study(tmp_path, setting)
    with closing(open_study(tmp_path)) as study:
        told = answer_all(Person(study, "a"))
        row = standing(study)
        assert row.gold_answered > 0
        assert row.gold_right == (row.gold_answered if correct else 0)
        assert ("So." in told) == (not correct)
        met = look(study, lambda tx: gold_items(tx, "only", study.stage("only").lowest_correct))
        assert sum(one.right for one in met) == row.gold_right
        assert verify_all(study) == []


def verify_all(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def test_rounds_have_it_too(tmp_path: Path) -> None:
    write_study(tmp_path, round_="pass_score = 0.5")
    with closing(open_study(tmp_path)) as study:
        assert answer_all(Person(study, "a")) == [None] * 12
        assert standing(study).gold_right == 12
        assert verify_all(study) == []


def test_verify_goes_by_the_setting_of_the_time(tmp_path: Path) -> None:
    write_study(tmp_path, "pass_score = 0.5")
    with closing(open_study(tmp_path)) as study:
        person = Person(study, "a")
        person.judge(HALF, "only")
        while standing(study).gold_answered < 2:
            person.judge(HALF, "only")
    write_study(tmp_path, "pass_score = 0.75")
    with closing(open_study(tmp_path)) as study:
        answer_all(Person(study, "a"))
        row = standing(study)
        assert row.gold_right == 2 < row.gold_answered
        assert verify_all(study) == []


def test_a_task_can_suggest_one_and_the_study_file_overrides_it(tmp_path: Path) -> None:
    def lowest(setting: str) -> float:
        write_study(tmp_path, setting)
        with closing(open_study(tmp_path)) as study:
            stage: RunningStage = study.stage("only")
            task = replace(stage.task, grading=replace(stage.task.grading, pass_score=0.6))
            return replace(stage, task=task).lowest_correct

    assert lowest("") == pytest.approx(0.6)
    assert lowest("pass_score = 0.9") == pytest.approx(0.9)


@pytest.mark.parametrize("value", ["0", "1.1", "-1", '"most"'])
def test_check_refuses_what_is_no_score(tmp_path: Path, value: str) -> None:
    write_study(tmp_path, f"pass_score = {value}")
    _, (problem,) = check_folder(tmp_path)
    assert "pass_score" in str(problem)
