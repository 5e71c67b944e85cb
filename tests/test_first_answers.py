"""Forms in two steps: the first answer is stored before the server shows the rest, and stays as it is."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import work
from chorale.engine.first_answers import Revealed
from chorale.engine.forgetting import BY_REQUESTER, ErasureRequest, forget
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.work import Offer
from chorale.exchange.personal_data import personal_data
from chorale.model import Refusal
from chorale.store.workers import find_worker
from chorale.web.app import create_app
from chorale.web.sessions import WORKER_COOKIE
from conftest import ManualClock
from cookies import worker_cookie
from crowd import Person, do, look, people, tamper
from mcq_study import write_mcq_study

FIRST = {"answer_1": "option2", "answer_2": "invalid"}
RUBRIC = {
    f"{name}_{number}": level
    for number in (1, 2)
    for name, level in (("answerable", "yes"), ("reading", "whole"), ("creative", "very"), ("distracting", "no"))
}
WHOLE = {**FIRST, **RUBRIC}


@pytest.fixture
def study(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Study]:
    opened = open_study(write_mcq_study(tmp_path / "study", answer_first=True), database, clock)
    yield opened
    opened.close()


def answer_first(person: Person, offer: Offer, answer: Any = None) -> Revealed:
    assert offer.lease is not None
    return do(person.study, work.answer_first, person.id, offer.lease.token, FIRST if answer is None else answer)


def secrets_in(view: Any) -> list[str]:
    return [name for name in view if name.startswith(("right", "why"))]


def test_the_key_comes_after_the_first_answer_and_stays(study: Study) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    assert offer.first is not None and offer.first.answer is None and offer.first.fields == ("answer_1", "answer_2")
    assert offer.view is not None and not secrets_in(offer.view)
    revealed = answer_first(person, offer)
    assert (revealed.status, revealed.first) == ("stored", FIRST)
    assert revealed.view["right_1"] == "a" and revealed.view["why_2"] == "May is a month of spring."
    # Whoever comes back sees what they answered and the key, on any device.
    again = person.next("grade")
    assert again.first is not None and again.first.answer == FIRST and again.view == revealed.view
    assert person.submit(again, WHOLE).status == "accepted"
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_what_was_answered_first_cannot_change(study: Study) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    answer_first(person, offer)
    other = {"answer_1": "option1", "answer_2": "option1"}
    assert answer_first(person, offer, other)[:2] == ("already_stored", FIRST)
    assert answer_first(person, offer, "nonsense").status == "already_stored"
    with pytest.raises(Refusal, match="can't be changed") as refused:
        person.submit(offer, {**WHOLE, **other})
    assert refused.value.code == "invalid_answer"
    person.submit(offer, WHOLE)
    assert answer_first(person, offer, other).first == FIRST
    assert person.submit(offer, {**WHOLE, **other}).status == "already_submitted"


@pytest.mark.parametrize(
    "answer", [{}, {"answer_1": "option1"}, {**FIRST, "answer_2": "z"}, WHOLE, "a", [], {**FIRST, "x": 1}]
)
def test_a_first_answer_that_is_none_shows_nothing(study: Study, answer: Any) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    with pytest.raises(Refusal) as refused:
        answer_first(person, offer, answer)
    assert refused.value.code == "invalid_answer"
    assert not secrets_in(person.next("grade").view)


def test_a_whole_answer_without_a_first_one_is_refused(study: Study) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    with pytest.raises(Refusal, match="Answer the first part") as refused:
        person.submit(offer, WHOLE)
    assert refused.value.code == "invalid_answer"


def test_only_who_holds_an_item_can_answer_it_first(study: Study, clock: ManualClock) -> None:
    ada, eve = people(study, 2)
    offer = ada.next("grade")
    with pytest.raises(Refusal) as refused:
        answer_first(eve, offer)
    assert refused.value.status == 404
    clock.pass_minutes(31)
    do(study, work.expire_leases)
    with pytest.raises(Refusal) as late:
        answer_first(ada, offer)
    assert late.value.code == "lease_ended"
    with pytest.raises(Refusal) as in_one:
        answer_first(eve, eve.next("validate"))
    assert in_one.value.code == "one_step"


def test_a_late_answer_keeps_its_first_part(study: Study, clock: ManualClock) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    answer_first(person, offer)
    clock.pass_minutes(31)
    do(study, work.expire_leases)
    with pytest.raises(Refusal, match="can't be changed"):
        person.submit(offer, {**WHOLE, "answer_1": "option1"})
    assert person.submit(offer, WHOLE).status == "accepted"


def test_of_many_first_answers_at_once_one_is_stored(study: Study) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    answers = [{"answer_1": f"option{number % 4 + 1}", "answer_2": "invalid"} for number in range(12)]
    with ThreadPoolExecutor(12) as pool:
        stored = list(pool.map(lambda answer: answer_first(person, offer, answer), answers))
    assert [one.status for one in stored].count("stored") == 1
    assert len({str(one.first) for one in stored}) == 1


def test_the_table_only_grows_and_is_erased_with_its_worker(study: Study) -> None:
    person = Person(study, "ada")
    offer = person.next("grade")
    answer_first(person, offer)
    with pytest.raises(DBAPIError, match="append-only"):
        do(study, lambda tx, _: tx.execute(text("UPDATE first_answer SET answer = '{}'")))
    with pytest.raises(DBAPIError, match="append-only"):
        do(study, lambda tx, _: tx.execute(text("DELETE FROM first_answer")))

    def copy(tx: Any, study: Study) -> dict[str, Any]:
        worker = find_worker(tx, person.id)
        assert worker is not None
        return personal_data(tx, study, worker, "maya")

    [given] = do(study, copy)["first_answers"]
    assert given["answer"] == FIRST and given["stage"] == "grade"
    person.submit(offer, WHOLE)
    forget(study, person.id, ErasureRequest(BY_REQUESTER, answers=True, even_unpaid=True))
    assert look(study, lambda tx: tx.execute(text("SELECT answer FROM first_answer")).scalars().all()) == ["null"]
    assert look(study, lambda tx: verify(tx, study)).differences == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("DELETE FROM first_answer", "has no first answer stored before it"),
        ("UPDATE first_answer SET at = at + 99999999999", "has a first answer stored after it"),
        ("UPDATE first_answer SET answer = replace(answer, 'option2', 'option1')", "differs from the first answer"),
    ],
)
def test_verify_finds_first_answers_that_were_tampered_with(
    tmp_path: Path, clock: ManualClock, change: str, found: str
) -> None:
    study = open_study(write_mcq_study(tmp_path / "study", answer_first=True), None, clock)
    person = Person(study, "ada")
    offer = person.next("grade")
    answer_first(person, offer)
    person.submit(offer, WHOLE)
    tamper(study, change)
    [difference] = look(study, lambda tx: verify(tx, study)).differences
    assert found in difference and person.pseudonym in difference
    study.close()


def test_verify_asks_for_no_first_answers_in_work_that_was_imported(tmp_path: Path, clock: ManualClock) -> None:
    study = open_study(write_mcq_study(tmp_path / "study", answer_first=True), None, clock)
    person = Person(study, "ada")
    offer = person.next("grade")
    answer_first(person, offer)
    person.submit(offer, WHOLE)
    # As `chorale import` writes it: an assignment with a token of its own, and no first answer.
    tamper(study, "DELETE FROM first_answer")
    tamper(study, "UPDATE assignment SET token = 'imported-' || id")
    found = look(study, lambda tx: verify(tx, study))
    assert found.differences == []
    note = "whether the first step was answered before the second in grade: it has 1 imported answer, given elsewhere"
    assert note in found.unchecked
    study.close()


def test_nothing_the_site_sends_has_the_key_before(tmp_path: Path) -> None:
    study = open_study(write_mcq_study(tmp_path / "study", answer_first=True))
    with TestClient(create_app(study), follow_redirects=False) as client:
        client.cookies.set(WORKER_COOKIE, worker_cookie(study, Person(study, "ada")))
        offered = client.post("/api/stages/grade/next", json={})
        token = offered.json()["assignment"]["id"]
        early = client.post(
            f"/api/assignments/{token}/submit", json={"key": "key-00000001", "answer": WHOLE, "duration_ms": 1}
        )
        wrong = client.post(f"/api/assignments/{token}/first", json={"answer": {"answer_1": "option1"}})
        assert (early.status_code, wrong.status_code) == (422, 422)
        for reply in (offered, early, wrong, client.get("/"), client.get("/stages/grade")):
            assert "May is a month" not in reply.text and '"right_1":' not in reply.text
        for status in ("stored", "already_stored"):
            revealed = client.post(f"/api/assignments/{token}/first", json={"answer": FIRST}).json()
            assert revealed["status"] == status and revealed["item"]["why_2"] == "May is a month of spring."
        back = client.post("/api/stages/grade/next", json={}).json()["assignment"]
        assert back["first"]["answer"] == FIRST and back["item"]["right_1"] == "a"
    study.close()
