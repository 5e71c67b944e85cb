"""A worker's view of the study: which parts are open to them, and what they earned."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from chorale.engine.entering import admission
from chorale.engine.offering_room import has_room, more_may_come_to
from chorale.engine.paying import is_covered
from chorale.engine.running import RunningStage, Study
from chorale.engine.training import places_in
from chorale.engine.way_in import way_in
from chorale.model import EXPERT, Message, Worker
from chorale.protocol import (
    Admission,
    Facts,
    Reason,
    Situation,
    State,
    after_held_item,
    never,
    removal_reason,
    situation,
)
from chorale.protocol.situation_words import message, message_with_item
from chorale.store import Tx, visiting, workers
from chorale.store.gates import closed_gates
from chorale.store.messages import awaited_titles, messages_to
from chorale.store.offering import stages_with_open_items
from chorale.store.visiting import StageProgress


class StageVisit(NamedTuple):
    stage: RunningStage
    situation: Situation
    message: str
    """The message shown to them; empty in simulations."""
    answered: int
    earned: int
    entered: bool
    may_open: bool = True
    """Whether a part that is closed to them can still open through their work."""

    @property
    def is_done(self) -> bool:
        """Whether they have done all they can in this part."""
        return self.state in (State.FINISHED, State.LIMIT)

    @property
    def counts(self) -> bool:
        """Whether they can do this part: not if their work in it has ended, or it stays closed to them."""
        return self.is_done or (self.state is not State.REMOVED and self.may_open)

    @property
    def of(self) -> int | None:
        """Number of answers they can give in it, if known."""
        return self.stage.round_size or self.stage.settings.max_per_worker

    @property
    def state(self) -> State:
        return self.situation.state

    @property
    def goes_on(self) -> bool:
        """Whether there is work for them, other than an item they hold in a paused or finished part."""
        return self.state is State.AVAILABLE and not self.message


@dataclass(frozen=True, slots=True)
class Visit:
    worker: Worker
    panel: str | None
    stages: tuple[StageVisit, ...]
    messages: tuple[Message, ...] = ()
    """The newest first."""
    awaited: tuple[str, ...] = ()
    """The titles of their messages that an expert has not sent yet."""

    @property
    def earned(self) -> int:
        return sum(stage.earned for stage in self.stages)

    @property
    def answered(self) -> int:
        return sum(stage.answered for stage in self.stages)

    @property
    def next_part(self) -> StageVisit | None:
        """The part to continue with: one with an open question, else one they have started, else the first."""

        def order(part: StageVisit) -> tuple[bool, bool]:
            return part.situation.reason is not Reason.HOLDS_ITEM, not part.answered

        return min((part for part in self.stages if part.state is State.AVAILABLE), key=order, default=None)

    @property
    def has_news(self) -> bool:
        """Whether they have an unread message."""
        return any(message.read_at is None for message in self.messages)

    def knows(self, stage: RunningStage) -> bool:
        """Whether this stage is visible to them."""
        return any(part.stage.name == stage.name for part in self.stages)


def visit(tx: Tx, study: Study, worker_id: int) -> Visit | None:
    """A worker's overview page; None if there is no such worker."""
    worker = workers.find_worker(tx, worker_id)
    if worker is None:
        return None
    stages = tuple(parts_for(tx, study, worker_id))
    read_first = any(gate.settings.review for gate in study.gates.values())
    awaited = awaited_titles(tx, worker_id) if read_first else ()
    return Visit(worker, workers.panel_of(tx, worker_id), stages, tuple(messages_to(tx, worker_id)), awaited)


def parts_for(
    tx: Tx, study: Study, worker_id: int, among: Collection[str] | None = None, *, with_messages: bool = True
) -> Iterator[StageVisit]:
    """The state of the stages visible to a worker: all, or some. Simulated workers get no messages."""
    desk = _Desk(tx, study, worker_id)
    for stage in study.stages_for(desk.credentials.arm):
        # Workers can't become experts.
        if (among is None or stage.name in among) and (not stage.is_for_experts or EXPERT in desk.credentials.held):
            yield desk.look_at(stage, with_messages)


