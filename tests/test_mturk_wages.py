"""What an hour of HITs pays: measured, shown, and warned about where it is less than the study's minimum."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.managing import Act
from chorale.engine.opening import DATABASE, open_study
from chorale.engine.running import Study
from chorale.kits.mturk.market import perform, working
from chorale.kits.mturk.market.bulk import Review, carry_out, plan
from chorale.kits.mturk.market.mapping import map_workers
from chorale.kits.mturk.market.operations import Call, Performed
from chorale.kits.mturk.worker_list import ListedWorker
from chorale.monitor.overview import overview
from chorale.monitor.status import status
from conftest import ManualClock
from crowd import Person, do, look
from turk import HTML_QUESTION, PROPERTIES, SPACE, open_market, write_market


@pytest.fixture
def market(tmp_path: Path, clock: ManualClock) -> Iterator[Study]:
    study = open_market_study(tmp_path / "study", clock)
    yield study
    assert look(study, lambda tx: verify(tx, study)).differences == []
    study.close()


def open_market_study(folder: Path, clock: ManualClock) -> Study:
    write_market(folder)
    settings = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(settings.replace("minimum_hourly = 0", "minimum_hourly = 1200"))
    return open_study(folder, None, clock)


def ask(study: Study, operation: str, **given: Any) -> Performed:
    return do(study, perform, Call(operation, json.loads(json.dumps(given)), f"{study.secrets.random()}"))


def make_hit(study: Study, **more: Any) -> Performed:
    given = {**PROPERTIES, "LifetimeInSeconds": 360_000, "Question": HTML_QUESTION, "MaxAssignments": 9, **more}
    return ask(study, "CreateHIT", **given)


def work(study: Study, clock: ManualClock, worker: Person, hit: str, minutes: float) -> str:
    name: str = do(study, working.accept, worker.id, hit)
    clock.pass_minutes(minutes)
    do(study, working.submit, name, [("colour", "blue")])
    return name


def test_time_counts_once_the_work_was_reviewed(market: Study, clock: ManualClock) -> None:
    hit = make_hit(market).body["HIT"]["HITId"]
    ada, ben = Person(market, "ada"), Person(market, "ben")
    first, second = work(market, clock, ada, hit, 1), work(market, clock, ben, hit, 3)
    assert look(market, lambda tx: status(tx, market)).wage.median is None
    ask(market, "ApproveAssignment", AssignmentId=first)
    now = look(market, lambda tx: status(tx, market))
    # 25 cents for a minute, and for nothing else so far.
    assert (now.wages["batch"].median, now.wage.workers, now.below_minimum) == (1500, 1, False)
    ask(market, "RejectAssignment", AssignmentId=second, RequesterFeedback="x")
    assert look(market, lambda tx: status(tx, market)).wage.median == 750
    # Withdrawn, it is paid; its time is counted already.
    ask(market, "ApproveAssignment", AssignmentId=second, OverrideRejection=True)
    now = look(market, lambda tx: status(tx, market))
    assert (now.wage.median, now.wage.tenth_percentile, now.below_minimum) == (1000, 500, True)
    assert any(one.kind == "wage" for one in look(market, lambda tx: overview(tx, market)).alarms)


def test_hits_accepted_together_count_the_time_of_each_once(market: Study, clock: ManualClock) -> None:
    hits = [make_hit(market).body["HIT"]["HITId"] for _ in range(3)]
    ada = Person(market, "ada")
    names = [do(market, working.accept, ada.id, hit) for hit in hits]
    for name in names:
        clock.pass_minutes(1)
        do(market, working.submit, name, [("colour", "blue")])
        ask(market, "ApproveAssignment", AssignmentId=name)
    assert look(market, lambda tx: status(tx, market)).wage.median == 1500


def test_more_of_what_paid_too_little_is_warned_about_until_bonuses_make_up_for_it(
    market: Study, clock: ManualClock
) -> None:
    made = make_hit(market)
    assert made.warnings == ()
    hit = made.body["HIT"]["HITId"]
    names = {}
    for name in ("ada", "ben", "cleo"):
        worker = Person(market, name)
        names[worker.pseudonym] = work(market, clock, worker, hit, 2.5)
        ask(market, "ApproveAssignment", AssignmentId=names[worker.pseudonym])
    clock.pass_minutes(2)
    [warning] = make_hit(market).warnings
    assert "paid a median of $6.00 per hour, below the study's minimum of $12.00" in warning
    again = ask(market, "CreateAdditionalAssignmentsForHIT", HITId=hit, NumberOfAdditionalAssignments=1)
    assert again.warnings == (warning,)
    assert make_hit(market, Reward="0.50").warnings == ()
    for pseudonym, name in names.items():
        given = {"WorkerId": f"A{pseudonym[2:].upper()}", "AssignmentId": name, "Reason": "It took long"}
        ask(market, "SendBonus", **given, BonusAmount="0.25")
    clock.pass_minutes(2)
    assert make_hit(market).warnings == ()


def test_studies_from_before_get_the_times_that_were_kept(tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "study"
    with closing(open_market_study(folder, clock)) as study:
        hit = make_hit(study).body["HIT"]["HITId"]
        ada, ben = Person(study, "ada"), Person(study, "ben")
        ask(study, "ApproveAssignment", AssignmentId=work(study, clock, ada, hit, 1))
        work(study, clock, ben, hit, 1)
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.execute("DROP INDEX ix_mturk_assignment_submitted")
        connection.execute("ALTER TABLE mturk_assignment DROP COLUMN worked_ms")
        connection.execute("UPDATE participation SET worked_ms = 0")
        connection.execute("UPDATE setting SET value = '1' WHERE key = 'tables of mturk'")
    with closing(open_study(folder, None, clock)) as study:
        assert look(study, lambda tx: status(tx, study)).wage.median == 1500
        assert look(study, lambda tx: verify(tx, study)).differences == []
    shown = CliRunner().invoke(app, ["check", str(folder)])
    assert "Measured in batch: 1 worker, median wage $15.00 an hour." in " ".join(shown.stdout.split())


def test_times_that_cannot_be_are_found(tmp_path: Path, clock: ManualClock) -> None:
    folder = tmp_path / "study"
    with closing(open_market_study(folder, clock)) as study:
        hit = make_hit(study).body["HIT"]["HITId"]
        ask(study, "ApproveAssignment", AssignmentId=work(study, clock, Person(study, "ada"), hit, 1))
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.execute("UPDATE mturk_assignment SET worked_ms = 90000")
    with closing(open_study(folder, None, clock)) as study:
        differences = look(study, lambda tx: verify(tx, study)).differences
    assert any("90,000 ms of work are stored, but only 60,000 ms passed" in one for one in differences)
    assert any("time worked stored 60000, recomputed 90000" in one for one in differences)


@pytest.mark.slow
def test_reviews_wages_and_old_ids_are_the_same_on_both_databases(
    tmp_path: Path, database: str | None, clock: ManualClock
) -> None:
    write_market(tmp_path / "study")
    settings = (tmp_path / "study" / "study.toml").read_text().replace("minimum_hourly = 0", "minimum_hourly = 1200")
    (tmp_path / "study" / "study.toml").write_text(settings)
    with closing(open_study(tmp_path / "study", database, clock)) as study:
        hit = make_hit(study).body["HIT"]["HITId"]
        people = [Person(study, name) for name in ("ada", "ben", "cleo")]
        for worker in people:
            work(study, clock, worker, hit, 2.5)
        listed = [ListedWorker(2, "A1OLD", people[0].pseudonym, True, {"Good": 80})]
        for granted in (1, 0):
            assert do(study, map_workers, listed, "a test").granted == granted
        review = Review("approve", (), hit)
        assert look(study, lambda tx: plan(tx, study, review)).cost == 75
        for done in (3, 0):
            assert do(study, carry_out, review, Act("Olga", "Fine", "form-key-1")) == done
        bonus = Review("bonus", tuple(one["AssignmentId"] for one in answers(study, hit)), hit, 10, "Thanks")
        assert do(study, carry_out, bonus, Act("Olga", "Thanks", "form-key-2")) == 3
        clock.pass_minutes(2)
        [warning] = make_hit(study).warnings
        assert "a median of $8.40 per hour" in warning
        kind = ask(study, "ListQualificationTypes", MustBeRequestable=False).body["QualificationTypes"][0]
        asked = [{"QualificationTypeId": kind["QualificationTypeId"], "Comparator": "Exists"}]
        make_hit(study, Title="Ends", QualificationRequirements=asked)
        ended = ask(study, "DeleteQualificationType", QualificationTypeId=kind["QualificationTypeId"])
        assert "1 open HIT required this qualification" in ended.warnings[0]
        assert look(study, lambda tx: verify(tx, study)).differences == []


def answers(study: Study, hit: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(study, "ListAssignmentsForHIT", HITId=hit).body["Assignments"]
    return found


def test_workers_see_the_expected_time_and_hourly_pay_of_hits(tmp_path: Path) -> None:
    with open_market(tmp_path / "study") as market:
        words = " ".join(["word"] * 234)
        long = HTML_QUESTION.replace("<form", f"<p>{words}</p><form", 1)
        assert long != HTML_QUESTION
        first = market.hit(Question=long, Reward="0.30")
        ada = market.worker("ada")
        home, listed, single = (ada.http.get(path).text for path in ("/", "/hits", f"/hits/{first['HITId']}"))
        for page in (home, listed, single):
            assert "about 70 seconds each" in page and "about $15.42 an hour" in page
        market.hit(Title="Short", Reward="0.05")
        home, listed = (ada.http.get(path).text for path in ("/", "/hits"))
        assert "$0.05–$0.30 per answer" in home and "about $15.42–$18.00 an hour" in home
        assert "about 10 seconds each" in listed and "about $18.00 an hour" in listed
        # Nobody knows how long a page on another site takes.
        elsewhere = (
            f'<ExternalQuestion xmlns="{SPACE}/2006-07-14/ExternalQuestion.xsd">'
            "<ExternalURL>https://example.org/</ExternalURL><FrameHeight>400</FrameHeight></ExternalQuestion>"
        )
        market.hit(Title="Elsewhere", Reward="0.05", Question=elsewhere)
        assert "an hour" not in ada.http.get("/").text and "about $18.00 an hour" in ada.http.get("/hits").text
