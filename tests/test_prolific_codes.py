"""With which code people go back to Prolific, and how they are paid for it: quizzes, gates, HITs, coming again."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import payouts, publishing, recruiting
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.kits.mturk.api.requests import read_request
from chorale.kits.mturk.market.making import create_hit
from chorale.kits.mturk.market.stage import market_of
from chorale.kits.mturk.market.working import accept, submit
from chorale.platforms.prolific import Prolific, RefusedError
from chorale.protocol import Ending, PartDone, ending
from chorale.store import Tx, workers
from chorale.web.app import create_app
from prolific_stand_in import TOKEN, StandIn, stand_in
from prolific_study import participant
from protocol_study import write_protocol_study
from turk import HTML_QUESTION, PROPERTIES, write_market

SITE = "https://study.example.org"
TABLE = """
[prolific]
[[prolific.study]]
name = "main"
description = "A short test, and then work."
places = 20
minutes = 10
reward = 50
"""


@pytest.fixture
def world() -> Iterator[StandIn]:
    with stand_in() as running:
        yield running


class Scene:
    """A study's site, and Prolific."""

    def __init__(self, study: Study, site: TestClient, world: StandIn, client: Prolific) -> None:
        self.study, self.site, self.world, self.client = study, site, world, client
        wanted = publishing.asked_for(study, None)
        drafted = publishing.draft(study, client, wanted, SITE)
        publishing.publish(study, client, wanted, drafted)
        self.id = drafted.remote.id
        self.done, self.out = (one["code"] for one in world.studies[self.id]["completion_codes"])

    def come(self, number: int) -> str:
        submission = self.world.arrive(self.id, participant(number))
        self.site.cookies.clear()
        visit = {"PROLIFIC_PID": participant(number), "STUDY_ID": self.id, "SESSION_ID": submission}
        assert self.site.get("/join", params=visit).status_code == 200
        self.site.post("/consent", data={"agree": "yes"})
        return submission

    def answer(self, stage: str, choose: Callable[[str], str], most: int = 99) -> int:
        """Answer items of a stage until there are none; how many."""
        for count in range(most):
            offer = self.site.post(f"/api/stages/{stage}/next").json()
            if offer["status"] != "item":
                return count
            token, text = offer["assignment"]["id"], json.dumps(offer["assignment"]["item"])
            body = {"key": f"key-{token}"[:60], "answer": choose(text)}
            assert self.site.post(f"/api/assignments/{token}/submit", json=body).status_code == 200
        return most

    def codes(self) -> list[str]:
        page = self.site.get("/").text
        return [name for name, code in (("done", self.done), ("out", self.out)) if code in page]

    def sync(self) -> recruiting.Synced:
        return recruiting.sync(self.study, self.client)


@contextmanager
def scene(folder: Path, world: StandIn) -> Iterator[Scene]:
    study = open_study(folder)
    with Prolific(TOKEN, world.address) as client, TestClient(create_app(study)) as site:
        yield Scene(study, site, world, client)
        assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


def right(text: str) -> str:
    number = int(re.findall(r"\d+", text)[-1])
    return "no" if number % 2 else "yes"


def wrong(text: str) -> str:
    return {"no": "yes", "yes": "no"}[right(text)]


def yes(_text: str) -> str:
    return "yes"


def test_a_failed_quiz_gives_the_screen_out_code_and_never_the_completion_code(tmp_path: Path, world: StandIn) -> None:
    write_protocol_study(tmp_path, message=None, extra=TABLE)
    with scene(tmp_path, world) as here:
        failed = here.come(1)
        for _ in range(4):
            assert here.codes() == [], "a quiz that is not finished is no finished work"
            here.answer("training", wrong, 1)
        assert here.codes() == ["out"]
        page = here.site.get("/").text
        assert "This study ends here for you" in page
        assert "finished everything" not in page, "they did not pass"
        assert "You still receive the full reward of $0.50." in page
        world.finish(failed, here.out)
        passed = here.come(2)
        here.answer("training", right)
        here.answer("work-a", yes, 1)
        assert here.codes() == ["done"]
        world.finish(passed, here.done)
        assert here.sync().approved == 2
        assert {world.submissions[one]["status"] for one in (failed, passed)} == {"APPROVED"}
        here.sync()
        [message] = [one for one in world.messages if one["recipient_id"] == participant(1)]
        assert "You did not qualify for the next part" in message["body"]


