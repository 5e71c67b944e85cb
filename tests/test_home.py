"""A worker's start page: what to do next first, what it pays an hour, what opens a part, and where to go from one."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient

from browsing import CHROMIUM, PHONE, WIDER_THAN_SCREEN, Scene, Site, barriers
from chorale.cli import app
from chorale.engine.expected_time import ExpectedTime, expected_time
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.engine.way_in import way_in
from chorale.engine.work import StageVisit, Visit
from chorale.model import EntrySettings, GoldRecord, StagePay
from chorale.present.language import Language
from chorale.protocol import Reason, Situation, State, never
from chorale.protocol.eligibility import may_enter
from chorale.protocol.situation_words import message
from chorale.web.app import create_app
from chorale.web.home import following
from chorale.web.pay_words import hourly_text, time_text
from crowd import Person, look
from protocol_study import ROUND, write_protocol_study
from small_study import write_small_study
from test_protocols import train

LONG = "You did well.\n\n" + "A long paragraph about every answer.\n\n" * 80


def shown(study: Study, size: int | None, expected: ExpectedTime, **pay: Any) -> tuple[str, str]:
    return time_text(expected, size, Language()), hourly_text(StagePay.model_validate(pay), expected, size, study)


def test_time_and_pay_an_hour_are_known_beforehand(tmp_path: Path) -> None:
    write_protocol_study(tmp_path)
    study = open_study(tmp_path)
    assert shown(study, None, ExpectedTime(30), per_judgment=10) == ("about 30 seconds each", "about $12.00 an hour")
    assert shown(study, 4, ExpectedTime(30), finished=50) == ("about 2 minutes in total", "about $15.00 an hour")
    assert shown(study, None, ExpectedTime(150))[0] == "about 2 min 30 s each"  # not 2 minutes
    assert shown(study, 10, ExpectedTime(780), per_judgment=350, finished=100) == (
        "about 2.2 hours in total",
        "about $16.61 an hour",
    )
    for bonus in ("parts", "kept"):
        pay = {"per_judgment": 10, bonus: {"beyond": 1, "amounts": [5]}}
        assert shown(study, None, ExpectedTime(30), **pay)[1] == "about $12.00 an hour without bonuses"
    assert shown(study, None, ExpectedTime(5)) == ("about 5 seconds each", "")
    assert shown(study, None, ExpectedTime(None), per_judgment=10) == ("", "")
    by_length = {"per_judgment": 5, "by_length": {"per_100_words": 8, "most": 40}}
    assert shown(study, None, ExpectedTime(30, for_length=7.0), **by_length)[1] == "about $14.40 an hour"
    study.close()


def test_without_an_expected_time_it_is_estimated_from_what_is_shown(tmp_path: Path) -> None:
    text = " ".join(["word"] * 236)
    write_small_study(tmp_path, applications=94, gold=6, pay=18, texts=(text, text))
    study = open_study(tmp_path)
    # Nine in ten items are 237 words long, a minute to read; those with known answers have four words.
    assert look(study, lambda tx: expected_time(tx, study, study.stage("meaningful"))).seconds == 60
    with TestClient(create_app(study)) as client:
        client.get("/join", params={"PROLIFIC_PID": "ada", "STUDY_ID": "s", "SESSION_ID": "v"})
        client.post("/consent", data={"agree": "yes"})
        for page in (client.get("/").text, client.get("/stages/meaningful").text):
            assert "about 60 seconds each" in page and "about $10.80 an hour" in page
        assert "about 5 seconds each" in client.get("/").text  # the second part, whose items are still to come
    study.close()


@pytest.mark.parametrize(("given", "promised"), [(7, "about 60 seconds each"), (80, "about 80 seconds each")])
def test_an_expected_time_shorter_than_reading_is_not_promised(tmp_path: Path, given: int, promised: str) -> None:
    text = " ".join(["word"] * 236)
    write_small_study(tmp_path, applications=94, gold=6, pay=18, texts=(text, text))
    settings = (tmp_path / "study.toml").read_text()
    assert settings.count("{ per_judgment = 18 }") == 1
    timed = settings.replace("{ per_judgment = 18 }", f"{{ per_judgment = 18, expected_seconds = {given} }}")
    (tmp_path / "study.toml").write_text(timed)
    study = open_study(tmp_path)
    expected = look(study, lambda tx: expected_time(tx, study, study.stage("meaningful")))
    assert time_text(expected, None, Language()) == promised
    study.close()


def look_at(study: Study, person: Person) -> Visit:
    found = look(study, lambda tx: visit(tx, study, person.id))
    assert found is not None
    return found


def part(study: Study, person: Person, name: str) -> StageVisit:
    return next(part for part in look_at(study, person).stages if part.stage.name == name)


def test_a_locked_part_says_what_opens_it(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate='threshold = 0.75\ndecides = "together"')
    study = open_study(tmp_path)
    new, done = Person(study, "new"), Person(study, "done")
    assert part(study, new, "work-a").message == "Locked for now. Finish “Training” first."
    assert new.next("work-a").message == "Locked for now. Finish “Training” first."
    train(done, ROUND)
    assert part(study, done, "work-a").message == (
        "You have finished “Training”. This part opens if your result qualifies you."
    )
    assert part(study, done, "work-a").counts
    study.close()


def test_a_part_that_stays_closed_is_not_among_those_to_be_finished(tmp_path: Path) -> None:
    write_protocol_study(tmp_path)
    study = open_study(tmp_path)
    fails, passes = Person(study, "fails"), Person(study, "passes")
    train(fails, 0)
    train(passes, ROUND)
    assert part(study, fails, "work-a").message == "You did not qualify in “Training”, so this part is not open to you."
    assert [one.counts for one in look_at(study, fails).stages] == [True, False, False]
    assert [one.counts for one in look_at(study, passes).stages] == [True, True, True]
    study.close()


def test_a_part_behind_one_that_stays_closed_says_why(tmp_path: Path) -> None:
    """Before, it asked people to finish a part that did not admit them."""
    assert CliRunner().invoke(app, ["new", str(tmp_path / "study"), "--template", "qasrl"]).exit_code == 0
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(
        settings.read_text("utf-8").replace("top = 30  ", "threshold = 0.5  ").replace("floor = 0.5  ", "# ")
    )
    study = open_study(tmp_path / "study")
    new, fails = Person(study, "new"), Person(study, "fails")
    for _ in range(5):
        fails.submit(fails.next("screening"), [])
    for name in ("round-1", "round-2", "writing"):
        told = part(study, fails, name).message
        assert told == "You did not qualify in “Entry test”, so this part is not open to you."
        assert not part(study, fails, name).counts
    assert part(study, new, "round-2").message == "Locked for now. Finish “Training, round 1” first."
    study.close()


@pytest.mark.parametrize(
    ("answered", "shown"),
    [
        (1, "Locked for now. Answer more questions in “Reading” first."),
        (2, "This part is for people with a better result in “Reading”."),
    ],
)
def test_a_part_that_goes_by_another_ones_answers_asks_for_more_of_them(answered: int, shown: str) -> None:
    admission = may_enter(EntrySettings(qualified_in="first", answered=2), GoldRecord(0, answered), ())
    now = Situation(State.LOCKED, Reason.NOT_ADMITTED, admission)
    # Nothing of the study is asked for: the admission has it all.
    way = way_in(cast(Study, None), now, {}, ())
    assert message(now, {"first": "Reading"}, never, way) == shown


def test_the_next_part_is_the_one_that_was_begun(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, entry="qualifications = []")
    study = open_study(tmp_path)
    person = Person(study, "ada")

    def next_name() -> str:
        part = look_at(study, person).next_part
        return "" if part is None else part.stage.name

    assert next_name() == "training"
    person.judge("yes", "work-a")
    assert next_name() == "work-a"
    person.next("work-b")
    assert next_name() == "work-b"  # they hold a question there
    study.close()


def test_a_finished_part_leads_to_the_next_and_news_come_first(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, message=None)
    study = open_study(tmp_path)
    person = Person(study, "ada")
    train(person, ROUND)
    now = look_at(study, person)
    assert following(Language(), now, lambda: pytest.fail("not needed"), "training") == {
        "title": "Continue with “Work a”",
        "url": "/stages/work-a",
        "at_once": True,
    }
    only = replace(now, stages=now.stages[:1])
    assert following(Language(), only, lambda: True, "training") == {
        "title": "Finish",
        "url": "/",
        "at_once": False,
    }
    assert following(Language(), only, lambda: False, "training") is None
    study.close()


def test_the_page_begins_with_what_to_do_and_ends_with_what_is_locked(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, round_pay="finished = 40\nexpected_seconds = 30", message=LONG)
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as client:
        client.get("/join", params={"PROLIFIC_PID": "ada", "STUDY_ID": "s", "SESSION_ID": "v"})
        client.post("/consent", data={"agree": "yes"})
        page = client.get("/").text
        assert page.index('href="/stages/training"') < page.index("Parts finished") < page.index("All parts")
        assert "part 1 of 3" in page and "0 of 3" in page and page.count("Opens later") == 2
        assert "about 2 minutes in total" in page and "about $12.00 an hour" in page and "4 items" in page
        train(Person(study, "ada"), ROUND)
        assert client.post("/api/stages/training/next", json={}).json()["following"] == {
            "title": "Read your new message",
            "url": "/#messages",
            "at_once": False,
        }
        page = client.get("/").text
        assert page.index('href="/stages/work-a"') < page.index("Your messages") < page.index("All parts")
        assert "part 2 of 3" in page and "1 of 3" in page and "You have a new message" in page
        reply = client.post("/api/stages/training/next", json={}).json()
        assert (reply["status"], reply["following"]["url"]) == ("round", "/stages/work-a")
    study.close()


def test_the_address_of_a_form_is_no_page(tmp_path: Path) -> None:
    write_protocol_study(tmp_path)
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as client:
        answer = client.get("/consent")
        assert answer.status_code == 405 and "There is no page at this address." in answer.text
        assert "Method Not Allowed" not in answer.text
    study.close()


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`")
@pytest.mark.slow
def test_one_part_leads_to_the_next_on_a_phone(chromium: Browser, tmp_path: Path) -> None:
    write_protocol_study(tmp_path / "study", round_extra="size = 1", message=LONG)
    with Site(tmp_path / "study") as site:
        scene = Scene(chromium, site)
        page = scene.page(**PHONE)
        page.goto(site.panel_link("ada"))
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Continue").tap()
        page.get_by_role("link", name="Start: Training").tap()
        page.get_by_role("button", name="Start").tap()
        expect(page.locator("#task-root")).to_contain_text("a round phrase")
        odd = re.search("phrase [13]", page.inner_text("#task-root"))
        page.locator(f"input[value={'no' if odd else 'yes'}]").check()
        page.get_by_role("button", name="Submit").tap()
        page.get_by_role("link", name="Read your new message").tap()

        start = page.get_by_role("link", name="Start: Work a")
        expect(start).to_be_visible()
        page.evaluate("scrollTo(0, 0)")
        expect(start).to_be_in_viewport()  # once it was 5,592 px down
        assert not page.evaluate(WIDER_THAN_SCREEN)
        assert not barriers(page)

        page.goto("/stages/training")
        expect(page.get_by_role("link", name="Continue with “Work a”")).to_be_focused()
        assert not barriers(page)
        page.get_by_role("button", name="Stay here").tap()
        expect(page.get_by_text("The next part opens in")).to_be_hidden()
        page.reload()
        page.wait_for_url("**/stages/work-a")
        assert scene.watch.complaints == []
        for context in chromium.contexts:
            context.close()
