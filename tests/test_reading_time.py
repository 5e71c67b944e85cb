"""Pay is held against what there is to read, and answers that came too fast to have been read raise an alarm."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.contract.reading_time import TOO_FAST, estimated_seconds, reading_seconds
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from chorale.monitor.overview import overview
from chorale.monitor.status import summary
from conftest import StudyMaker
from crowd import Person, look
from small_study import write_small_study

LONG = " ".join(["to"] * 300)


def test_reading_takes_a_minute_for_238_words() -> None:
    assert reading_seconds(" ".join(["word"] * 238)) == pytest.approx(60)


@pytest.mark.parametrize("name", sorted(installed_tasks()))
def test_every_task_has_an_estimate(name: str) -> None:
    task = installed_tasks()[name]
    for example in task.examples:
        row = (
            task.configured(task.options.model.model_validate(task.options.example)) if task.options.configure else task
        )
        for item in row.shape.expand(row.shape.parse_row(example.row), "one"):
            assert 1 <= estimated_seconds(row, item.payload) < 600


def test_pictures_and_options_take_time_too() -> None:
    task = installed_tasks()["frames"]
    frames = [{"frame": f"F{n}", "definition": "one two three four"} for n in range(10)]
    few, many = (
        estimated_seconds(task, {"sentence": "It runs", "word": "runs", "candidates": frames[:count]})
        for count in (1, 10)
    )
    assert many - few > 9 * reading_seconds("one two three four") + 4


@pytest.mark.parametrize("template", ["rules", "frames", "form", "qasrl", "mcq-trial", "mturk"])
def test_templates_pay_for_reading_their_items(tmp_path: Path, template: str) -> None:
    create_study(tmp_path / "study", template)
    folder = load_folder(tmp_path / "study")
    assert not [note for note in study_notes(folder) if "seconds to read" in note or "so long to read" in note]
    assert all(plan.reading is None or plan.reading.mean > 0 for plan in plan_study(folder).stages)


def frames_study(folder: Path, words: int, pay: int = 14) -> None:
    """The template with items as long as those of `chorale prepare frames`."""
    create_study(folder, "frames")
    rows = [json.loads(line) for line in (folder / "sentences.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["candidates"][0]["definition"] = " ".join(["word"] * (words if number else 2 * words))
    (folder / "sentences.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = (folder / "study.toml").read_text().partition("[stage.rehearsal]")[0]
    (folder / "study.toml").write_text(text.replace("per_judgment = 14", f"per_judgment = {pay}"))


def test_pay_that_cannot_cover_the_reading_is_refused_with_the_true_wage(tmp_path: Path) -> None:
    frames_study(tmp_path / "study", 400)
    folder, [problem] = check_folder(tmp_path / "study")
    assert folder is None
    assert problem.message.startswith("pays $3.")
    assert "an item takes about 1" in problem.message
    assert problem.fix.startswith("Pay at least 4")


def test_items_in_the_tail_are_named(tmp_path: Path) -> None:
    frames_study(tmp_path / "study", 400, pay=50)
    notes = study_notes(load_folder(tmp_path / "study"))
    [slow] = [note for note in notes if "expected_seconds is 30" in note]
    assert "median 1" in slow and "238 words a minute" in slow
    [low] = [note for note in notes if "so long to read" in note]
    first = json.loads((tmp_path / "study" / "sentences.jsonl").read_text().splitlines()[0])["id"]
    assert low.startswith("1 item of 24 in stage meanings") and first in low


def test_a_study_without_a_minimum_is_not_refused(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", texts=(LONG, LONG), pay=1)
    assert check_folder(tmp_path / "study")[1] == []


def test_answers_in_milliseconds_raise_an_alarm(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study(applications=6, texts=(LONG, LONG))
    careful, hasty = Person(study, "careful"), Person(study, "hasty")
    study.clock.pass_minutes(1)  # type: ignore[attr-defined]
    for _ in range(4):
        for person, ms in ((careful, 100_000), (hasty, 3)):
            offer = person.next()
            study.clock.pass_minutes(2)  # type: ignore[attr-defined]
            person.submit(offer, "yes", ms=ms)
    [found] = look(study, lambda tx: summary(tx, study))["too_fast"]
    assert (found["worker"], found["stage"], found["answers"]) == (hasty.pseudonym, "meaningful", 4)
    assert found["seconds"] == pytest.approx(0.003)
    assert found["seconds"] < TOO_FAST * found["estimate"] < 100
    [alarm] = [one for one in look(study, lambda tx: overview(tx, study)).alarms if "too fast" in one.title]
    assert (alarm.workers, alarm.serious) == ((hasty.pseudonym,), True)
    assert "4 answers" in alarm.advice


def test_status_names_who_is_too_fast(make_study: StudyMaker, tmp_path: Path, database: str | None) -> None:
    study = make_study(applications=6, texts=(LONG, LONG))
    hasty = Person(study, "hasty")
    for _ in range(3):
        offer = hasty.next()
        study.clock.pass_minutes(1)  # type: ignore[attr-defined]
        hasty.submit(offer, "yes", ms=5)
    study.close()
    where = [] if database is None else ["--db", database]
    said = CliRunner().invoke(app, ["status", str(tmp_path / "study"), *where]).output
    assert f"Too fast to have read: {hasty.pseudonym} answered 3 items of meaningful" in " ".join(said.split())
