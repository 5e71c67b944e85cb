"""What a worker may do in a stage: decided once, so that the start page, the next item and late answers agree."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import managing, work
from chorale.engine.control import set_stage_state
from chorale.engine.gates import close_gate
from chorale.engine.managing import Act
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.visit import StageVisit, parts_for
from chorale.model import REMOVED_BY_QUALITY, Refusal, StageState, Standing
from chorale.monitor.worker_record import worker_record
from chorale.protocol import (
    Admission,
    Ending,
    Facts,
    Reason,
    Situation,
    State,
    after_held_item,
    always,
    for_late_answer,
    never,
    situation,
)
from chorale.protocol.situation_words import LAST_BEFORE_PAUSE, LAST_OF_ALL, MESSAGES, RESULT_FOLLOWS, message
from chorale.store import participations, responses
from chorale.store.memory import MemoryStore
from chorale.web.app import create_app
from conftest import ManualClock, StudyMaker
from crowd import Person, do, ending_for, look, people
from protocol_study import write_protocol_study
from protocol_world import Somebody, World
from random_study import Drawn, studies
from small_study import write_small_study
from test_protocol_properties import walk, worlds

ADMITTED = Admission(True, "open to everyone", {})
REFUSED = Admission(False, "removed from `first`", {"dropped_from": ["first"]})
OPEN = Facts(lambda: ADMITTED, always, always, never)


def of(**changed: Any) -> Situation:
    return situation(OPEN._replace(**changed))


# The rules, and their order

HINDRANCES: tuple[tuple[dict[str, Any], State, Reason], ...] = (
    ({"consented": False}, State.NO_CONSENT, Reason.NO_CONSENT),
    ({"removal": Reason.BELOW_GOLD}, State.REMOVED, Reason.BELOW_GOLD),
    ({"holds_item": True}, State.AVAILABLE, Reason.HOLDS_ITEM),
    ({"round_size": 5}, State.FINISHED, Reason.ROUND_FINISHED),
    ({"ended": True}, State.FINISHED, Reason.ENDED),
    ({"admission": lambda: REFUSED}, State.LOCKED, Reason.NOT_ADMITTED),
    ({"paused": True}, State.PAUSED, Reason.PAUSED),
    ({"max_per_worker": 5}, State.LIMIT, Reason.LIMIT),
    ({"within_budget": never}, State.PAUSED, Reason.BUDGET),
)


@pytest.mark.parametrize("number", range(len(HINDRANCES)))
def test_every_rule_comes_before_all_that_follow(number: int) -> None:
    changed, state, reason = HINDRANCES[number]
    together = {name: value for each, _, _ in reversed(HINDRANCES[number:]) for name, value in each.items()}
    for facts in (changed, together):
        now = of(answered=5, **facts)
        assert (now.state, now.reason) == (state, reason)


def test_without_a_hindrance_it_goes_by_what_there_is_to_do() -> None:
    assert of() == Situation(State.AVAILABLE, Reason.HAS_ROOM)
    assert of(has_room=never, more_may_come=always).state is State.WAITING
    # Money matters only where there is something to pay for.
    assert of(has_room=never, within_budget=never, answered=1) == Situation(State.FINISHED, Reason.NOTHING_LEFT)
    # Who has done nothing is not thanked for it.
    assert of(has_room=never, within_budget=never) == Situation(State.FINISHED, Reason.TOO_LATE)
    assert "hank" not in MESSAGES[Reason.TOO_LATE]
    assert of(has_room=never, round_size=3).reason is Reason.ROUND_FINISHED
    # Who has done nothing in a stage that has ended reads why it is closed to them.
    assert of(ended=True, admission=lambda: REFUSED).state is State.LOCKED


def test_what_costs_a_query_is_asked_only_where_it_decides() -> None:
    def costly() -> bool:
        raise AssertionError("nobody needed to know")

    unknown = {"has_room": costly, "within_budget": costly, "more_may_come": costly}
    for changed, state, _ in HINDRANCES[:-1]:
        assert of(answered=5, **{**unknown, **changed}).state is state
    assert of(more_may_come=costly).state is State.AVAILABLE
    assert of(has_room=never, within_budget=costly).state is State.FINISHED


def test_a_pause_does_not_stop_late_answers_and_all_else_does() -> None:
    for changed, _, reason in HINDRANCES:
        taken = for_late_answer(OPEN._replace(answered=5, **changed)).state is State.AVAILABLE
        assert taken == (reason in {Reason.PAUSED, Reason.HOLDS_ITEM}), reason


def test_what_follows_a_held_item_is_what_anybody_else_would_find() -> None:
    held = OPEN._replace(holds_item=True, answered=4)
    assert after_held_item(held).reason is Reason.HAS_ROOM
    assert after_held_item(held._replace(max_per_worker=5)).reason is Reason.LIMIT
    assert after_held_item(held._replace(paused=True)).state is State.PAUSED


def test_workers_read_titles_and_no_words_of_the_protocol() -> None:
    locked = situation(OPEN._replace(admission=lambda: REFUSED))
    assert message(locked, {"first": "Reading"}, never) == (
        "This part is not open to you, because your work in “Reading” has ended."
    )
    assert {*MESSAGES} == {*Reason} - {Reason.NOT_ADMITTED}
    shown = " ".join((*MESSAGES.values(), LAST_BEFORE_PAUSE, LAST_OF_ALL, RESULT_FOLLOWS)).lower()
    assert not {"gold", "gate", "stage", "trust", "arm", "lease", "item"}.intersection(re.findall(r"\w+", shown))


# Who holds an item may finish it


def part(study: Study, person: Person, stage: str) -> StageVisit:
    [found] = look(study, lambda tx: list(parts_for(tx, study, person.id, [stage])))
    return found


def pause(study: Study, stage: str) -> None:
    do(study, set_stage_state, study.stage(stage), StageState.PAUSED, "the test")


def test_who_holds_an_item_of_a_paused_stage_finishes_it(make_study: StudyMaker) -> None:
    study = make_study()
    holds, comes = people(study, 2)
    held = holds.next()
    pause(study, "meaningful")
    seen = part(study, holds, "meaningful")
    assert (seen.state, seen.message) == (State.AVAILABLE, LAST_BEFORE_PAUSE)
    assert holds.next().lease == held.lease
    assert holds.submit(held).status == "accepted"
    for person in (holds, comes):
        assert part(study, person, "meaningful").state is State.PAUSED
        assert person.next().status == "paused"


def test_an_item_held_in_a_paused_stage_keeps_nobody_from_finishing(make_study: StudyMaker) -> None:
    study = make_study()
    holds, new = people(study, 2)

    holds.judge()
    holds.next()
    new.next()
    assert ending_for(study, holds) is None, "there is more to do"
    pause(study, "meaningful")
    assert part(study, holds, "meaningful").state is State.AVAILABLE
    assert ending_for(study, holds) is Ending.COMPLETED
    assert ending_for(study, new) is None, "who has answered nothing has nothing to be paid for"


@pytest.fixture
def short(tmp_path: Path) -> Iterator[Study]:
    """A study whose budget covers the rounds of two people and their work, and hardly more."""
    write_protocol_study(tmp_path, pay="budget = 40\nfee_percent = 0", items=2, gate="threshold = 0.0")
    study = open_study(tmp_path)
    yield study
    study.close()


def spend(study: Study) -> Person:
    """Work until the budget covers no item but one that somebody holds; who that is, in `work-b`."""
    first, second, third = people(study, 3)
    for person in (first, second, third):
        while (offer := person.next("training")).lease is not None:
            person.submit(offer)
    for person in (first, second):
        while (offer := person.next("work-a")).lease is not None:
            person.submit(offer)
    # 16 is left for items at 3: the fifth is the last that the budget covers.
    while third.next("work-b").status == "item" and first.next("work-b").status == "item":
        first.submit(first.next("work-b"))
    return third


def test_who_holds_the_last_item_a_budget_covers_finishes_it(short: Study) -> None:
    holds = spend(short)
    seen = part(short, holds, "work-b")
    assert (seen.state, seen.message) == (State.AVAILABLE, LAST_BEFORE_PAUSE)
    held = holds.next("work-b")
    assert held.status == "item"
    holds.submit(held)
    assert part(short, holds, "work-b").state is State.PAUSED
    assert holds.next("work-b").status == "paused"


def test_who_holds_an_item_of_a_round_that_has_ended_finishes_it(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate="top_share = 1.0")
    study = open_study(tmp_path)
    done, holds = people(study, 2)
    while (offer := done.next("training")).lease is not None:
        done.submit(offer)
    held = holds.next("training")
    do(study, close_gate, study.gates["trained"], "the test")
    seen = part(study, holds, "training")
    assert (seen.state, seen.message) == (State.AVAILABLE, LAST_OF_ALL)
    holds.submit(held)
    assert part(study, holds, "training").situation == Situation(State.FINISHED, Reason.ENDED)
    ended = holds.next("training")
    assert (ended.status, ended.message) == ("locked", MESSAGES[Reason.ENDED])
    study.close()


def test_who_was_removed_holds_nothing(make_study: StudyMaker) -> None:
    study = make_study()
    person = Person(study, "a")
    held = person.next()
    stage = study.stage("meaningful")
    assert do(study, lambda tx, _: participations.drop(tx, stage.id, person.id))
    assert part(study, person, "meaningful").state is State.REMOVED
    assert person.next().status == "dropped"
    # What they still had in their browser is paid, and does not count.
    assert person.submit(held).standing is Standing.DROPPED
    assert [row.counts for row in look(study, lambda tx: list(responses.all_responses(tx)))] == [False]


def test_workers_read_why_they_were_removed_and_no_other_reason(make_study: StudyMaker) -> None:
    """Also in a stage with gold, where others are removed for their gold accuracy."""
    study = make_study()
    stage = study.stage("meaningful")
    assert stage.settings.gold is not None
    by_hand, by_quality, by_gold = (Person(study, name) for name in "abc")
    for person in (by_hand, by_quality, by_gold):
        person.next()
    do(study, managing.end_work, by_hand.pseudonym, stage, Act("maya", "spam", "key-number-1"))
    do(study, lambda tx, _: participations.drop(tx, stage.id, by_quality.id, REMOVED_BY_QUALITY))
    do(study, lambda tx, _: participations.drop(tx, stage.id, by_gold.id))
    reasons = (Reason.REMOVED_BY_STAFF, Reason.BELOW_QUALITY, Reason.BELOW_GOLD)
    for person, reason in zip((by_hand, by_quality, by_gold), reasons, strict=True):
        assert part(study, person, "meaningful").situation == Situation(State.REMOVED, reason)
        assert person.next().message == MESSAGES[reason]


def test_a_late_answer_of_a_removed_worker_is_refused(make_study: StudyMaker, clock: ManualClock) -> None:
    # Nothing but their own removal keeps them out: being removed elsewhere is no hindrance here.
    study = make_study(meaningful_extra="entry = { exclude_dropped = false }")
    person, stage = Person(study, "late"), study.stage("meaningful")
    kept = person.next()
    clock.pass_minutes(31)
    assert do(study, work.expire_leases) == 1
    do(study, managing.end_work, person.pseudonym, stage, Act("maya", "spam", "key-number-1"))
    with pytest.raises(Refusal, match="ended for you") as refused:
        person.submit(kept)
    assert refused.value.code == "lease_ended"
    assert look(study, lambda tx: list(responses.all_responses(tx))) == []
    record = look(study, lambda tx: participations.participation_of(tx, stage.id, person.id))
    assert record is not None and (record.answered, record.earned) == (0, 0)
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_a_late_answer_is_taken_in_a_paused_stage(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study()
    person = Person(study, "late")
    kept = person.next()
    clock.pass_minutes(31)
    assert do(study, work.expire_leases) == 1
    pause(study, "meaningful")
    assert person.submit(kept).status == "accepted"


def test_the_console_shows_what_a_worker_may_do(make_study: StudyMaker) -> None:
    study = make_study()
    person = Person(study, "a")
    person.next()
    pause(study, "meaningful")

    def now() -> list[Situation | None]:
        worker = look(study, lambda tx: managing.worker_called(tx, person.pseudonym))
        return [line.situation for line in look(study, lambda tx: worker_record(tx, study, worker)).standings]

    assert now() == [Situation(State.AVAILABLE, Reason.HOLDS_ITEM)]
    person.submit(person.next())
    assert now() == [Situation(State.PAUSED, Reason.PAUSED)]


# The same over HTTP


def join(study: Study, name: str) -> TestClient:
    client = TestClient(create_app(study), follow_redirects=False)
    client.get("/join", params={"PROLIFIC_PID": name})
    client.post("/consent", data={"agree": "yes"})
    return client


LINK = 'class="button button-primary" href="/stages/{}"'


def test_the_page_links_to_what_somebody_holds_in_a_paused_stage(tmp_path: Path) -> None:
    write_small_study(tmp_path)
    study = open_study(tmp_path)
    holds, comes = (join(study, name) for name in ("a", "b"))
    token = holds.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"]
    pause(study, "meaningful")
    page = holds.get("/").text
    assert LINK.format("meaningful") in page and LAST_BEFORE_PAUSE in page
    assert LINK.format("meaningful") not in comes.get("/").text
    assert comes.post("/api/stages/meaningful/next", json={}).json()["status"] == "paused"
    assert holds.post("/api/stages/meaningful/next", json={}).json()["assignment"]["id"] == token
    sent = {"key": "key-00000001", "answer": "yes"}
    assert holds.post(f"/api/assignments/{token}/submit", json=sent).json()["status"] == "accepted"
    assert LINK.format("meaningful") not in holds.get("/").text
    study.close()


def test_the_page_links_to_the_last_item_a_budget_covers(short: Study) -> None:
    spend(short)
    client = TestClient(create_app(short), follow_redirects=False)
    client.get("/join", params={"PROLIFIC_PID": "person-2"})
    page = client.get("/").text
    assert LINK.format("work-b") in page and LAST_BEFORE_PAUSE in page
    token = client.post("/api/stages/work-b/next", json={}).json()["assignment"]["id"]
    sent = {"key": "key-00000001", "answer": "yes"}
    assert client.post(f"/api/assignments/{token}/submit", json=sent).json()["status"] == "accepted"
    assert LINK.format("work-b") not in client.get("/").text
    assert client.post("/api/stages/work-b/next", json={}).json()["status"] == "paused"


# Whatever the study, and whatever people do


def asked(world: World, person: Somebody, name: str) -> tuple[str, str]:
    """What somebody would get if they asked for an item: the status and the message. Tried in a copy."""
    store = world.study.store
    assert isinstance(store, MemoryStore)
    study = replace(world.study, store=store.copy())
    offer = do(study, work.next_item, study.stage(name), person.id)
    study.close()
    return offer.status, offer.message


def pages_agree(world: World) -> set[Reason]:
    """Compare everybody's start page with what they would get in each stage; what came up."""
    # A site does this every few seconds; pages only read.
    do(world.study, work.expire_leases)
    met = set()
    for person in world.people:
        for seen in look(world.study, lambda tx, one=person: list(parts_for(tx, world.study, one.id))):  # type: ignore[misc]
            status, words = asked(world, person, seen.stage.name)
            assert (seen.state == "available") == (status == "item"), (seen.situation, status)
            assert status == "item" or words == seen.message
            met.add(seen.situation.reason)
    return met