def test_work_that_was_accepted_counts_whatever_quiz_is_failed_later(tmp_path: Path, world: StandIn) -> None:
    """Before, somebody who had worked and then failed an optional quiz got the screen-out code."""
    write_protocol_study(tmp_path, judgments="2", message=None, extra=TABLE)
    settings = tmp_path / "study.toml"
    # The first of the two stages is open to everybody.
    settings.write_text(settings.read_text().replace('qualifications = ["trained"]\n', "", 1))
    with scene(tmp_path, world) as here:
        worked = here.come(1)
        here.answer("work-a", yes)
        assert here.codes() == ["done"]
        here.answer("training", wrong)
        assert here.codes() == ["done"], "nothing is left for them, and their work was accepted"
        world.finish(worked, here.done)
        here.come(2)
        here.answer("work-a", yes, 3)
        here.answer("training", wrong)
        assert here.codes() == ["done"], "they could do more, and need not"
        here.come(3)
        here.answer("training", wrong)
        assert here.codes() == [], "they only failed, and there is work that they can do"
        here.answer("work-a", yes)
        assert here.codes() == ["done"]
        assert here.sync().approved == 1
        assert world.submissions[worked]["status"] == "APPROVED"


def test_people_who_fail_are_paid_the_fixed_amount_and_the_rest_as_a_bonus(tmp_path: Path, world: StandIn) -> None:
    fixed = 'screenout = "fixed"\nscreenout_reward = 5\nscreenout_slots = 7\n'
    write_protocol_study(tmp_path, message=None, extra=TABLE + fixed)
    with scene(tmp_path, world) as here:
        actions = world.studies[here.id]["completion_codes"][1]["actions"]
        assert actions == [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 5, "slots": 7}]
        failed = here.come(1)
        here.answer("training", wrong)
        assert "Prolific pays you $0.05 for your time." in here.site.get("/").text
        world.finish(failed, here.out)
        no_code = here.come(2)
        here.answer("training", wrong)
        world.finish(no_code, "NOCODE")
        synced = here.sync()
        assert (synced.approved, len(synced.waiting)) == (0, 1), "who forgot the code is for the requester to decide"
        books = here.study.store.look(lambda tx: payouts.books(tx, here.study))
        # Four answers at 2 cents, of which Prolific paid 5.
        assert [(one.account.owed, one.why_not) for one in books.due if one.submission is not None] == [(3, None)]
        payouts.pay_by_prolific(here.study, here.client)
        assert world.bonuses_of(participant(1)) == 3


def test_a_workspace_without_fixed_payments_is_told_what_to_set(tmp_path: Path, world: StandIn) -> None:
    world.refused_actions.add("FIXED_SCREEN_OUT_PAYMENT")
    write_protocol_study(tmp_path, message=None, extra=TABLE + 'screenout = "fixed"\nscreenout_reward = 5\n')
    refused = pytest.raises(RefusedError, match="Only some workspaces have fixed screen-out payments")
    with refused, scene(tmp_path, world):
        pass


def test_people_whom_a_gate_leaves_without_a_score_have_not_failed(tmp_path: Path, world: StandIn) -> None:
    fixed = 'screenout = "fixed"\nscreenout_reward = 5\n'
    write_protocol_study(tmp_path, gate='threshold = 0.75\ndecides = "together"', message=None, extra=TABLE + fixed)
    with scene(tmp_path, world) as here:
        here.come(1)
        here.answer("training", right, 2)
        here.study.store.do(lambda tx: close_gate(tx, here.study, here.study.gates["trained"], "me"))
        assert here.codes() == ["done"], "the gate closed before they could finish"


def test_people_who_are_asked_to_return_are_not_approved(tmp_path: Path, world: StandIn) -> None:
    write_protocol_study(tmp_path, message=None, extra=TABLE + 'screenout = "return"\n')
    with scene(tmp_path, world) as here:
        failed = here.come(1)
        here.answer("training", wrong)
        world.finish(failed, here.out)
        assert "asks you to return your submission" in here.site.get("/").text
        assert here.sync().approved == 0
        world.submissions[failed]["status"] = "RETURNED"
        here.sync()
        payouts.pay_by_prolific(here.study, here.client)
        assert world.bonuses_of(participant(1)) == 8, "what they earned here"


def test_hits_count_as_work(tmp_path: Path, world: StandIn) -> None:
    write_market(tmp_path)
    with (tmp_path / "study.toml").open("a") as file:
        file.write(TABLE)
    with scene(tmp_path, world) as here:
        given = {
            **PROPERTIES,
            "MaxAssignments": 2,
            "LifetimeInSeconds": 3600,
            "Question": HTML_QUESTION,
            "QualificationRequirements": [],
        }

        def put_up(tx: Tx) -> str:
            request = read_request("CreateHIT", given)
            return str(create_hit(market_of(tx, here.study), request)["HIT"]["HITId"])

        hits = [here.study.store.do(put_up) for _ in range(2)]
        submission = here.come(1)
        assert here.codes() == []

        def work(tx: Tx) -> None:
            worker = workers.find_by_identity(tx, "prolific", participant(1))
            assert worker is not None
            name = accept(tx, here.study, worker.id, hits[0])
            assert submit(tx, here.study, name, [("colour", "blue")])

        here.study.store.do(work)
        assert here.codes() == ["done"], "one HIT is enough by default, although there is another"
        assert '<a class="button" href="/">Finish</a>' in here.site.get(f"/hits/{hits[0]}").text
        assert ">Finish</a>" not in here.site.get(f"/hits/{hits[1]}").text
        world.finish(submission, here.done)
        assert here.sync().approved == 1
        idle = here.come(2)
        world.finish(idle, "NOCODE")
        assert here.sync().approved == 0


