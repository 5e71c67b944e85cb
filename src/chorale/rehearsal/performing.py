"""Runs a study with simulated people in simulated time: one event after the other, through the functions behind the
site. This module does not know the structure of stages. People do what the study's own pages offer: take open items,
wait where more may come, and leave when nothing is left.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from chorale.engine import entering, work
from chorale.engine.advancing import advance as do_what_is_due
from chorale.engine.first_answers import answer_first
from chorale.engine.offering import Offer, next_item
from chorale.engine.quality import review_workers
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_everything, settle_worker
from chorale.engine.simulation import SIMULATED_PANEL
from chorale.engine.submitting import submit
from chorale.engine.visit import look_for_room, parts_for
from chorale.model import Message, Refusal, Standing
from chorale.protocol import State
from chorale.rehearsal.changes import ChangeCounter
from chorale.rehearsal.connections import decisive_stages, things_fall_due
from chorale.rehearsal.making_up import MakingUp
from chorale.rehearsal.models_at_work import ModelsAtWork
from chorale.rehearsal.person import FOR_GOOD, Exit, Person
from chorale.rehearsal.requester import close_a_gate
from chorale.rehearsal.reviewing import ExpertDesk, learn_from_feedback, reading_seconds
from chorale.rehearsal.schedule import Clock, Schedule
from chorale.rehearsal.simulated import AnswerSheet
from chorale.store import Tx, labels
from chorale.store.codec import frozen_from_text
from chorale.store.gates import times_decided

FEEDBACK_SECONDS = 4.0
# Gates are checked when a worker has finished something, and at this interval, since graders' answers can let others
# pass.
GATES_MS = 30 * 60_000
UNMOVED = FOR_GOOD - {State.FINISHED}
"""States that only a gate's decision can change. Finished parts are not among them: they can open again."""
MOST_ADVANCES = 1_000
NOT_GRANTED = 409

Advance = Callable[[Study], bool]
"""Called when everybody waits: does what only a requester can do; returns whether it did anything."""


@dataclass(frozen=True, slots=True)
class Manners:
    """The behaviour of waiting people."""

    look_in_ms: int
    patience_ms: int
    experts: int = 1
    """Number of experts who review messages."""