def paused_at_times(world: World, seed: int, length: int) -> set[Reason]:
    """Let people work while stages are paused and resumed, and compare after every step."""
    met: set[Reason] = set()
    names = list(world.study.stages)
    for number, (step, (_, _, how)) in enumerate(pairwise(walk(seed, length + 1))):
        world.take(step)
        if number % 3 == 0:
            state = (StageState.PAUSED, StageState.OPEN)[how % 2]
            do(world.study, set_stage_state, world.study.stage(names[how % len(names)]), state, "maya", "the test")
        elif number % 3 == 1:
            # And leave it: then there is something to hold when the stage is paused or the money is gone.
            world.ask(world.people[how % len(world.people)], how)
        met |= pages_agree(world)
    return met


FEW = settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@settings(FEW, max_examples=4)
@given(studies(), st.integers(0, 10**9))
def test_a_page_says_available_exactly_where_there_is_an_item(drawn: Drawn, seed: int) -> None:
    with worlds(drawn) as [world]:
        paused_at_times(world, seed, 20)


@settings(FEW, max_examples=1)
@given(st.just(Drawn(budget=0, finished=11, needs_round=False, judgments=2, items=4)))
def test_pages_and_items_agree_while_stages_pause_and_money_runs_out(drawn: Drawn) -> None:
    with worlds(drawn) as [world]:
        met = paused_at_times(world, 0, 30)
    assert met >= {Reason.HOLDS_ITEM, Reason.HAS_ROOM, Reason.PAUSED, Reason.BUDGET, Reason.MORE_MAY_COME}


@pytest.mark.slow
@settings(FEW, max_examples=100, derandomize=False)
@given(studies(), st.integers(0, 10**9))
def test_pages_and_items_agree_in_many_more_studies(drawn: Drawn, seed: int) -> None:
    with worlds(drawn) as [world]:
        paused_at_times(world, seed, 60)