def test_somebody_who_comes_again_works_again(tmp_path: Path, world: StandIn) -> None:
    write_protocol_study(tmp_path, entry="", message=None, extra=TABLE + "submissions_per_person = 3\n")
    with scene(tmp_path, world) as here:
        assert world.studies[here.id]["submissions_config"]["max_submissions_per_participant"] == 3
        first = here.come(1)
        here.answer("work-a", yes, 2)
        assert here.codes() == ["done"]
        world.finish(first, here.done)
        assert here.sync().approved == 1
        second = here.come(1)
        assert here.codes() == [], "what they did before was for the first submission"
        world.finish(second, here.done)
        assert here.sync().approved == 0
        here.answer("work-a", yes, 1)
        assert here.codes() == ["done"]
        assert here.sync().approved == 1


SECOND_TEST = """
[[stage]]
name = "test"
title = "Test"
task = "rules-meaningful"
guidelines = "guidelines.md"
round = { file = "test.jsonl", feedback = "later" }
pay = { per_judgment = 2 }
[[gate]]
name = "tested"
stage = "test"
threshold = 0.75
[[stage]]
name = "later"
title = "Later"
task = "rules-entailment"
guidelines = "guidelines.md"
items = { from = "work-a" }
judgments = 1
pay = { per_judgment = 2 }
entry = { qualifications = ["tested"] }
"""


def test_the_study_does_not_end_for_people_who_wait_for_another_part(tmp_path: Path, world: StandIn) -> None:
    """They failed one test, passed another, and read that the study ends for them and that a part will open."""
    write_protocol_study(tmp_path, message=None, extra=SECOND_TEST + TABLE)
    rounds = (tmp_path / "round.jsonl").read_text("utf-8")
    (tmp_path / "test.jsonl").write_text(rounds.replace("a round phrase", "a test phrase"), "utf-8")
    with scene(tmp_path, world) as here:
        here.come(1)
        here.answer("training", wrong)
        assert here.codes() == [], "there is another test"
        here.answer("test", right)
        page = here.site.get("/").text
        assert "This study ends here for you" not in page
        assert "the next parts are not open to you" not in page
        assert "You can finish here" in page
        assert here.codes() == ["done"]
        here.come(2)
        here.answer("training", wrong)
        here.answer("test", wrong)
        assert "This study ends here for you" in here.site.get("/").text
        assert here.codes() == ["out"]


@pytest.mark.parametrize(
    ("parts", "after", "ends"),
    [
        ([], 1, None),
        ([PartDone(3, True)], 3, Ending.COMPLETED),
        ([PartDone(2, True)], 3, None),
        ([PartDone(1, False)], 3, Ending.COMPLETED),
        ([PartDone(2, True, is_round=True)], 1, None),
        ([PartDone(4, False, is_round=True), PartDone(0, True)], 1, Ending.COMPLETED),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(0, False)], 1, Ending.NOT_PASSED),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(0, True)], 1, None),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(1, True)], 1, Ending.COMPLETED),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(1, True)], 3, None),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(1, False)], 3, Ending.COMPLETED),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(4, False, True)], 1, Ending.NOT_PASSED),
        (
            [PartDone(4, False, True, Ending.NOT_PASSED), PartDone(4, False, True), PartDone(0, False, waits=True)],
            1,
            Ending.COMPLETED,
        ),
        (
            [PartDone(4, False, True, Ending.NOT_PASSED), PartDone(2, True, True), PartDone(0, False, waits=True)],
            1,
            None,
        ),
        ([PartDone(4, False, True, Ending.NOT_PASSED), PartDone(0, False, waits=True)], 1, Ending.NOT_PASSED),
        ([PartDone(4, False, True), PartDone(9, False, False, Ending.REMOVED)], 1, Ending.REMOVED),
        ([PartDone(5, False), PartDone(9, False, False, Ending.REMOVED)], 1, Ending.COMPLETED),
        ([PartDone(0, False, False, Ending.REMOVED)], 1, None),
    ],
)
def test_how_a_part_in_a_study_ends(parts: list[PartDone], after: int, ends: Ending | None) -> None:
    assert ending(parts, after) is ends
