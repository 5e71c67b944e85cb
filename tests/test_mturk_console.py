"""HITs on the console: listed, seen as a worker sees them, reviewed and paid, one by one and together."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.kits.mturk.market import perform, working
from chorale.kits.mturk.market.operations import Call
from chorale.kits.mturk.store import keys
from chorale.store import ledger, messages
from chorale.web.app import create_app
from chorale.web.links import setup_link_path, staff_link_path, study_sessions
from conftest import ManualClock
from crowd import Person, do, look
from turk import FORM, HTML_QUESTION, PROPERTIES, write_market

PATH = "/console/recruiting/hits"


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


@pytest.fixture
def study(tmp_path: Path, clock: ManualClock) -> Iterator[Study]:
    write_market(tmp_path / "study", pay="budget = 1000\nfee_percent = 20")
    opened = open_study(tmp_path / "study", clock=clock)
    yield opened
    assert look(opened, lambda tx: verify(tx, opened)).differences == []
    opened.close()


@pytest.fixture
def owner(study: Study) -> Iterator[TestClient]:
    with TestClient(create_app(study), base_url="https://testserver") as client:
        given = {"name": "Olga", "password": "a long password", "again": "a long password"}
        assert client.post(setup_link_path(study) or "", data=given).status_code == 200
        yield client


def ask(study: Study, operation: str, **given: Any) -> dict[str, Any]:
    call = Call(operation, json.loads(json.dumps(given)), f"{study.secrets.random()}")
    body: dict[str, Any] = do(study, perform, call).body
    return body


def make_hit(study: Study, **more: Any) -> str:
    given = {**PROPERTIES, "LifetimeInSeconds": 360_000, "Question": HTML_QUESTION, "MaxAssignments": 9, **more}
    return str(ask(study, "CreateHIT", **given)["HIT"]["HITId"])


def answered(study: Study, hit: str, *names: str) -> list[str]:
    """Assignments of a HIT, submitted by these people."""
    made = []
    for name in names:
        assignment = do(study, working.accept, Person(study, name).id, hit)
        do(study, working.submit, assignment, [("colour", f"blue <b>{name}</b>"), ("sure", "very")])
        made.append(assignment)
    return made


def states(study: Study, hit: str) -> list[str]:
    found = ask(study, "ListAssignmentsForHIT", HITId=hit, MaxResults=100)["Assignments"]
    return [one["AssignmentStatus"] for one in found]


def form_of(page: str) -> dict[str, Any]:
    """The hidden fields of the form that confirms a review."""
    fields: dict[str, Any] = {"chosen": re.findall(r'name="chosen" value="(\w+)"', page)}
    return fields | dict(re.findall(r'type="hidden" name="(key|hit|deed|amount|reason)" value="([^"]*)"', page))


def review(owner: TestClient, deed: str, **given: Any) -> Any:
    """Choose, and confirm."""
    asked = owner.post(f"{PATH}/answers/confirm", data={"key": f"form-{deed}-{len(given)}", "deed": deed, **given})
    assert asked.status_code == 200, asked.text
    return owner.post(f"{PATH}/answers", data=form_of(asked.text))


def test_hits_are_listed_with_what_is_not_checked_and_their_answers(study: Study, owner: TestClient) -> None:
    asked = [{"QualificationTypeId": "00000000000000000071", "Comparator": "In", "LocaleValues": [{"Country": "US"}]}]
    hit = make_hit(study, QualificationRequirements=asked)
    answered(study, hit, "ada")
    page = owner.get(PATH).text
    assert f'href="{PATH}/{hit}"' in page and "The locale requirement is not checked" in page
    page = owner.get(f"{PATH}/{hit}").text
    assert "blue &lt;b&gt;ada&lt;/b&gt;" in page and "locale: In US" in page
    assert "The locale requirement is not checked" in page
    assert "blue &lt;b&gt;ada" in owner.get(f"{PATH}/answers").text
    assert owner.get(f"{PATH}/3NOBODY").status_code == 404


def test_a_hit_is_seen_as_a_worker_sees_it(study: Study, owner: TestClient) -> None:
    page = owner.get(f"{PATH}/{(hit := make_hit(study))}/preview")
    assert "It cannot be submitted here" in page.text and "Accept this task" not in page.text
    frame = re.search(r'data-src="([^"]+)"', page.text)
    assert frame is not None and "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in frame[1]
    assert "allow-same-origin" not in page.text
    shown = owner.get(frame[1].replace("&amp;", "&"))
    assert "Which colour is the sea?" in shown.text
    assert shown.headers["content-security-policy"].startswith("sandbox ")
    form = make_hit(study, Question=FORM)
    assert "What is two and two?" in owner.get(f"{PATH}/{form}/frame").text
    outside = "<ExternalQuestion><ExternalURL>https://survey.example/x</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
    elsewhere = owner.get(f"{PATH}/{make_hit(study, Question=outside)}/preview")
    assert "https://survey.example/x?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in elsewhere.text
    assert "frame-src 'self' https://survey.example" in elsewhere.headers["content-security-policy"]
    assert owner.get(f"{PATH}/{hit}/frame").status_code == 200
    with TestClient(create_app(study), base_url="https://testserver") as stranger:
        assert stranger.get(f"{PATH}/{hit}/frame", follow_redirects=False).status_code == 303


def test_answers_are_approved_together_once_and_only_after_confirming(study: Study, owner: TestClient) -> None:
    hit = make_hit(study)
    names = answered(study, hit, "ada", "ben", "cleo")
    given = {"key": "form-one-key", "deed": "approve", "hit": hit, "chosen": names[:2]}
    asked = owner.post(f"{PATH}/answers/confirm", data=given)
    assert "Approve 2 answers?" in asked.text and "$0.50" in asked.text
    assert states(study, hit) == ["Submitted"] * 3
    for _ in range(2):
        done = owner.post(f"{PATH}/answers", data=form_of(asked.text))
        assert done.status_code == 200
    assert states(study, hit) == ["Approved", "Approved", "Submitted"]
    assert look(study, ledger.ledger_totals)["base"] == 50
    # The rest, wherever it is, without naming it; what was approved is not approved again.
    done = review(owner, "approve", everything="yes")
    assert "Approved, and booked in the ledger: 1." in done.text
    assert look(study, ledger.ledger_totals)["base"] == 75
    nothing = owner.post(f"{PATH}/answers/confirm", data={"key": "form-two-key", "deed": "approve", "chosen": names})
    assert nothing.status_code == 422 and "Select an answer that is not approved yet." in nothing.text


def test_answers_are_rejected_with_a_reason_and_approved_after_all(study: Study, owner: TestClient) -> None:
    hit = make_hit(study)
    [name] = answered(study, hit, "ada")
    given = {"key": "form-one-key", "deed": "reject", "hit": hit, "chosen": name}
    without = owner.post(f"{PATH}/answers/confirm", data=given)
    assert without.status_code == 422 and "Enter a reason" in without.text
    assert f'value="{name}" data-answer checked' in without.text
    done = review(owner, "reject", hit=hit, chosen=name, reason="The sea is not <b>that</b>")
    assert "Rejected: 1." in done.text and states(study, hit) == ["Rejected"]
    assert "reviewed: reject" in owner.get("/console/activity").text
    review(owner, "approve", chosen=name)
    assert states(study, hit) == ["Approved"]
    written = look(study, messages.all_messages)
    assert [one.title for one in written] == ["Your work is accepted after all"]


def test_bonuses_are_paid_once_within_the_budget(study: Study, owner: TestClient) -> None:
    hit = make_hit(study)
    names = answered(study, hit, "ada", "ben")
    done = review(owner, "bonus", hit=hit, chosen=names, amount="1.50", reason="Careful work")
    assert "Bonuses booked in the ledger: 2." in done.text and "bonus $1.50" in done.text
    assert look(study, ledger.ledger_totals)["bonus"] == 300
    for amount, reason, message in (
        ("a lot", "x", "is not a valid amount"),
        ("0", "x", "at least 0.01"),
        ("1", " ", "Enter a reason"),
    ):
        given = {"key": "form-two-key", "deed": "bonus", "chosen": names, "amount": amount, "reason": reason}
        refused = owner.post(f"{PATH}/answers/confirm", data=given)
        assert refused.status_code == 422 and message in refused.text
    given = {"key": "form-two-key", "deed": "bonus", "chosen": names, "amount": "90", "reason": "x"}
    beyond = owner.post(f"{PATH}/answers/confirm", data=given)
    assert "The budget does not cover this" in beyond.text and " disabled>" in beyond.text
    forced = owner.post(f"{PATH}/answers", data=form_of(beyond.text))
    assert forced.status_code == 422 and "budget" in forced.text
    assert look(study, ledger.ledger_totals)["bonus"] == 300
    none = owner.post(f"{PATH}/answers/confirm", data={"key": "form-two-key", "deed": "approve"})
    assert none.status_code == 422 and "Select at least one answer." in none.text


def test_viewers_see_answers_and_review_nothing(study: Study, owner: TestClient) -> None:
    hit = make_hit(study)
    [name] = answered(study, hit, "ada")
    with TestClient(create_app(study), base_url="https://testserver") as viewer:
        viewer.get(staff_link_path(study_sessions(study), "viewer", "Vera"))
        page = viewer.get(f"{PATH}/{hit}")
        assert page.status_code == 200 and "Approve" not in page.text and "blue &lt;b&gt;ada" in page.text
        given = {"key": "form-one-key", "deed": "approve", "chosen": name}
        assert viewer.post(f"{PATH}/answers/confirm", data=given).status_code == 403
        assert viewer.post(f"{PATH}/answers", data=given).status_code == 403
    assert states(study, hit) == ["Submitted"]


def test_an_owner_creates_and_revokes_access_keys_and_sees_a_secret_once(study: Study, owner: TestClient) -> None:
    assert "No keys yet" in owner.get(PATH).text
    made = owner.post(f"{PATH}/keys", data={"name": " laptop "}).text
    key = re.search(r"aws_access_key_id = (CHORALE\w{13})\naws_secret_access_key = ([\w-]{40})", made)
    assert key is not None and look(study, partial(keys.secret_of, access_key=key[1])) == key[2]
    page = owner.get(PATH).text
    assert key[1] in page and key[2] not in page and "in use" in page
    without = owner.post(f"{PATH}/keys/revoke", data={"key": key[1], "reason": " "})
    assert without.status_code == 422 and "Enter a reason" in without.text
    revoked = owner.post(f"{PATH}/keys/revoke", data={"key": key[1], "reason": "the laptop is lost"}).text
    assert f"The key {key[1]} is revoked" in revoked and "in use" not in revoked
    assert look(study, partial(keys.secret_of, access_key=key[1])) is None
    assert owner.post(f"{PATH}/keys/revoke", data={"key": key[1], "reason": "again"}).status_code == 422
    log = owner.get("/console/activity").text
    assert "the laptop is lost" in log and "Olga" in log and key[2] not in log
    assert owner.post(f"{PATH}/keys", data={"name": "\t"}).status_code == 422


def test_viewers_see_keys_but_cannot_create_or_revoke_them(study: Study, owner: TestClient) -> None:
    owner.post(f"{PATH}/keys", data={"name": "laptop"})
    with TestClient(create_app(study), base_url="https://testserver") as viewer:
        viewer.get(staff_link_path(study_sessions(study), "viewer", "Vera"))
        page = viewer.get(PATH).text
        assert "laptop" in page and "Create a key" not in page and "Revoke" not in page
        key = re.search(r"CHORALE\w{13}", page)
        assert key is not None
        assert viewer.post(f"{PATH}/keys", data={"name": "mine"}).status_code == 403
        assert viewer.post(f"{PATH}/keys/revoke", data={"key": key[0], "reason": "no"}).status_code == 403
    assert look(study, partial(keys.secret_of, access_key=key[0])) is not None
