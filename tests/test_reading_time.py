"""Pay is held against what there is to read, and answers that came too fast to have been read raise an alarm."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.contract import installed_tasks
from chorale.contract.reading_time import (
    TOO_FAST,
    estimated_seconds,
    reading_seconds,
    shown_words,
    writing_seconds,
)
from chorale.engine.opening import open_study
from chorale.engine.paying import most_for_one
from chorale.folder.plan import plan_study, study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.folder.templates import create_study
from chorale.monitor.overview import overview
from chorale.monitor.status import summary
from chorale.store.ledger import ledger_lines
from chorale.store.schema import item as item_table
from chorale.text.scripts import length_in_words
from chorale.web.pay_words import pay_text
from conftest import ManualClock, StudyMaker
from crowd import Person, look, people
from small_study import write_small_study

LONG = " ".join(["to"] * 300)


def test_reading_takes_a_minute_for_238_words() -> None:
    assert reading_seconds(" ".join(["word"] * 238)) == pytest.approx(60)


def test_texts_without_spaces_take_time_too() -> None:
    """Before, a Chinese text of any length was one word, and its wage as fictitious."""
    assert length_in_words("这个句子没有空格，但是有二十二个汉字和标点符号。") == 11
    assert length_in_words("日本語の文も同じように数えます。") == 7.5
    assert length_in_words("한국어는 띄어쓰기가 있다") == 3
    assert length_in_words("Und “deutsche” Wörter – mit Strich") == 6
    task = installed_tasks()["rules-meaningful"]
    short, long = (estimated_seconds(task, {"phrase": "他们" * number}) for number in (1, 400))
    assert long - short == pytest.approx(399 * 60 / 238)
    assert shown_words(task, {"phrase": "他们" * 400}) == 400


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
    assert not [
        note for note in study_notes(folder) if "seconds to read" in note or "for the time to read them" in note
    ]
    assert all(plan.reading is None or plan.reading.mean > 0 for plan in plan_study(folder).stages)


def frames_study(folder: Path, words: int, pay: int = 14) -> None:
    """The template with items as long as those of `chorale prepare frames`."""
    create_study(folder, "frames")
    rows = [json.loads(line) for line in (folder / "sentences.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["candidates"][0]["definition"] = " ".join(["word"] * (words if number else 2 * words))
    (folder / "sentences.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = (folder / "study.toml").read_text().partition("[stage.rehearsal]")[0]
    by_words = re.compile(r"^per_judgment = .*\nby_length = .*\n", re.MULTILINE)
    (folder / "study.toml").write_text(by_words.sub(f"per_judgment = {pay}\n", text))


def test_pay_that_cannot_cover_the_reading_is_refused_with_the_true_wage(tmp_path: Path) -> None:
    frames_study(tmp_path / "study", 400)
    folder, [problem] = check_folder(tmp_path / "study")
    assert folder is None
    assert problem.message.startswith("`stage.pay` pays $3.")
    assert "an item takes about 1" in problem.message
    assert problem.fix.startswith("Pay at least 4")


def test_items_in_the_tail_are_named(tmp_path: Path) -> None:
    frames_study(tmp_path / "study", 400, pay=50)
    notes = study_notes(load_folder(tmp_path / "study"))
    [slow] = [note for note in notes if "expected_seconds is 28" in note]
    assert "median 1" in slow and "238 words a minute" in slow
    [low] = [note for note in notes if "for the time to read them" in note]
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


def test_status_counts_who_is_too_fast_in_one_line(
    make_study: StudyMaker, tmp_path: Path, database: str | None
) -> None:
    """Before, a study with hundreds of hurried workers printed a line for each."""
    study = make_study(applications=14, texts=(LONG, LONG))
    for number in range(7):
        hasty = Person(study, f"hasty-{number}")
        for _ in range(3):
            offer = hasty.next()
            study.clock.pass_minutes(1)  # type: ignore[attr-defined]
            hasty.submit(offer, "yes", ms=5)
    study.close()
    where = [] if database is None else ["--db", database]
    output = CliRunner().invoke(app, ["status", str(tmp_path / "study"), *where]).output
    words = " ".join(output.split())
    assert words.count("reading and answering an item takes about") == 1
    [line] = re.findall(r"Too fast to have read: 7 workers \((.*?)\)", words)
    assert line.endswith(" and 2 more") and line.count("w-") == 5


BY_LENGTH = "by_length = { per_100_words = 5, most = 12 }"


def _paid_by_length(folder: Path, applications: int = 3, **changed: object) -> None:
    """Items of 1 + 4, 300 + 4 and so on words; gold of 4."""
    write_small_study(folder, applications=applications, texts=("to", LONG), **changed)  # type: ignore[arg-type]
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("per_judgment = 3", f"per_judgment = 3, {BY_LENGTH}"))


def test_words_are_counted_in_what_is_shown() -> None:
    task = installed_tasks()["frames"]
    frames = [{"frame": "F", "definition": "one two three"}] * 2
    assert shown_words(task, {"sentence": "It runs", "word": "runs", "candidates": frames}) == 2 + 1 + 2 * 4


def test_longer_items_pay_more_as_shown_before_they_are_answered(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    _paid_by_length(folder, share=0.4, floor=0.0)
    with closing(open_study(folder, database)) as study:
        person = Person(study, "somebody")
        earned, seen = 0, set()
        while (offer := person.next()).status == "item":
            assert offer.view is not None
            words = sum(len(str(text).split()) for text in offer.view.values())
            assert offer.pay == 3 + min(12, -(-words * 5 // 100))
            assert person.next().pay == offer.pay, "asked again, the same"
            seen.add(offer.pay)
            outcome = person.submit(offer)
            earned += offer.pay
            assert outcome.progress.earned == earned
        assert seen >= {4, 15}
        entries = look(study, lambda tx: list(ledger_lines(tx)))
        assert sum(entry.amount for entry in entries) == earned
        assert any("$0.15 for 301 words" in entry.reason for entry in entries)
        assert look(study, lambda tx: verify(tx, study)).differences == []
        study.store.write(lambda tx: tx.execute(update(item_table).values(words=90))).result()
        assert any("the ledger has" in line for line in look(study, lambda tx: verify(tx, study)).differences)


def test_items_made_from_others_pay_by_their_length_too(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=2, judgments="1", share=0.0)
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("per_judgment = 4", f"per_judgment = 4, {BY_LENGTH}"))
    with closing(open_study(folder, database)) as study:
        first, second = people(study, 2)
        for person in (first, second):
            while (offer := person.next()).status == "item":
                assert offer.pay is None
                person.submit(offer)
        offer = first.next("entailment")
        assert offer.pay == 4 + 1


def test_a_budget_covers_the_longest_items(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    _paid_by_length(folder, applications=30, share=0.0)
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("fee_percent = 0", "fee_percent = 0\nbudget = 100000"))
    with closing(open_study(folder)) as study:
        assert most_for_one(study, study.stage("meaningful")) == 3 + 12
    (folder / "study.toml").write_text(text.replace("fee_percent = 0", "fee_percent = 0\nbudget = 400"))
    _, [problem] = check_folder(folder)
    # 30 applications with a short side (one word and its number: 1) and a long one (12), three judgments of 3 each.
    assert f"${(60 * 3 + 30 * 13) * 3 / 100:.2f}" in problem.message


def test_the_plan_and_the_wage_go_by_the_length(tmp_path: Path) -> None:
    _paid_by_length(tmp_path / "study", share=0.0)
    stage, _ = plan_study(load_folder(tmp_path / "study")).stages
    assert stage.cost == 3 * (6 * 3 + 3 * 13)
    with closing(open_study(tmp_path / "study")) as study:
        page = pay_text(study.settings.stage[0], study)
    assert page == "$0.03 per answer, $0.05 per 100 words that you read (at most $0.12)"


def test_guidelines_are_read_once_by_every_worker(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study", applications=100, meaningful_extra="max_per_worker = 10")
    text = (tmp_path / "study" / "study.toml").read_text()
    (tmp_path / "study" / "study.toml").write_text(
        text.replace("per_judgment = 3", "per_judgment = 3, expected_seconds = 10")
    )
    [before, _] = plan_study(load_folder(tmp_path / "study")).stages
    (tmp_path / "study" / "guidelines.md").write_text(" ".join(["word"] * 238))
    [after, _] = plan_study(load_folder(tmp_path / "study")).stages
    assert (before.hourly_wage, after.hourly_wage) == (1067, 675), "a minute for ten answers"


def test_what_people_write_takes_time(tmp_path: Path) -> None:
    tasks = installed_tasks()
    assert writing_seconds(tasks["rules-meaningful"], 3) == 0
    assert writing_seconds(tasks["qasrl-write"], 3) == pytest.approx(3 * 4 * 60 / 52)
    create_study(tmp_path / "study", "mcq-trial")
    folder = load_folder(tmp_path / "study")
    written = [plan for plan in plan_study(folder).stages if plan.task == "mcq-write" and plan.reading is not None]
    assert written and all(plan.reading is not None and plan.reading.writing > 15 for plan in written)


def test_check_uses_the_times_of_those_who_worked(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=6)
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("fee_percent = 0", "fee_percent = 0\nminimum_hourly = 900"))
    assert "Measured" not in CliRunner().invoke(app, ["check", str(folder)]).output
    clock = ManualClock()
    with closing(open_study(folder, clock=clock)) as study:
        person = Person(study, "somebody")
        for _ in range(3):
            offer = person.next()
            clock.pass_minutes(1)
            person.submit(offer, ms=30_000)
    output = " ".join(CliRunner().invoke(app, ["check", str(folder)]).output.split())
    assert "Measured in meaningful: 1 worker, 30 seconds per answer on average, median wage $3.60 an hour" in output
    assert "below your minimum of $9.00. Raise the pay" in output
    notes = json.loads(CliRunner().invoke(app, ["check", str(folder), "--json"]).output)["notes"]
    assert any("Measured in meaningful" in note for note in notes)
