"""Submissions on Prolific on the console: approving, rejecting, returns, rejections taken back, and messages."""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from httpx2 import Response
from sqlalchemy import update
from starlette.testclient import TestClient

from chorale.engine import publishing, recruiting
from chorale.engine.deciding import Decision, Deed, handle_of, plan_decision
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.platforms.prolific import Prolific
from chorale.store import Tx, events, submissions
from chorale.store.erased import ERASED_TEXT
from chorale.store.erasing import erase_identity
from chorale.store.recruiting_schema import submission
from chorale.web.app import create_app
from chorale.web.links import new_staff_link, setup_link_path, study_sessions
from prolific_stand_in import TOKEN, StandIn, stand_in
from prolific_study import come, participant, write_prolific_study

SITE = "https://study.example.org"
PATH = "/console/recruiting/submissions"
HOSTILE = "</textarea><script>alert(1)</script>"
REASON = f"All of your answers where we know the right one were wrong, and all of them were the same answer. {HOSTILE}"


class Desk:
    """An owner at the console, with three people from Prolific who did too little."""

    def __init__(self, study: Study, client: Prolific, world: StandIn) -> None:
        self.study, self.client, self.world = study, client, world
        wanted = publishing.asked_for(study, None)
        remote = publishing.publish(study, client, wanted, publishing.draft(study, client, wanted, SITE))
        self.app = create_app(study, prolific=client, public_url=SITE)
        visitor = TestClient(self.app, base_url=SITE)
        self.there = [come(visitor, world, remote.id, number, 0) for number in (1, 2, 3)]
        for one in self.there:
            world.finish(one, "NOCODE")
        recruiting.sync(study, client)
        self.owner = TestClient(self.app, base_url=SITE)
        form = {"name": "maya", "password": "a brass band at dawn", "again": "a brass band at dawn"}
        self.owner.post(setup_link_path(study) or "", data=form)

    def chosen(self, status: str = "AWAITING REVIEW") -> list[str]:
        page = self.owner.get(PATH, params={"status": status}).text
        return re.findall(r'name="chosen" value="([0-9a-f]{16})"', page)

    def confirm(self, deed: str, chosen: list[str], **more: str) -> Response:
        form = {"key": "key-of-a-form", "deed": deed, "chosen": chosen, **more}
        return self.owner.post(f"{PATH}/confirm", data=form)

    def decide(self, deed: str, chosen: list[str], key: str = "", **more: str) -> Response:
        form = {"key": key or f"key-{deed}-once", "deed": deed, "chosen": chosen, **more}
        return self.owner.post(PATH, data=form)

    def statuses(self) -> list[str]:
        return [self.world.submissions[one]["status"] for one in self.there]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_prolific_study(tmp_path)
    study = open_study(tmp_path)
    with stand_in() as world, Prolific(TOKEN, world.address) as client:
        yield Desk(study, client, world)
    study.close()


def test_submissions_are_approved_after_a_page_that_says_what_it_pays(desk: Desk) -> None:
    page = desk.owner.get(PATH).text
    assert "Awaiting approval (3)" in page and "Submissions" in desk.owner.get("/console/recruiting").text
    chosen = desk.chosen()
    assert len(chosen) == 3
    asked = desk.confirm("approve", chosen[:2])
    assert "Approve 2 submissions?" in asked.text and "$0.10" in asked.text
    assert desk.statuses() == ["AWAITING REVIEW"] * 3, "nothing is done before it is confirmed"
    assert "Approved: 2." in desk.decide("approve", chosen[:2]).text
    assert sorted(desk.statuses()) == ["APPROVED", "APPROVED", "AWAITING REVIEW"]
    late = desk.confirm("approve", chosen)
    assert "2 of the selected submissions can no longer be decided this way" in late.text
    again = desk.decide("approve", chosen[:2], "another-key")
    assert again.status_code == 422 and "None of the selected submissions" in again.text
    kept = desk.study.store.look(lambda tx: events.recent(tx, 10, kinds=("approved",)))
    assert {one.evidence["by"] for one in kept} == {"maya"}
    assert not any(name in page + asked.text for name in (participant(1), *desk.there, "NOCODE"))


def test_a_rejection_has_a_reason_and_can_be_taken_back(desk: Desk) -> None:
    [one, *_] = desk.chosen()
    short = desk.confirm("reject", [one], text="Too bad.", category="FAILED_CHECK")
    assert short.status_code == 422 and "at least 100" in short.text and "Too bad." in short.text
    assert "is not a category" in desk.confirm("reject", [one], text=REASON, category="NOISE").text
    asked = desk.confirm("reject", [one], text=REASON, category="FAILED_CHECK")
    assert "Reject 1 submission?" in asked.text and "failed check" in asked.text
    assert "<script>alert" not in short.text + asked.text
    assert "Rejected: 1." in desk.decide("reject", [one], text=REASON, category="FAILED_CHECK").text
    assert desk.statuses().count("REJECTED") == 1
    assert desk.chosen("REJECTED") == [one] and one not in desk.chosen()
    assert "Withdraw the rejection of 1 submission?" in desk.confirm("unreject", [one], status="REJECTED").text
    assert "Rejections withdrawn: 1" in desk.decide("unreject", [one], status="REJECTED").text
    assert desk.statuses() == ["AWAITING REVIEW"] * 3


