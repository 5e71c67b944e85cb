"""One's own progress: what was done, and nothing that shows which items were gold."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.own_progress import OwnProgress, own_progress
from chorale.engine.running import Study
from chorale.web.app import create_app
from chorale.web.sessions import WORKER_COOKIE
from conftest import StudyMaker
from cookies import worker_cookie
from crowd import Person, do, is_gold
from protocol_study import write_protocol_study

if TYPE_CHECKING:
    from conftest import ManualClock


def progress_of(study: Study, person: Person) -> OwnProgress:
    found = do(study, own_progress, person.id)
    assert found is not None
    return found


def page_of(study: Study, person: Person) -> Any:
    client = TestClient(create_app(study), follow_redirects=False)
    client.cookies.set(WORKER_COOKIE, worker_cookie(study, person))
    return client.get("/progress")


def test_answers_time_and_days_are_counted(make_study: StudyMaker, clock: "ManualClock") -> None:
    study = make_study(applications=10)
    person, other = Person(study, "ada"), Person(study, "bo")
    for minutes in (0, 0, 24 * 60):
        clock.pass_minutes(minutes)
        offer = person.next()
        clock.pass_minutes(1)
        person.submit(offer, "yes", key=f"key-{minutes}-{offer.progress.answered}", ms=30_000)
    other.judge()
    found = progress_of(study, person)
    assert (found.answers, found.worked_ms, found.earned) == (3, 90_000, 9)
    assert [(day.answers, day.worked_ms) for day in found.days] == [(1, 30_000), (2, 60_000)]
    assert (found.days[0].day - found.days[1].day).days == 1
    [part] = [part for part in found.parts if part.visit.answered]
    assert (part.seconds_each, part.correct) == (30, None)
    page = page_of(study, person)
    assert page.status_code == 200 and "1 min 30 s" in page.text and "3 answers" in page.text
    assert "Not started" in page_of(study, Person(study, "cy")).text


@pytest.mark.parametrize("feedback", ["none", "at once"])
def test_gold_does_not_show_in_a_worker_s_own_progress(make_study: StudyMaker, feedback: str) -> None:
    """Two who differ in nothing but how they answered gold see the same."""
    study = make_study(applications=20, share=0.5, floor=0.0, feedback=feedback)
    pages = []
    for name, right in (("ada", True), ("bo", False)):
        person, met = Person(study, name), 0
        for _ in range(8):
            offer = person.next()
            assert offer.view is not None
            answer = "yes"
            if is_gold(offer):
                met += 1
                even = int(offer.view["phrase"].split()[-1]) % 2 == 0
                answer = "yes" if even == right else "no"
            person.submit(offer, answer)
        assert met > 2
        pages.append(page_of(study, person).text.replace(person.pseudonym, "w-"))
    assert pages[0] == pages[1]
    assert "correct" not in pages[0] and "gold" not in pages[0]


@pytest.mark.parametrize(("feedback", "shows"), [("at once", True), ("later", False)])
def test_correct_answers_show_where_every_answer_is_explained(
    tmp_path: Path, clock: "ManualClock", feedback: str, shows: bool
) -> None:
    write_protocol_study(tmp_path / "study", round_extra=f'feedback = "{feedback}"')
    with closing(open_study(tmp_path / "study", clock=clock)) as study:
        person = Person(study, "ada")
        for _ in range(2):
            person.judge("yes", "training")
        [part] = [part for part in progress_of(study, person).parts if part.visit.answered]
        assert (part.correct is not None) is shows
        assert (" of 2 correct" in page_of(study, person).text) is shows


def test_nobody_sees_the_progress_of_somebody_else(make_study: StudyMaker) -> None:
    study = make_study()
    person = Person(study, "ada")
    person.judge()
    stranger = TestClient(create_app(study), follow_redirects=False)
    assert stranger.get("/progress").headers["location"] == "/"
    cookie = worker_cookie(study, person)
    left = TestClient(create_app(study), follow_redirects=False)
    left.cookies.set(WORKER_COOKIE, cookie)
    left.post("/leave")
    stranger.cookies.set(WORKER_COOKIE, cookie)
    assert stranger.get("/progress").headers["location"] == "/"
