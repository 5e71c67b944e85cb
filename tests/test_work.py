"""Leasing, submitting, gold, trust, derived stages: the engine on SQLite and PostgreSQL alike."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.engine import control, entering, gold_desk, settling, work
from chorale.engine.opening import open_study
from chorale.engine.visit import visit
from chorale.engine.work import Offer
from chorale.model import Participation, Refusal, StageState, Standing
from chorale.monitor.status import status
from chorale.protocol import Ending
from chorale.store import events, gold, labels, ledger, participations, responses, stages
from chorale.store.items import all_items, find_item, lineage
from conftest import ManualClock, StudyMaker
from crowd import Person, do, ending_for, gold_answer, is_gold, look, people, work_through
from small_study import write_small_study


def test_consent_comes_first(make_study: StudyMaker) -> None:
    study = make_study()
    arrived = do(study, entering.arrive, "prolific", "somebody", {})
    with pytest.raises(Refusal, match="consent") as refused:
        do(study, work.next_item, study.stage("meaningful"), arrived.id)
    assert refused.value.status == 403


def test_a_person_who_comes_back_is_the_same_worker(make_study: StudyMaker) -> None:
    study = make_study()
    first = do(study, entering.arrive, "prolific", "same", {})
    again = do(study, entering.arrive, "prolific", "same", {})
    other_panel = do(study, entering.arrive, "invitation", "same", {})
    assert first.id == again.id
    assert other_panel.id != first.id


def test_asking_again_gives_the_same_item(make_study: StudyMaker) -> None:
    person = Person(make_study(), "a")
    first, second = person.next(), person.next()
    assert first.lease is not None
    assert first.lease == second.lease


def test_no_item_gets_more_judgments_than_asked(make_study: StudyMaker) -> None:
    study = make_study(applications=1)
    everyone = people(study, 8)
    offers = [person.next() for person in everyone]
    # One application is two phrases with three judgments each.
    assert [offer.status for offer in offers].count("item") == 6
    assert [offer.status for offer in offers].count("wait") == 2
    for person, offer in zip(everyone, offers, strict=True):
        if offer.lease:
            person.submit(offer)
    assert Person(study, "late").next().status == "none"


def test_nobody_sees_both_sides_of_an_application(make_study: StudyMaker) -> None:
    study = make_study(applications=5)
    person = Person(study, "a")
    seen = []
    while (offer := person.next()).lease:
        seen.append(offer.view)
        person.submit(offer)
    assert len(seen) == 5
    assert person.next().status == "wait"


def test_a_lease_expires_and_frees_the_item(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=1, judgments="1")
    slow, other, third = people(study, 3)
    kept = slow.next()
    other.submit(other.next())
    assert third.next().status == "wait"
    clock.pass_minutes(31)
    freed = third.next()
    assert freed.view == kept.view
    with pytest.raises(Refusal) as refused:
        slow.submit(kept)
    assert refused.value.code == "lease_ended"
    third.submit(freed)


def test_who_needs_more_time_gets_it(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=1)
    person, stranger = people(study, 2)
    offer = person.next()
    assert offer.lease is not None
    began = clock.now
    for _ in range(13):
        clock.pass_minutes(29)
        ends = do(study, work.extend, person.id, offer.lease.token)
        assert ends == min(clock.now + 30 * 60_000, began + 330 * 60_000)
        assert do(study, work.expire_leases) == (1 if clock.now >= began + 330 * 60_000 else 0)
        if clock.now >= began + 330 * 60_000:
            break
    with pytest.raises(Refusal, match="is up"):
        do(study, work.extend, person.id, offer.lease.token)
    with pytest.raises(Refusal):
        do(study, work.extend, stranger.id, offer.lease.token)


def test_a_late_answer_is_taken_while_its_place_is_free(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=1)
    slow = Person(study, "slow")
    kept = slow.next()
    clock.pass_minutes(31)
    assert do(study, work.expire_leases) == 1
    assert slow.submit(kept).status == "accepted"
    assert look(study, stages.stage_counts)[0].judgments == 1


def test_a_returned_item_goes_to_somebody_else(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="1")
    picky, other = people(study, 2)
    offer = picky.next()
    picky.give_back(offer)
    picky.give_back(offer)
    assert picky.next().view != offer.view
    assert other.next().view == offer.view
    with pytest.raises(Refusal) as refused:
        picky.submit(offer)
    assert refused.value.code == "lease_ended"


def test_submitting_twice_is_one_response(make_study: StudyMaker) -> None:
    study = make_study()
    person = Person(study, "a")
    offer = person.next()
    assert person.submit(offer, "yes", key="first-key").status == "accepted"
    assert person.submit(offer, "yes", key="first-key").status == "already_submitted"
    # A second tab with another answer: the first stands.
    assert person.submit(offer, "no", key="other-key").status == "already_submitted"
    given = list(look(study, lambda tx: list(responses.all_responses(tx))))
    assert [(row.answer, row.counts) for row in given] == [("yes", True)]
    assert sum(line.amount for line in look(study, lambda tx: list(ledger.ledger_lines(tx)))) == 3


def test_nobody_submits_for_somebody_else(make_study: StudyMaker) -> None:
    study = make_study()
    owner, thief = people(study, 2)
    offer = owner.next()
    for attempt in (thief.submit, thief.give_back):
        with pytest.raises(Refusal) as refused:
            attempt(offer)
        assert refused.value.status == 404


def test_a_wrong_shape_is_refused_and_the_lease_kept(make_study: StudyMaker) -> None:
    person = Person(make_study(), "a")
    offer = person.next()
    for bad in ("maybe", None, 3, ["yes"], {"answer": "yes"}):
        with pytest.raises(Refusal) as refused:
            person.submit(offer, bad)
        assert refused.value.status == 422
    assert person.submit(offer, "yes").status == "accepted"


def test_gold_has_its_share_and_teaches(make_study: StudyMaker) -> None:
    study = make_study(applications=40, gold=20, share=0.1, floor=0.0)
    person = Person(study, "a")
    offers = []
    for _ in range(40):
        offer = person.next()
        if offer.lease is None:
            break
        wrong = "yes" if is_gold(offer) and gold_answer(offer) == "no" else "no"
        outcome = person.submit(offer, wrong)
        if is_gold(offer):
            assert outcome.explanation is not None
            assert outcome.explanation.startswith("The expert says so")
        else:
            assert outcome.explanation is None
        offers.append(offer)
    assert 2 <= sum(map(is_gold, offers)) <= 7
    # Sent again after the answer got lost on the way, the explanation comes again.
    gold_offer = next(offer for offer in offers if is_gold(offer))
    assert person.submit(gold_offer, "yes").explanation is not None


def test_a_dropped_worker_stops_counting_and_is_paid(make_study: StudyMaker) -> None:
    study = make_study(applications=12, gold=12, share=0.5, after=2)
    spammer, *others = people(study, 7)
    outcome = None
    while (offer := spammer.next()).lease:
        bad = ("no" if gold_answer(offer) == "yes" else "yes") if is_gold(offer) else "no"
        outcome = spammer.submit(offer, bad)
    assert outcome is not None
    assert outcome.standing == "dropped"
    assert spammer.next().status == "dropped"
    settling.settle_everything(study)
    counts = look(study, stages.stage_counts)[0]
    assert counts.judgments == 0
    assert counts.discarded > 0
    work_through(others, lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes")
    settling.settle_everything(study)
    state = look(study, lambda tx: status(tx, study))
    assert state.stages[0].complete == state.stages[0].items == 24
    assert state.stages[0].released == 24
    (dropped,) = state.dropped
    assert dropped.worker == spammer.pseudonym
    assert "0 of 2 correct" in dropped.reason
    assert dropped.paid == dropped.judgments * 3
    reasons = [event.evidence for event in look(study, lambda tx: events.recent(tx, kinds=("dropped",)))]
    assert reasons == [{"right": 0, "answered": 2, "trust": 0.0, "floor": 0.6, "after": 2, "grace": 0}]


def test_entailment_follows_from_both_sides(make_study: StudyMaker) -> None:
    study = make_study(applications=3)
    everyone = people(study, 6)

    def side(_: Person, offer: object) -> str:
        # Application 1 has a meaningless right side, application 2 a meaningless left side.
        phrase = offer.view["phrase"]  # type: ignore[attr-defined]
        return "no" if phrase in ("the crew cover the hull 1", "the crew paint the hull 2") else "yes"

    assert everyone[0].next("entailment").status == "wait"
    work_through(everyone, side)
    items = look(study, lambda tx: list(all_items(tx, "entailment")))
    assert [item.key for item in items] == ["a00000"]
    assert look(study, lambda tx: lineage(tx, items[0].id)) == [
        ("meaningful", "a00000:lhs"),
        ("meaningful", "a00000:rhs"),
    ]
    assert work_through(everyone, lambda *_: "no", "entailment") == 3


def test_a_result_that_no_longer_holds_takes_what_followed_with_it(make_study: StudyMaker) -> None:
    study = make_study(applications=1, gold=12, share=0.2, after=3)
    everyone = people(study, 8)
    liar = everyone[0]

    def answer(person: Person, offer: object) -> str:
        if is_gold(offer):  # type: ignore[arg-type]
            return gold_answer(offer)  # type: ignore[arg-type]
        return "yes"

    work_through(everyone, answer)
    assert [item.state for item in look(study, lambda tx: list(all_items(tx, "entailment")))] == ["open"]
    # As if the liar had been found out a little later.
    with_gold = study.stage("meaningful")
    do(
        study,
        lambda tx, _: tx.execute(
            text(
                "UPDATE participation SET standing = 'dropped', changes = changes + 1 "
                "WHERE worker_id = :w AND stage_id = :s"
            ),
            {"w": liar.id, "s": with_gold.id},
        ),
    )
    assert any(
        row.worker == liar.pseudonym and row.kind == "production" and row.counts is False
        for row in look(study, lambda tx: list(responses.all_responses(tx)))
    )
    settling.settle_everything(study)
    states = [item.state for item in look(study, lambda tx: list(all_items(tx, "entailment")))]
    assert states == ["withdrawn"]
    work_through([Person(study, "new"), *everyone[1:]], answer)
    states = [item.state for item in look(study, lambda tx: list(all_items(tx, "entailment")))]
    assert states == ["open"]


def test_contributors_are_kept_from_what_follows(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="1", entailment_extra="exclude_contributors = true")
    left, right, outsider = people(study, 3)
    left.judge()
    right.judge()
    assert left.next("entailment").status == "wait"
    assert right.next("entailment").status == "wait"
    assert outsider.next("entailment").status == "item"


def test_qualification_by_gold_of_an_earlier_stage(make_study: StudyMaker) -> None:
    entry = 'exclude_contributors = false\nqualified_in = "meaningful"\naccuracy = 0.75\nanswered = 2'
    study = make_study(applications=8, gold=10, share=0.5, floor=0.0, judgments="1", entailment_extra=entry)
    good, poor, new = people(study, 3)
    work_through([good], lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes")
    work_through([poor], lambda _, offer: "no" if is_gold(offer) else "yes")
    assert good.next("entailment").status == "item"
    locked = poor.next("entailment")
    assert locked.status == "locked"
    assert "people with a better result" in locked.message
    assert "Answer more questions in" in new.next("entailment").message
    entered = look(study, lambda tx: events.recent(tx, kinds=("entered",), pseudonym=good.pseudonym))
    assert {event.stage: event.evidence.get("accuracy") for event in entered}["entailment"] == 1.0


def test_judgments_between_minimum_and_maximum(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="{ min = 2, max = 4, until = 0.9 }", gold=2)
    everyone = people(study, 10)
    answers = {"lhs": iter(["yes", "yes"]), "rhs": iter(["yes", "no", "yes", "yes"])}

    def answer(_: Person, offer: object) -> str:
        phrase = offer.view["phrase"]  # type: ignore[attr-defined]
        return next(answers["lhs" if "paint" in phrase else "rhs"])

    assert work_through(everyone, answer) == 6
    lhs, rhs = look(study, lambda tx: list(all_items(tx, "meaningful")))
    assert (lhs.judgments, lhs.confidence, lhs.released) == (2, 1.0, True)
    assert (rhs.judgments, rhs.confidence, rhs.released) == (4, 0.75, True)


def test_a_paused_stage_gives_nothing_and_takes_what_is_out(make_study: StudyMaker) -> None:
    study = make_study()
    holding, asking = people(study, 2)
    offer = holding.next()
    assert do(study, control.set_stage_state, study.stage("meaningful"), StageState.PAUSED, "owner")
    assert not do(study, control.set_stage_state, study.stage("meaningful"), StageState.PAUSED, "owner")
    assert asking.next().status == "paused"
    assert holding.submit(offer).status == "accepted"
    assert holding.next().status == "paused"
    do(study, control.set_stage_state, study.stage("meaningful"), StageState.OPEN, "owner", "all is well")
    assert asking.next().status == "item"


def test_a_limit_per_worker(make_study: StudyMaker) -> None:
    person = Person(make_study(applications=6, meaningful_extra="max_per_worker = 2"), "a")
    person.judge()
    person.judge()
    assert person.next().status == "limit"


def test_fees_are_booked_to_the_cent(make_study: StudyMaker) -> None:
    study = make_study(applications=10, fee_percent=33.3)
    person = Person(study, "a")
    while person.next().lease:
        person.judge()
    totals = look(study, ledger.ledger_totals)
    assert totals == {"base": 30, "bonus": 0, "fee": 10, "model": 0}


def test_time_worked_is_what_the_page_saw_within_what_the_clock_saw(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=3)
    person = Person(study, "a")
    for claimed in (5_000, 999_999_999, None):
        offer = person.next()
        clock.pass_minutes(1)
        person.submit(offer, "yes", ms=claimed)
    durations = [row.duration_ms for row in look(study, lambda tx: list(responses.all_responses(tx)))]
    assert durations == [5_000, 60_000, 60_000]


def test_a_pilot_becomes_gold(make_study: StudyMaker) -> None:
    study = make_study(applications=2, gold=2, share=0.5, floor=0.0)
    everyone = people(study, 6)
    disputed = iter(["yes", "no", "yes"])

    def answer(_: Person, offer: object) -> str:
        if is_gold(offer):  # type: ignore[arg-type]
            return gold_answer(offer)  # type: ignore[arg-type]
        return next(disputed) if offer.view["phrase"] == "the crew paint the hull 0" else "yes"  # type: ignore[attr-defined]

    work_through(everyone, answer)
    settling.settle_everything(study)
    stage = study.stage("meaningful")
    found = look(study, lambda tx: gold_desk.candidates(tx, stage))
    assert [item.key for item in found.confusing] == ["a00000:lhs"]
    assert len(found.unanimous) == 3
    do(study, gold_desk.promote, stage, "a00000:lhs", "yes", "Hulls can be painted.", "owner")
    assert gold_desk.promote_unanimous(study, stage, "owner") == 3
    newcomer = Person(study, "new")
    assert newcomer.next().status == "none"
    golds = {row.key: row for row in look(study, lambda tx: gold.gold_items(tx, "meaningful", 1.0))}
    assert golds["a00000:lhs"].explanation == "Hulls can be painted."
    assert golds["a00000:lhs"].origin == "pilot"
    # Its own result did not change by becoming gold.
    item = look(study, lambda tx: find_item(tx, "meaningful", "a00000:lhs"))
    assert item is not None
    assert (item.released, item.is_gold) == (False, True)
    do(study, gold_desk.retire, stage, "a00000:lhs", "owner", "ambiguous after all")
    assert not look(study, lambda tx: find_item(tx, "meaningful", "a00000:lhs")).is_gold  # type: ignore[union-attr]


def test_everything_can_be_recomputed(make_study: StudyMaker) -> None:
    study = make_study(applications=6, gold=12, share=0.3, after=3, fee_percent=20)
    everyone = people(study, 9)

    def answer(person: Person, offer: object) -> str:
        right = gold_answer(offer) if is_gold(offer) else "yes"  # type: ignore[arg-type]
        return {"yes": "no", "no": "yes"}[right] if person.id % 4 == 0 else right

    for stage in ("meaningful", "entailment"):
        work_through(everyone, answer, stage)
        settling.settle_everything(study)
    checked = look(study, lambda tx: verify(tx, study))
    assert checked.differences == []
    assert checked.checked["responses"] > 50
    do(study, lambda tx, _: tx.execute(text("UPDATE item SET confidence = 0.123 WHERE key = 'a00003:lhs'")))
    assert any("a00003:lhs" in line for line in look(study, lambda tx: verify(tx, study)).differences)


def test_what_was_recorded_cannot_be_changed(make_study: StudyMaker) -> None:
    study = make_study(share=0.5, floor=0.0)
    person = Person(study, "a")
    while not look(study, lambda tx: tx.execute(text("SELECT count(*) FROM grade")).scalar()):
        person.judge()
    for table in ("response", "event", "entry", "grade"):
        for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
            with pytest.raises(Exception, match="append-only"):
                do(study, lambda tx, _, statement=statement: tx.execute(text(statement)))


def test_paying_twice_is_impossible(make_study: StudyMaker) -> None:
    study = make_study()
    Person(study, "a").judge()
    with pytest.raises(Exception, match=r"(?i)unique|uq_entry_cause"):
        do(
            study,
            lambda tx, _: tx.execute(
                text(
                    "INSERT INTO entry (cause, at, worker_id, stage_id, kind, amount, reason) "
                    "SELECT cause, at, worker_id, stage_id, kind, amount, reason FROM entry"
                )
            ),
        )


def test_the_start_page_says_what_is_open(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="1")
    first, second = people(study, 2)

    def states(person: Person) -> list[str]:
        found = look(study, lambda tx: visit(tx, study, person.id))
        assert found is not None
        return [part.state for part in found.stages]

    assert states(first) == ["available", "waiting"]
    first.judge()
    assert states(first) == ["waiting", "waiting"]
    second.judge()
    assert states(first) == ["finished", "available"]
    first.judge("no", "entailment")
    found = look(study, lambda tx: visit(tx, study, first.id))
    assert found is not None
    assert (ending_for(study, first), found.earned) == (Ending.COMPLETED, 7)


def test_who_may_finish(make_study: StudyMaker) -> None:
    study = make_study(applications=3, judgments="1", gold=6, share=0.5, after=1, floor=1.0)
    first, second = people(study, 2)

    assert ending_for(study, first, 1) is None
    work_through([first], lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes")
    assert ending_for(study, first), "nothing to do but wait for others"
    offer = second.next()
    while not is_gold(offer):
        second.submit(offer)
        assert ending_for(study, second, 1) is Ending.COMPLETED
        assert ending_for(study, second) is None
        offer = second.next()
    second.submit(offer, {"yes": "no", "no": "yes"}[gold_answer(offer)])
    assert ending_for(study, second) is Ending.REMOVED


def test_an_open_study_can_be_opened_again(make_study: StudyMaker, tmp_path: object, database: str | None) -> None:
    study = make_study(applications=2)
    Person(study, "a").judge()
    again = open_study(tmp_path / "study", database)  # type: ignore[operator]
    assert look(again, stages.stage_counts) == look(study, stages.stage_counts)
    again.close()


def test_pay_is_recomputed_at_the_rates_of_the_day(
    make_study: StudyMaker, clock: ManualClock, tmp_path: Path, database: str | None
) -> None:
    study = make_study(applications=4, fee_percent=10)
    Person(study, "a").judge()
    study.close()
    clock.pass_minutes(5)
    toml = tmp_path / "study" / "study.toml"
    toml.write_text(toml.read_text().replace("per_judgment = 3", "per_judgment = 9").replace("= 10", "= 25"))
    again = open_study(tmp_path / "study", database, clock)
    Person(again, "a").judge()
    assert look(again, ledger.ledger_totals) == {"base": 12, "bonus": 0, "fee": 3, "model": 0}
    assert look(again, lambda tx: verify(tx, again)).differences == []
    do(
        again,
        lambda tx, _: tx.execute(
            text(
                "INSERT INTO entry (cause, at, worker_id, stage_id, kind, amount, reason) "
                "SELECT 'out of thin air', at, worker_id, stage_id, kind, 100, reason FROM entry LIMIT 1"
            )
        ),
    )
    assert any("the ledger has $1.12" in line for line in look(again, lambda tx: verify(tx, again)).differences)
    again.close()


def test_a_stage_added_later_gets_what_follows_from_before(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=3)
    toml = folder / "study.toml"
    whole = toml.read_text()
    toml.write_text(whole[: whole.rindex("[[stage]]")])
    study = open_study(folder, database)
    disputed = iter(["no", "yes", "yes"])
    work_through(
        people(study, 6),
        lambda _, offer: next(disputed) if offer.view == {"phrase": "the crew paint the hull 1"} else "yes",
    )
    study.close()

    def derived(confidence: float) -> dict[str, str]:
        settings = whole.replace("confidence = 0.7 }", f"confidence = {confidence} }}")
        toml.write_text(settings.replace("[stage.gold]", "release_confidence = 0.6\n[stage.gold]", 1))
        again = open_study(folder, database)
        assert look(again, lambda tx: verify(tx, again)).differences == []
        items = look(again, lambda tx: {item.key: item.state for item in all_items(tx, "entailment")})
        again.close()
        return items

    assert derived(0.7) == {"a00000": "open", "a00002": "open"}
    assert derived(0.6) == {"a00000": "open", "a00001": "open", "a00002": "open"}
    assert derived(0.9) == {"a00000": "open", "a00001": "withdrawn", "a00002": "open"}


def test_a_changed_floor_does_not_rewrite_history(
    make_study: StudyMaker, clock: ManualClock, tmp_path: Path, database: str | None
) -> None:
    study = make_study(applications=8, gold=8, share=0.5, floor=0.6, after=2)
    work_through(people(study, 2), lambda _, offer: "yes")
    before = look(study, participations.participation_summaries)
    study.close()
    clock.pass_minutes(1)
    toml = tmp_path / "study" / "study.toml"
    toml.write_text(toml.read_text().replace("floor = 0.6", "floor = 0.1"))
    again = open_study(tmp_path / "study", database, clock)
    assert look(again, participations.participation_summaries) == before
    assert look(again, lambda tx: verify(tx, again)).differences == []
    again.close()


def test_a_dropped_workers_late_answer_takes_no_place(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=10, gold=20, share=0.5, after=1, floor=1.0)
    late = Person(study, "late")
    kept = late.next()
    while is_gold(kept):
        late.submit(kept, gold_answer(kept))
        kept = late.next()
    clock.pass_minutes(31)
    do(study, work.expire_leases)
    offer = late.next()
    while not is_gold(offer):
        late.submit(offer)
        offer = late.next()
    late.submit(offer, {"yes": "no", "no": "yes"}[gold_answer(offer)])
    assert late.next().status == "dropped"
    with pytest.raises(Refusal, match="is up"):
        late.submit(kept)
    settling.settle_everything(study)
    work_through(people(study, 8), lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes")
    settling.settle_everything(study)
    counts = look(study, stages.stage_counts)[0]
    assert counts.complete == counts.items == 20
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_a_limit_holds_for_late_answers_too(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=6, meaningful_extra="max_per_worker = 1")
    person = Person(study, "a")
    offers = []
    for _ in range(3):
        offers.append(person.next())
        clock.pass_minutes(31)
        do(study, work.expire_leases)
    assert person.submit(offers[0]).status == "accepted"
    for offer in offers[1:]:
        with pytest.raises(Refusal, match="is up"):
            person.submit(offer)


def test_who_is_dropped_in_one_stage_stops_in_the_others(make_study: StudyMaker) -> None:
    study = make_study(applications=6, judgments="1", gold=8, share=0.5, after=1, floor=1.0)
    good, bad = people(study, 2)
    work_through([good, bad], lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes")
    held = bad.next("entailment")
    assert held.status == "item"
    do(
        study,
        lambda tx, _: tx.execute(
            text(
                "UPDATE participation SET standing = 'dropped', changes = changes + 1 "
                "WHERE worker_id = :w AND stage_id = :s"
            ),
            {"w": bad.id, "s": study.stage("meaningful").id},
        ),
    )
    bad.submit(held, gold_answer(held) if is_gold(held) else "no")
    locked = bad.next("entailment")
    assert (locked.status, "has ended" in locked.message) == ("locked", True)
    assert ending_for(study, bad) is Ending.REMOVED
    assert good.next("entailment").status == "item"


def test_labels_are_looked_at_again_only_when_trust_has_changed(make_study: StudyMaker) -> None:
    study = make_study(applications=40, gold=12, share=0.5)
    person = Person(study, "a")

    def marked_after(right: bool) -> tuple[bool, Standing]:
        """Whether the next gold answer leaves something to be settled, and how they stand after it."""
        settling.settle_everything(study)
        while True:
            offer = person.next()
            known = gold_answer(offer)
            outcome = person.submit(offer, known if right else {"yes": "no", "no": "yes"}[known])
            if is_gold(offer):
                return bool(look(study, labels.unsettled)), outcome.standing

    # Before the first they were trusted by the floor; after that, being right again changes nothing.
    assert [marked_after(right=True)[0] for _ in range(3)] == [True, False, False]
    assert [marked_after(right)[0] for right in (False, True)] == [True, True]
    while (told := marked_after(right=False))[1] is Standing.ACTIVE:
        assert told[0]
    assert told == (True, Standing.DROPPED)


def test_who_was_never_right_is_dropped_and_their_labels_are_looked_at_again(make_study: StudyMaker) -> None:
    study = make_study(applications=20, gold=12, share=0.5)
    person = Person(study, "a")
    standing = Standing.ACTIVE
    while standing is Standing.ACTIVE:
        # The last of them changes no trust, which was nothing before, but whether their answers count.
        settling.settle_everything(study)
        offer = person.next()
        standing = person.submit(offer, {"yes": "no", "no": "yes"}[gold_answer(offer)]).standing
    assert look(study, labels.unsettled)


@pytest.mark.parametrize("of_gold", [False, True])
def test_who_was_dropped_stays_so_whatever_they_answer_to_what_they_hold(make_study: StudyMaker, of_gold: bool) -> None:
    study = make_study(applications=20, gold=12, share=0.5)
    person, stage = Person(study, "a"), study.stage("meaningful")

    def record() -> Participation:
        found = look(study, lambda tx: participations.participation_of(tx, stage.id, person.id))
        assert found is not None
        return found

    while is_gold(held := person.next()) != of_gold:
        person.submit(held, gold_answer(held))
    assert do(study, lambda tx, _: participations.drop(tx, stage.id, person.id))
    before = record()
    assert person.submit(held, gold_answer(held)).standing is Standing.DROPPED
    after = record()
    assert (after.standing, after.gold_answered, after.gold_right) == (
        Standing.DROPPED,
        before.gold_answered + of_gold,
        before.gold_right + of_gold,
    )


def test_gold_answered_in_two_tabs_at_once_counts_twice(make_study: StudyMaker, clock: ManualClock) -> None:
    study = make_study(applications=40, gold=60, share=0.5, floor=0.0)
    person = Person(study, "a")

    def next_gold() -> Offer:
        while not is_gold(offer := person.next()):
            person.submit(offer)
        return offer

    with ThreadPoolExecutor(2) as tabs:
        for _ in range(8):
            late = next_gold()
            clock.pass_minutes(31)
            do(study, work.expire_leases)
            both = (late, next_gold())
            assert {one.status for one in tabs.map(person.submit, both, map(gold_answer, both))} == {"accepted"}
    stage = study.stage("meaningful")
    record = look(study, lambda tx: participations.participation_of(tx, stage.id, person.id))
    assert record is not None and (record.gold_answered, record.gold_right) == (16, 16)
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_two_settlers_do_not_lose_a_change(make_study: StudyMaker) -> None:
    study = make_study(applications=4, gold=8, share=0.5, floor=0.0)
    person = Person(study, "a")
    while not look(study, labels.unsettled):
        person.submit(person.next(), "yes")
    (first,) = look(study, labels.unsettled)
    while look(study, labels.unsettled) == [first]:
        person.submit(person.next(), "yes")
    (second,) = look(study, labels.unsettled)
    # The one who began first is done last.
    do(study, lambda tx, _: labels.note_settled(tx, first))
    assert look(study, labels.unsettled) == [second]
    do(study, lambda tx, _: labels.note_settled(tx, second))
    do(study, lambda tx, _: labels.note_settled(tx, first))
    assert look(study, labels.unsettled) == []