def knows_of(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> bool:
    """Whether a stage is visible to a worker: not if it is for another arm or for experts."""
    return any(parts_for(tx, study, worker_id, [stage.name], with_messages=False))


class PartsNow(NamedTuple):
    """The new state of parts in which a worker was waiting, if nothing but answers by others has changed since."""

    stage: RunningStage | None
    """The first part that is now open to them."""
    still_waiting: bool
    """Whether all parts are unchanged."""


_ADMITTED = Admission(True, "admitted when they joined", {})


def look_for_room(tx: Tx, study: Study, worker_id: int, stages: Sequence[str]) -> PartsNow:
    """Check waiting parts again: only free items, the budget and expected items can have changed."""
    closed: frozenset[str] | None = None
    wanting: frozenset[int] = frozenset()

    def may_come(stage: RunningStage) -> bool:
        nonlocal closed, wanting
        if closed is None:
            closed, wanting = closed_gates(tx), stages_with_open_items(tx)
        return more_may_come_to(tx, study, stage, worker_id, closed, wanting)

    still_waiting = True
    for stage in map(study.stage, stages):
        now = situation(
            Facts(
                lambda: _ADMITTED,
                partial(has_room, tx, stage, worker_id),
                partial(is_covered, tx, study, stage),
                partial(may_come, stage),
            )
        )
        if now.state is State.AVAILABLE:
            return PartsNow(stage, False)
        still_waiting = still_waiting and now.state is State.WAITING
    return PartsNow(None, still_waiting)


_NOT_ENTERED = StageProgress("", 0, 0)


class _Desk:
    """The facts about a worker, read once for all stages."""

    def __init__(self, tx: Tx, study: Study, worker_id: int) -> None:
        self._tx = tx
        self._study = study
        self._worker_id = worker_id
        self._now = visiting.worker_view(tx, worker_id)
        self.credentials = self._now.credentials

    def look_at(self, stage: RunningStage, with_message: bool) -> StageVisit:
        entered = self._now.progress.get(stage.id)
        progress = _NOT_ENTERED if entered is None else entered
        facts = self._facts(stage, progress)
        if entered is None and stage.round_size is not None:
            facts = facts._replace(places=partial(places_in, self._tx, self._study, stage, self.credentials))
        now = situation(facts)
        way = way_in(self._study, now, self._now.progress, self._now.decided_by, self._now.credentials.held)
        if not with_message:
            words = ""
        elif now.reason is Reason.HOLDS_ITEM:
            words = message_with_item(after_held_item(facts))
        else:
            words = message(now, self._study.titles, partial(self._awaits_result, stage, progress), way)
        may_open = now.reason is not Reason.NOT_ADMITTED or way.is_open
        return StageVisit(stage, now, words, progress.answered, progress.earned, entered is not None, may_open)

    def _facts(self, stage: RunningStage, progress: StageProgress) -> Facts:
        tx, study, now = self._tx, self._study, self._now
        return Facts(
            partial(admission, tx, study, stage, self._worker_id, now.credentials),
            # A stage without open items need not be searched.
            partial(has_room, tx, stage, self._worker_id) if self._may_have_room(stage) else never,
            partial(is_covered, tx, study, stage),
            partial(more_may_come_to, tx, study, stage, self._worker_id, now.credentials.closed, now.wanting),
            study.has_consent(now.consent_version),
            removal_reason(
                progress.standing, progress.answered, progress.removed_after, has_gold=stage.settings.gold is not None
            ),
            stage.id in now.holding,
            progress.answered,
            stage.round_size,
            stage.settings.max_per_worker,
            not now.credentials.closed.isdisjoint(stage.closed_by),
            stage.id in now.paused,
        )

    def _may_have_room(self, stage: RunningStage) -> bool:
        return stage.round_size is not None or stage.id in self._now.wanting

    def _awaits_result(self, stage: RunningStage, progress: StageProgress) -> bool:
        """Whether a gate has yet to decide about their work in a stage."""
        return progress.answered > 0 and not self._study.gates_on(stage) <= self._now.decided_by