def test_returns_are_asked_for_and_messages_sent_once(desk: Desk) -> None:
    chosen = desk.chosen()
    assert "The text is empty" in desk.confirm("return", chosen, text="  ").text
    assert "Asked to return: 1." in desk.decide("return", chosen[:1], text="The page did not load for you.").text
    assert sum(one.get("return_requested") is not None for one in desk.world.submissions.values()) == 1
    before = len(desk.world.messages)
    assert "Send a message to 3 people?" in desk.confirm("message", chosen, text="We answer tomorrow.").text
    assert len(desk.world.messages) == before
    assert "Message sent." in desk.decide("message", chosen, "form-sent-twice", text="We answer tomorrow.").text
    sent = len(desk.world.messages)
    assert sent > before
    twice = desk.decide("message", chosen, "form-sent-twice", text="We answer tomorrow.")
    assert "already done" in twice.text and len(desk.world.messages) == sent
    assert desk.confirm("message", [], text="x").status_code == 422


SECOND = """
[[prolific.study]]
name = "second"
description = "Say whether more phrases mean something."
places = 5
minutes = 10
reward = 5
stages = ["meaningful"]
"""


def test_a_message_that_failed_for_one_study_does_not_go_to_the_other_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_prolific_study(tmp_path, extra=SECOND)
    with (
        closing(open_study(tmp_path)) as study,
        stand_in() as world,
        Prolific(TOKEN, world.address) as client,
    ):
        desk = Desk(study, client, world)
        wanted = publishing.asked_for(study, "second")
        remote = publishing.publish(study, client, wanted, publishing.draft(study, client, wanted, SITE))
        world.finish(come(TestClient(desk.app, base_url=SITE), world, remote.id, 4, 0), "NOCODE")
        recruiting.sync(study, client)
        chosen = desk.chosen()
        assert len(chosen) == 4
        asked = {"text": "We answer tomorrow.\n"}
        world.faults["POST /messages/bulk/"] = ["", *["fails"] * 10]
        assert desk.decide("message", chosen, "form-one", **asked).status_code >= 400
        world.faults.clear()
        first = [one["recipient_id"] for one in world.messages]
        assert sorted(first) == [participant(1), participant(2), participant(3)]
        confirmed = desk.confirm("message", chosen, **asked)
        assert (
            "Send a message to 1 person?" in confirmed.text
            and "3 of the selected submissions already got this" in confirmed.text
        )
        alone = [desk.confirm("message", [one], **asked) for one in chosen]
        assert sum("already got this message" in one.text for one in alone if one.status_code == 422) == 3
        assert "Message sent." in desk.decide("message", chosen, "form-two", **asked).text
        assert [one["recipient_id"] for one in world.messages] == [*first, participant(4)]
        # Once it has gone to all, the same words can be said again.
        assert "Send a message to 4 people?" in desk.confirm("message", chosen, **asked).text


@pytest.mark.parametrize("deed", ["approve", "reject", "return", "unreject", "message"])
def test_nothing_is_decided_about_people_who_were_erased(desk: Desk, deed: Deed) -> None:
    def erase(tx: Tx) -> list[str]:
        rows = submissions.submissions(tx)
        if deed == "unreject":
            tx.execute(update(submission).values(status="REJECTED"))
        assert rows[0].worker_id is not None
        erase_identity(tx, rows[0].worker_id, desk.study.clock())
        return [handle_of(row) for row in submissions.submissions(tx)]

    handles = desk.study.store.do(erase)
    planned = desk.study.store.look(lambda tx: plan_decision(tx, Decision(deed, frozenset(handles), REASON)))
    assert (len(planned.rows), planned.left_out) == (2, 1)
    assert ERASED_TEXT not in {row.participant for row in planned.rows}


def test_only_the_owner_decides_and_only_with_a_token(desk: Desk) -> None:
    sessions = study_sessions(desk.study)
    chosen = desk.chosen()
    link = desk.study.store.write(lambda tx: new_staff_link(tx, desk.study, sessions, "viewer", "Vi", "maya")).result()
    viewer = TestClient(desk.app, base_url=SITE)
    viewer.get(link)
    assert "Awaiting approval (3)" in viewer.get(PATH).text and 'name="chosen"' not in viewer.get(PATH).text
    form = {"key": "key-of-a-form", "deed": "approve", "chosen": chosen}
    assert viewer.post(PATH, data=form).status_code == 403
    assert TestClient(desk.app, base_url=SITE).post(PATH, data=form).status_code == 401
    for wrong in ({**form, "deed": "pay"}, {**form, "chosen": ["../x"]}, {**form, "key": ""}):
        assert desk.owner.post(PATH, data=wrong).status_code == 422
    desk.world.faults["POST /submissions/bulk-approve/"] = ["lost"]
    assert "Approved: 3." in desk.decide("approve", chosen).text, "asked again after an answer that was lost"
    without = create_app(desk.study, public_url=SITE)
    mute = TestClient(without, base_url=SITE, cookies=desk.owner.cookies)
    assert "no token for Prolific" in mute.get(PATH).text
    assert mute.post(PATH, data=form).status_code == 422
