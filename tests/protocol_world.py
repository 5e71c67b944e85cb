"""A random study with random people in it: what they do, what must hold all the time, and doing it all again."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.engine import entering
from chorale.engine import work as working
from chorale.engine.advancing import advance
from chorale.engine.gates import close_gate, survey
from chorale.engine.opening import bring_in
from chorale.engine.running import RunningGate, Study
from chorale.engine.settling import settle_everything
from chorale.engine.visit import visit
from chorale.engine.work import Offer
from chorale.folder.reading import load_folder
from chorale.model import AssignmentKind, Refusal
from chorale.protocol.gates import CRITERION
from chorale.store import (
    Store,
    Tx,
    assignments,
    events,
    gates,
    grades,
    items,
    ledger,
    messages,
    offering,
    participations,
    responses,
    workers,
)
from chorale.store.arms import arm_of, arms_by_worker
from crowd import do, look
from random_study import RUBRIC, TONES, right_tone

Step = tuple[int, int, int]
_ENTERED = "SELECT 1 FROM participation WHERE worker_id = :w AND stage_id = :s"
_LAST = "SELECT kind, answer, duration_ms FROM response ORDER BY id DESC LIMIT 1"


class Time:
    def __init__(self, tick: int = 0) -> None:
        self.now = 1_800_000_000_000
        self._tick = tick

    def __call__(self) -> int:
        self.now += self._tick
        return self.now


@dataclass
class Somebody:
    id: int
    skill: int
    expert: bool = False
    offers: list[tuple[str, Offer]] = field(default_factory=list)
    """Every item they ever got, and in which stage."""


class World:
    """A study that people work in. What they did is kept, to be done again."""

    def __init__(self, folder: Path, store: Store, secrets: int = 5, tick: int = 0) -> None:
        """`tick`: by how many milliseconds time goes on whenever somebody looks at the clock."""
        self.folder = load_folder(folder)
        self.clock = Time(tick)
        self.secrets = Random(secrets)
        self.study = self._opened(store)
        self.people: list[Somebody] = []
        self.log: list[tuple[Any, ...]] = []

    def _opened(self, store: Store) -> Study:
        return replace(bring_in(self.folder, store, self.clock), secrets=self.secrets)

    # What happens

    def take(self, step: Step) -> None:
        what, who, how = step
        self.clock.now += 1000 if how % 3 else 0
        if len(self.people) < 3:
            self.come(how)
        acts: tuple[Callable[[Somebody, int], object], ...] = (
            lambda _, n: self.come(n),
            self.work_on,
            self.work_on,
            self.work_on,
            self.work_on,
            self.finish_round,
            self.finish_round,
            self.ask,
            self.put_aside,
            self.send_old,
            self.send_twice,
            lambda _, n: self.wait(n),
            lambda _, n: self.close(n),
            lambda *_: self.advance(),
            lambda *_: self.settle(),
            lambda *_: self.reopen(),
            self.come_back_late,
        )
        acts[what % len(acts)](self.people[who % len(self.people)], how)

    def come(self, how: int) -> None:
        if len(self.people) > 9:
            return
        expert = how % 4 == 0
        name = f"p{len(self.people)}"
        if expert:
            worker = do(self.study, entering.arrive_as_expert, name)
        else:
            worker = do(self.study, entering.arrive, ("prolific", "two")[how % 2], name, {})
            do(self.study, entering.consent, worker.id)
        self.people.append(Somebody(worker.id, how % 5, expert))
        self.log.append(("come", self.clock.now, name, expert, ("prolific", "two")[how % 2], worker.pseudonym))

    def ask(self, one: Somebody, how: int) -> Offer | None:
        """Ask for an item in one of the parts on their page, or in any."""
        seen = look(self.study, lambda tx: visit(tx, self.study, one.id))
        assert seen is not None
        open_to = [part.stage.name for part in seen.stages if part.state == "available"]
        names = open_to if open_to and how % 7 else list(self.study.stages)
        stage = names[how % len(names)]
        offer = self._next(one, stage)
        if offer.lease is None:
            return None
        if all(offer.lease.token != known.lease.token for _, known in one.offers if known.lease):
            one.offers.append((stage, offer))
        return offer

    def _next(self, one: Somebody, stage: str) -> Offer:
        """The next item. Who asks has entered the stage, also without an answer, and gates decide about them too."""
        offer = do(self.study, working.next_item, self.study.stage(stage), one.id)
        if look(
            self.study, lambda tx: tx.execute(text(_ENTERED), {"w": one.id, "s": self.study.stage(stage).id}).first()
        ):
            self.log.append(("enter", self.clock.now, one.id, stage))
        return offer

    def work_on(self, one: Somebody, how: int) -> None:
        for number in range(1 + how % 5):
            offer = self.ask(one, how + number)
            if offer is not None:
                self.send(one, self._stage_of(one, offer), offer, how + 2 * number)

    def finish_round(self, one: Somebody, how: int) -> None:
        for number in range(4):
            offer = self._next(one, "training")
            if offer.lease is None:
                return
            one.offers.append(("training", offer))
            self.send(one, "training", offer, how + number)

    def _stage_of(self, one: Somebody, offer: Offer) -> str:
        token = offer.lease.token if offer.lease else ""
        return next(stage for stage, known in one.offers if known.lease and known.lease.token == token)

    def send(self, one: Somebody, stage: str, offer: Offer, how: int) -> bool:
        """Answer an item: the better ones are right more often."""
        assert offer.lease is not None
        assert offer.view is not None
        well = how % 5 >= one.skill
        if stage == "grading":
            answer: dict[str, str] = {"quality": RUBRIC[how % 3]}
        elif stage == "review":
            answer = {"agree": "yes" if well else "no"}
        else:
            right = right_tone(offer.view)
            answer = {"tone": right if well else TONES[1 - TONES.index(right)]}
        over = look(self.study, lambda tx: self._is_over(tx, stage, offer))
        try:
            outcome = do(self.study, working.submit, one.id, offer.lease.token, answer, "key-00000001", 700)
        except Refusal:
            return False
        if outcome.status == "accepted":
            assert not over, f"an answer to {stage} was taken after its gate had closed"
            self._note(one, stage, offer)
        return True

    def _is_over(self, tx: Tx, stage: str, offer: Offer) -> bool:
        """Whether the time for an item has run out, and a gate has ended its stage."""
        assert offer.lease is not None
        token = {"token": offer.lease.token}
        state = tx.execute(text("SELECT state FROM assignment WHERE token = :token"), token).scalar()
        return state != "live" and bool(gates.closed_gates(tx).intersection(self.study.stage(stage).closed_by))

    def _note(self, one: Somebody, stage: str, offer: Offer) -> None:
        assert offer.lease is not None
        last = look(self.study, lambda tx: tx.execute(text(_LAST)).one())
        told = (one.id, stage, offer.lease.item_key, last.kind, json.loads(last.answer), last.duration_ms)
        self.log.append(("answer", self.clock.now, *told))

    def put_aside(self, one: Somebody, how: int) -> None:
        offer = self.ask(one, how)
        if offer is not None and offer.lease is not None:
            do(self.study, working.give_back, one.id, offer.lease.token)

    def send_old(self, one: Somebody, how: int) -> None:
        """Send an answer to something they once got, whatever became of it."""
        if one.offers:
            self.send(one, *one.offers[how % len(one.offers)], how)

    def come_back_late(self, one: Somebody, how: int) -> None:
        """Let the time for an item run out, and answer it when more has happened."""
        offer = self.ask(one, how)
        if offer is None:
            return
        stage = self._stage_of(one, offer)
        self.clock.now += 31 * 60_000
        do(self.study, working.expire_leases)
        for number in range(3):
            self.finish_round(self.people[(how + number) % len(self.people)], how + number)
        for name in self.study.stage(stage).closed_by if how % 2 else ():
            self._close(self.study.gates[name])
        self.finish_round(one, how)
        self.send(one, stage, offer, how)

    def send_twice(self, one: Somebody, how: int) -> None:
        offer = self.ask(one, how)
        if offer is not None:
            stage = self._stage_of(one, offer)
            self.send(one, stage, offer, how)
            self.send(one, stage, offer, how + 1)

    def wait(self, how: int) -> None:
        self.clock.now += (5, 31, 200)[how % 3] * 60_000
        if how % 2:
            do(self.study, working.expire_leases)

    def close(self, how: int) -> None:
        gate = list(self.study.gates.values())[how % len(self.study.gates)]
        if gate.settings.decides_each:
            return
        # Mostly only when there is somebody to decide about.
        if how % 8 and not look(self.study, lambda tx: survey(tx, self.study, gate).candidates):
            return
        self._close(gate)

    def _close(self, gate: RunningGate) -> None:
        if gate.name in look(self.study, gates.closed_gates):
            return
        self.settle()
        try:
            do(self.study, close_gate, gate, "the test")
        except Refusal:
            return
        self.log.append(("close", self.clock.now, gate.name))

    def advance(self) -> None:
        self.settle()
        before = look(self.study, gates.closed_gates)
        do(self.study, advance)
        for name in sorted(look(self.study, gates.closed_gates) - before):
            self.log.append(("close", self.clock.now, name))
        self.log.append(("advance", self.clock.now))

    def settle(self) -> None:
        settle_everything(self.study)
        self.log.append(("settle", self.clock.now))

    def reopen(self) -> None:
        """Opened again, as after a restart."""
        self.clock.now += 1
        before = look(self.study, gates.closed_gates)
        self.study = self._opened(self.study.store)
        for name in sorted(look(self.study, gates.closed_gates) - before):
            self.log.append(("close", self.clock.now, name))
        self.log.append(("advance", self.clock.now))

    # What holds

    def check(self) -> None:
        settle_everything(self.study)
        self.log.append(("settle", self.clock.now))
        look(self.study, self._check)

    def _check(self, tx: Tx) -> None:
        self._check_work(tx)
        self._check_pages(tx)
        self._check_money(tx)
        self._check_evidence(tx)
        differences = verify(tx, self.study).differences
        assert not differences, differences

    def _check_work(self, tx: Tx) -> None:
        held = {(row.worker, row.name): row.granted_at for row in gates.qualifications(tx)}
        arms = arms_by_worker(tx)
        names = {row.id: row.pseudonym for row in tx.execute(text("SELECT id, pseudonym FROM worker"))}
        given = tx.execute(text("SELECT stage_id, worker_id, leased_at, item_id, state FROM assignment")).all()
        ancestors = _ancestors(tx)
        answered = {(row.worker_id, row.item_id) for row in given if row.state == "submitted"}
        ended = gates.closing_times(tx)
        for row in given:
            for gate in self.study.stage_by_id(row.stage_id).closed_by:
                assert row.leased_at <= ended.get(gate, row.leased_at), f"work was given out after {gate} had closed"
            stage, worker = self.study.stage_by_id(row.stage_id).settings, names[row.worker_id]
            for needed in stage.entry.qualifications:
                assert held[worker, needed] <= row.leased_at, f"{worker} got work in {stage.name} without {needed}"
            assert not stage.arms or arms[worker] in stage.arms, f"{worker} saw {stage.name}"
            own = {source for source in ancestors[row.item_id] if (row.worker_id, source) in answered}
            assert not own, f"{worker} got something in {stage.name} that came from their own work"
        for stage_id, limit in ((one.id, one.settings.max_per_worker) for one in self.study.stages.values()):
            if limit is not None:
                counts = tx.execute(text("SELECT answered FROM participation WHERE stage_id = :s"), {"s": stage_id})
                assert all(count <= limit for (count,) in counts)
        size = self.study.stage("training").round_size or 0
        training = {"s": self.study.stage("training").id}
        counts = tx.execute(text("SELECT answered FROM participation WHERE stage_id = :s"), training)
        assert all(count <= size for (count,) in counts)

    def _check_pages(self, tx: Tx) -> None:
        for one in self.people:
            seen = visit(tx, self.study, one.id)
            assert seen is not None
            arm = arm_of(tx, one.id)
            for part in seen.stages:
                assert not part.stage.settings.arms or arm in part.stage.settings.arms
                if part.stage.round_size is not None and part.state == "finished":
                    ended = not gates.closed_gates(tx).isdisjoint(part.stage.closed_by)
                    assert part.answered == part.stage.round_size or (ended and part.answered)

    def _check_money(self, tx: Tx) -> None:
        """The ledger is the sum of the rules, counted in another way than the engine does."""
        owed: dict[tuple[str, str], int] = defaultdict(int)
        counted: dict[tuple[str, str], int] = defaultdict(int)
        met: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for response in responses.all_responses(tx):
            at = (response.worker, response.stage)
            stage = self.study.stage(response.stage)
            counted[at] += 1
            owed[at] += stage.settings.pay.per_judgment
            if response.kind == AssignmentKind.GOLD:
                met[at].append(response.answer == response.gold_answer)
                rule = stage.settings.gold.bonus if stage.settings.gold else None
                if rule is not None and len(met[at]) % rule.of == 0:
                    owed[at] += rule.amount if sum(met[at][-rule.of :]) >= rule.right else 0
        closed = gates.closed_gates(tx)
        for at, count in counted.items():
            stage = self.study.stage(at[1])
            if stage.round_size is not None:
                # Whoever is cut off by a gate has their part, also of what they held and sent later.
                done = Fraction(count, stage.round_size)
                owed[at] += ceil(
                    stage.settings.pay.finished * (done if closed.intersection(stage.closed_by) else int(done))
                )
        for name, gate in self.study.gates.items():
            for verdict in gates.verdicts(tx, name):
                owed[verdict.worker, gate.settings.stage[-1]] += gate.settings.bonus * verdict.passed
        paid: dict[tuple[str, str], int] = defaultdict(int)
        fees: dict[tuple[str, str], int] = defaultdict(int)
        for line in ledger.ledger_lines(tx):
            (fees if line.kind == "fee" else paid)[line.worker, line.stage] += line.amount
        assert {at: amount for at, amount in owed.items() if amount} == dict(paid)
        pay, panel = self.study.settings.pay, self.study.settings.arrival.panel
        panels = workers.panels(tx)
        for at, amount in paid.items():
            percent = pay.fee_percent if panels[at[0]] == panel else 0
            assert abs(fees[at] - amount * percent / 100) <= 0.5 + 1e-9
        budget = self.study.settings.pay.budget
        assert budget is None or sum(paid.values()) + sum(fees.values()) <= budget

    def _check_evidence(self, tx: Tx) -> None:
        told = {
            (event.evidence["gate"], event.worker): event.evidence
            for event in events.recent(tx, 10_000, kinds=("passed", "not passed"))
        }
        verdicts = gates.verdicts(tx)
        assert {(row.gate, row.worker) for row in verdicts} == set(told)
        for row in verdicts:
            evidence = told[row.gate, row.worker]
            if not row.has_score:
                assert not row.passed and evidence["reason"]
                continue
            assert evidence["score"] == row.score
            assert {"needed", "rank", "of", "average", "rule", "grades", "reason"} <= set(evidence)
            asked = self.study.gates[row.gate].settings.criteria
            marks = {name: evidence[f"{CRITERION} {name}"] for name in asked}
            able = all(marks[name] is not None and marks[name] >= least for name, least in asked.items())
            assert row.passed == (able and evidence["score"] >= evidence["needed"])
        closed = {event.evidence["gate"]: event.evidence for event in events.recent(tx, kinds=("gate closed",))}
        assert set(closed) == gates.closed_gates(tx)
        for name, evidence in closed.items():
            mine = [row for row in verdicts if row.gate == name]
            scored = sum(row.has_score for row in mine)
            assert (evidence["scored"], evidence["passed"]) == (scored, sum(row.passed for row in mine))
            assert evidence["without_score"] == len(mine) - scored
            assert evidence["by"]
            assert evidence["rule"]["name"] == name

    # Once more

    def state(self) -> dict[str, Any]:
        """All that is derived."""
        return look(self.study, self._state)

    def _state(self, tx: Tx) -> dict[str, Any]:
        return {
            "verdicts": [(row.gate, row.worker, row.score, row.passed) for row in gates.verdicts(tx)],
            "qualifications": gates.qualifications(tx),
            "arms": arms_by_worker(tx),
            "labels": {
                (item.stage, item.key): (
                    item.state,
                    item.answer,
                    item.confidence,
                    item.judgments,
                    item.released,
                    item.sampled,
                )
                for stage in self.study.stages
                for item in items.all_items(tx, stage)
            },
            "grades": [(row.response_id, row.source, row.score, row.criteria) for row in grades.all_grades(tx)],
            "ledger": sorted((line.cause, line.worker, line.stage, line.amount) for line in ledger.ledger_lines(tx)),
            "messages": sorted((row.worker, row.cause, row.body) for row in messages.all_messages(tx)),
            "standings": {
                (row.stage, row.worker): (row.standing, row.gold_right, row.gold_recent, row.earned, row.worked_ms)
                for row in participations.participation_summaries(tx)
                if row.answered
            },
        }

    def replay(self, log: list[tuple[Any, ...]]) -> None:
        """Feed what was recorded, answers above all, into a study in which nothing has happened yet."""
        for kind, at, *rest in log:
            self.clock.now = at
            getattr(self, f"_again_{kind}")(*rest)

    def _again_come(self, name: str, expert: bool, panel: str, pseudonym: str) -> None:
        if expert:
            worker = do(self.study, entering.arrive_as_expert, name)
        else:
            worker = do(self.study, entering.arrive, panel, name, {})
            do(self.study, entering.consent, worker.id)
        renamed = {"p": pseudonym, "w": worker.id}
        do(self.study, lambda tx, _: tx.execute(text("UPDATE worker SET pseudonym = :p WHERE id = :w"), renamed))

    def _again_enter(self, worker_id: int, stage_name: str) -> None:
        stage = self.study.stage(stage_name)
        do(self.study, lambda tx, study: participations.enter(tx, stage.id, worker_id, 1, study.clock()))

    def _again_answer(self, worker_id: int, stage_name: str, key: str, kind: str, answer: Any, ms: int) -> None:
        stage = self.study.stage(stage_name)

        def lease(tx: Tx, study: Study) -> str:
            found = tx.execute(
                text("SELECT id, key, group_key, payload, position FROM item WHERE stage_id = :s AND key = :k"),
                {"s": stage.id, "k": key},
            ).one()
            offered = offering.ItemContent(*found)
            token = f"{worker_id}/{stage_name}/{key}"
            assignments.lease(
                tx, token, stage.id, worker_id, offered, AssignmentKind(kind), study.clock() - ms, study.clock() + 1
            )
            return token

        do(self.study, working.submit, worker_id, do(self.study, lease), answer, "key-00000001", ms)

    def _again_close(self, name: str) -> None:
        do(self.study, close_gate, self.study.gates[name], "the replay")

    def _again_advance(self) -> None:
        do(self.study, advance)

    def _again_settle(self) -> None:
        settle_everything(self.study)


def _ancestors(tx: Tx) -> dict[int, set[int]]:
    direct: dict[int, set[int]] = defaultdict(set)
    for item_id, source in tx.execute(text("SELECT item_id, source_id FROM item_source")):
        direct[item_id].add(source)
    found: dict[int, set[int]] = defaultdict(set)
    for item_id in list(direct):
        left = list(direct[item_id])
        while left:
            source = left.pop()
            found[item_id].add(source)
            left += direct.get(source, ())
    return found