class Performance:
    """One simulated run of a study. Call `run` once; the study then has the results."""

    def __init__(
        self,
        study: Study,
        clock: Clock,
        people: Sequence[Person],
        arrivals: Sequence[float],
        sheets: Mapping[str, AnswerSheet],
        expected: Mapping[str, float],
        manners: Manners,
        advance: Advance = close_a_gate,
        models: ModelsAtWork | None = None,
    ) -> None:
        self.people = people
        self.refused: set[str] = set()
        """Stages in which an answer did not fit its item."""
        self.started_at = clock.now
        self.ended_at = clock.now
        """The time of the last answer."""
        self._study = study
        self._clock = clock
        self._answers = MakingUp(study, sheets)
        self.qualities: Mapping[int, float] = self._answers.qualities
        """The quality of answers that others see or that are an arm's results, by response."""
        self._manners = manners
        self._advance = advance
        self._models = models
        self._desk = ExpertDesk(study, manners.experts)
        self._things_fall_due = things_fall_due(study)
        self._expected = expected
        self._reading = {name: reading_seconds(stage.guidelines) for name, stage in study.stages.items()}
        self._schedule = Schedule(clock)
        self._changes = ChangeCounter(study)
        self._decisive = decisive_stages(study)
        self._gates_due = False
        self._progress = 0
        """Counts arrivals, answers and returned items: all of these are limited, so every run ends."""
        self._stuck_at = -1
        self._advanced = 0
        self._verdicts_so_far = 0
        self._verdicts: dict[int, int] = {}
        """The number of gate decisions per worker at the last check."""
        for person, seconds in zip(people, arrivals, strict=True):
            self._schedule.later(seconds, self._come, person)

    def run(self) -> None:
        if self._models is not None:
            self._models.annotate()
        while self._schedule.busy or self._go_on():
            self._schedule.do_next()
        settle_everything(self._study)

    def _go_on(self) -> bool:
        """Called when everybody waits: update everything, act as the requester, and check who can continue."""
        if self._progress > self._stuck_at:
            self._advanced = 0
            self._stuck_at = self._progress
            self._let_everybody_look()
        while not self._schedule.busy and self._advanced < MOST_ADVANCES and self._advance(self._study):
            self._advanced += 1
            self._let_everybody_look()
        return bool(self._schedule.busy)

    def _let_everybody_look(self) -> None:
        # A site does this every few seconds, which would take most of the time here. People see the changes slightly
        # later.
        settle_everything(self._study)
        if self._models is not None:
            self._models.annotate()
        # Only checks by waiting people are scheduled, and they happen now.
        self._schedule.clear()
        self._gates_due = False
        self._do_what_is_due()
        # Items and stages can reopen after people have left: they return.
        called = [person for person in self.people if person.waiting_since is not None or person.exit is Exit.FINISHED]
        if called:
            self._clock.now += self._manners.look_in_ms
        for person in called:
            person.exit = None
            if person.waiting_since is None or self._news() != person.news:
                self._look(person)
            else:
                self._look_at(person, [name for name, state in person.states.items() if state not in UNMOVED])

    # Workers' actions

    def _come(self, person: Person) -> None:
        study = self._study

        def arrive(tx: Tx) -> int:
            if person.expert:
                return entering.arrive_as_expert(tx, study, f"expert-{person.number}").id
            worker = entering.arrive(tx, study, SIMULATED_PANEL, f"person-{person.number}", {})
            entering.consent(tx, study, worker.id)
            return worker.id

        person.worker_id = study.store.write(arrive).result()
        person.came_at = self._clock.now
        self._progress += 1
        self._schedule.later(reading_seconds(study.consent.text) * person.model.pace, self._look, person)

    def _look(self, person: Person) -> None:
        """Look at the overview page and act on it."""
        if person.decisive:
            person.decisive = False
            self._look_after_gates()
        person.states = {}
        self._look_at(person, None)

    def _look_at(self, person: Person, among: Collection[str] | None) -> None:
        """Look at some parts, or at all parts if `among` is None; the other parts keep their state."""
        parts = self._study.store.do(
            lambda tx: tuple(parts_for(tx, self._study, person.worker_id, among, with_messages=False))
        )
        person.looked_at = self._changes.count
        if among is None:
            self._read_messages(person)
        theirs = [each for each in parts if not person.expert or each.stage.is_for_experts]
        person.states.update((each.stage.name, each.state) for each in theirs)
        open_ones = [
            each
            for each in theirs
            if each.state is State.AVAILABLE and person.empty.get(each.stage.name) != self._changes.count
        ]
        if open_ones:
            current = person.stage
            chosen = next((each for each in open_ones if each.stage is current), open_ones[0])
            reading = 0.0 if chosen.entered else self._reading[chosen.stage.name] * person.model.pace
            self._begin(person, chosen.stage, reading)
        elif waits_for := person.open_parts():
            person.waits_for = waits_for
            self._wait(person)
        else:
            person.waiting_since = None
            person.exit = Exit.FINISHED

    def _begin(self, person: Person, stage: RunningStage, reading: float = 0.0) -> None:
        """Take an item of a stage, after `reading` seconds for its guidelines."""
        person.stage = stage
        person.waiting_since = None
        self._schedule.later(reading, self._take, person)

    def _wait(self, person: Person) -> None:
        now = self._clock.now
        if person.waiting_since is None:
            person.waiting_since = now
        elif now - person.waiting_since > self._manners.patience_ms:
            person.waiting_since = None
            person.exit = Exit.GAVE_UP
            return
        self._schedule.look_in(self._manners.look_in_ms, self._look_in, person)

    def _look_in(self, person: Person) -> None:
        """Check for new work. It must be fast, because waiting people check far more often than new work arrives."""
        if person.looked_at == self._changes.count:
            self._wait(person)
        elif self._news() != person.news:
            self._look(person)
        elif not self._changes.concern(person, person.waits_for):
            self._wait(person)
        elif self._changes.are_more_than_answers(person, person.waits_for):
            self._look_at(person, person.waits_for)
        else:
            self._look_for_room(person)

    def _news(self) -> int:
        """The number of gate decisions and sent messages together."""
        return self._changes.verdicts() + self._desk.sent

    def _is_all_they_have(self, person: Person, stage: str) -> bool:
        """Whether only this stage can have new work for a worker since they last looked."""
        others = [name for name in person.open_parts() if name != stage]
        return self._news() == person.news and not self._changes.concern(person, others)

    def _look_for_room(self, person: Person) -> None:
        """Check the parts a worker waits for, if others' answers are the only changes."""
        study, parts = self._study, person.waits_for
        stage, still_waiting = study.store.do(lambda tx: look_for_room(tx, study, person.worker_id, parts))
        if stage is not None and len(parts) == 1 and stage.name in person.entered:
            # The same result as the page, if there is nothing else to choose or read.
            person.looked_at = self._changes.count
            person.states[stage.name] = State.AVAILABLE
            self._begin(person, stage)
        elif still_waiting:
            person.looked_at = self._changes.count
            self._wait(person)
        else:
            self._look_at(person, parts)

    def _take(self, person: Person) -> None:
        study, stage = self._study, person.stage
        if stage is None:
            raise RuntimeError("somebody works nowhere")
        offer = study.store.do(lambda tx: next_item(tx, study, stage, person.worker_id))
        if offer.ended:
            self._changes.spread(ahead=1)
        if offer.status != "item" or offer.lease is None:
            person.empty[stage.name] = self._changes.count
            if offer.status == "wait" and not person.decisive and self._is_all_they_have(person, stage.name):
                person.states[stage.name] = State.WAITING
                person.looked_at = self._changes.count
                person.waits_for = person.open_parts()
                self._wait(person)
            else:
                self._look(person)
            return
        person.entered.add(stage.name)
        if person.model.dropout and person.rng.random() < person.model.dropout:
            person.exit = Exit.LEFT
            # They keep their item until its time limit; then others can get it.
            self._schedule.later((offer.lease.expires_at - self._clock.now + 1) / 1000, self._expire)
            return
        person.offer = offer
        suggested = offer.suggestion is not None
        person.seconds = person.model.seconds(self._expected[stage.name], person.rng, suggested=suggested)
        self._schedule.later(person.seconds, self._submit, person, stage, offer)

    def _submit(self, person: Person, stage: RunningStage, offer: Offer) -> None:
        study, lease = self._study, offer.lease
        if lease is None or offer.view is None:
            raise RuntimeError("an item without a time limit")
        form = stage.task.form
        view = offer.view if form.reveal is None else form.shown(frozen_from_text(lease.payload))
        truth, answer = self._answers.make_up(person, stage, lease, view, offer.suggestion)
        duration = round(person.seconds * 1000)
        key = f"{person.number}:{person.answered}"
        try:
            if form.reveal is not None:
                first = form.reveal.first_of(answer)
                study.store.do(lambda tx: answer_first(tx, study, person.worker_id, lease.token, first))
            outcome = study.store.do(lambda tx: submit(tx, study, person.worker_id, lease.token, answer, key, duration))
        except Refusal as refusal:
            if refusal.code == "invalid_answer" and answer is person.previous:
                # The copied answer does not fit this item, so they answer randomly.
                person.previous = None
                self._submit(person, stage, offer)
            else:
                self._after_refusal(person, stage, refusal, lease.token)
            return
        if outcome.response_id is not None:
            self._answers.note(stage, outcome.response_id, answer, truth)
        person.previous = answer
        person.answered += 1
        person.decisive = person.decisive or stage.name in self._decisive
        self._progress += 1
        self._changes.answered(stage.name)
        self.ended_at = self._clock.now
        self._plan_gates()
        if outcome.stopped_counting:
            self._settle(person)
        if outcome.standing is Standing.DROPPED:
            self._look(person)
        elif outcome.explanation is not None:
            person.learn(stage.task.name, 1.0)
            self._schedule.later(FEEDBACK_SECONDS * person.model.pace, self._take, person)
        else:
            self._take(person)

    def _read_messages(self, person: Person) -> None:
        news = self._news()
        if news != person.news:
            person.news = news
            learn_from_feedback(self._study, person, self.qualities)

    def _after_refusal(self, person: Person, stage: RunningStage, refusal: Refusal, token: str) -> None:
        study = self._study
        if refusal.code == "invalid_answer":
            self.refused.add(stage.name)
            study.store.write(lambda tx: work.give_back(tx, study, person.worker_id, token)).result()
        elif refusal.status != NOT_GRANTED:
            raise refusal
        self._progress += 1
        self._changes.everywhere()
        self._look(person)

    # Automatic actions of a site

    def _expire(self) -> None:
        self._study.store.write(lambda tx: work.expire_leases(tx, self._study)).result()
        self._progress += 1
        self._changes.everywhere()

    def _settle(self, person: Person) -> None:
        """Settle labels immediately after a removal: the worker's judgments no longer count, and items reopen."""
        for changed in self._study.store.read(labels.unsettled).result():
            if changed.worker_id == person.worker_id:
                settle_worker(self._study, changed)
        self._changes.spread()

    def _plan_gates(self) -> None:
        if self._things_fall_due and not self._gates_due:
            self._gates_due = True
            self._schedule.sweep(GATES_MS, self._sweep_gates)

    def _sweep_gates(self) -> None:
        self._gates_due = False
        self._look_after_gates()

    def _look_after_gates(self) -> None:
        self._do_what_is_due()
        so_far = self._changes.verdicts()
        if so_far == self._verdicts_so_far:
            return
        self._verdicts_so_far = so_far
        before, self._verdicts = self._verdicts, self._study.store.read(times_decided).result()
        # People who left because a part was locked return when a gate has decided about them.
        for person in self.people:
            decided = self._verdicts.get(person.worker_id) != before.get(person.worker_id)
            if decided and person.exit is Exit.FINISHED and State.LOCKED in person.states.values():
                person.exit = None
                self._schedule.later(0, self._look, person)

    def _do_what_is_due(self) -> None:
        study = self._study
        if self._things_fall_due:
            done = study.store.write(lambda tx: do_what_is_due(tx, study)).result()
            if review_workers(study) or done:
                self._changes.spread(ahead=1)
            for seconds, message in self._desk.take_up(self._clock.now):
                self._schedule.later(seconds, self._send, message)
        self._changes.count += 1

    def _send(self, message: Message) -> None:
        self._desk.send(message)
        self._changes.count += 1
