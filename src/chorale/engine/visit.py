"""A worker's view of the study: which parts are open to them, and what they earned."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chorale.engine.entering import admission, why_locked
from chorale.engine.offering import MESSAGES, OVER, at_the_end, more_may_come, why_dropped
from chorale.engine.paying import is_stopped
from chorale.engine.running import RunningStage, Study
from chorale.model import EXPERT, Standing
from chorale.store import Tx, message_rows, offering, people, visiting
from chorale.store.gates import closed_gates
from chorale.store.message_rows import MessageRow
from chorale.store.visiting import Attended


class StageVisit(NamedTuple):
    stage: RunningStage
    state: str
    """available, waiting, finished, locked, paused, dropped or limit."""
    reason: str
    answered: int
    earned: int
    entered: bool


@dataclass(frozen=True, slots=True)
class Visit:
    worker: people.WorkerRow
    panel: str | None
    stages: tuple[StageVisit, ...]
    messages: tuple[MessageRow, ...] = ()
    """The newest first."""
    awaited: tuple[str, ...] = ()
    """The titles of messages to them that an expert has not sent yet."""

    @property
    def earned(self) -> int:
        return sum(stage.earned for stage in self.stages)

    @property
    def answered(self) -> int:
        return sum(stage.answered for stage in self.stages)

    def may_finish(self, after: int) -> bool:
        """Whether they may go back to their panel: they have done enough, or there is nothing for them to do now."""
        idle = not any(stage.state == "available" for stage in self.stages)
        return self.answered >= (1 if idle else after)

    def within(self, names: Collection[str] | None) -> "Visit":
        """The same of some of the stages; of all if none are named."""
        if names is None:
            return self
        return replace(self, stages=tuple(part for part in self.stages if part.stage.name in names))

    def knows(self, stage: RunningStage) -> bool:
        """Whether they are to know that there is such a stage."""
        return any(part.stage.name == stage.name for part in self.stages)

    @property
    def screened_out(self) -> bool:
        """Whether nothing is open to them any more because their work was ended."""
        states = {stage.state for stage in self.stages}
        return "dropped" in states and states <= {"dropped", "locked"}


def visit(tx: Tx, study: Study, worker_id: int) -> Visit | None:
    """What a worker sees on their start page; None if there is no such worker."""
    worker = people.find_worker(tx, worker_id)
    if worker is None:
        return None
    stages = tuple(parts_for(tx, study, worker_id))
    read_first = any(gate.settings.review for gate in study.gates.values())
    awaited = message_rows.awaited(tx, worker_id) if read_first else ()
    return Visit(
        worker, people.panel_of(tx, worker_id), stages, tuple(message_rows.messages_to(tx, worker_id)), awaited
    )


def parts_for(tx: Tx, study: Study, worker_id: int, among: Collection[str] | None = None) -> Iterator[StageVisit]:
    """How a worker finds the stages they are to know of: all, or some."""
    desk = _Desk(tx, study, worker_id)
    for stage in study.stages_for(desk.papers.arm):
        # Nobody works their way up to being an expert.
        if (among is None or stage.name in among) and (not stage.is_for_experts or EXPERT in desk.papers.held):
            yield desk.look_at(stage)


def knows_of(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> bool:
    """Whether a worker is to know that there is such a stage: not what is for another arm, or for experts."""
    return any(parts_for(tx, study, worker_id, [stage.name]))


class Room(NamedTuple):
    """What has become of parts that somebody found waiting, when others have answered and nothing else has happened."""

    stage: RunningStage | None
    """The first that is open to them now."""
    still_waiting: bool
    """Whether all are as they were."""


def look_for_room(tx: Tx, study: Study, worker_id: int, stages: Sequence[str]) -> Room:
    """The same as to look at parts again that were found waiting, for those who do that all the time."""
    parts = [study.stage(name) for name in stages]
    with_items = [stage for stage in parts if _has_room(tx, stage, worker_id)]
    if with_items:
        return Room(next((stage for stage in with_items if not is_stopped(tx, study, stage)), None), False)
    wanting, closed = offering.stages_with_open_items(tx), closed_gates(tx)
    return Room(None, all(more_may_come(study, stage, closed, wanting) for stage in parts))


def _has_room(tx: Tx, stage: RunningStage, worker_id: int) -> bool:
    return offering.room_for(
        tx, stage.id, worker_id, not_from_own=stage.not_from_own, not_seen_later=stage.not_seen_later
    )


class _Desk:
    """What is known of a worker when all stages are looked at: asked for once."""

    def __init__(self, tx: Tx, study: Study, worker_id: int) -> None:
        self._tx = tx
        self._study = study
        self._worker_id = worker_id
        self._now = visiting.situation(tx, worker_id)
        self.papers = self._now.papers
        self._records = visiting.attended(tx, worker_id)

    def look_at(self, stage: RunningStage) -> StageVisit:
        record = self._records.get(stage.id)
        state, reason = self._state(stage, record)
        if record is None:
            return StageVisit(stage, state, reason, 0, 0, False)
        return StageVisit(stage, state, reason, record.answered, record.earned, True)

    def _state(self, stage: RunningStage, record: Attended | None) -> tuple[str, str]:
        if record is not None and record.standing == Standing.DROPPED:
            return "dropped", why_dropped(stage)
        if record is not None and stage.round_size is not None and record.answered >= stage.round_size:
            return "finished", self._at_the_end("round", stage, record)
        if record is not None and record.answered and not self.papers.closed.isdisjoint(stage.closed_by):
            return "finished", OVER
        decided = admission(self._tx, self._study, stage, self._worker_id, self.papers)
        if not decided.allowed:
            return "locked", why_locked(self._study, decided)
        if stage.id in self._now.paused:
            return "paused", MESSAGES["paused"]
        limit = stage.settings.max_per_worker
        if record is not None and limit is not None and record.answered >= limit:
            return "limit", self._at_the_end("limit", stage, record)
        if (
            stage.round_size is not None
            or (record is not None and stage.id in self._now.held_in)
            or (stage.id in self._now.wanting and _has_room(self._tx, stage, self._worker_id))
        ):
            return ("paused", MESSAGES["paused"]) if is_stopped(self._tx, self._study, stage) else ("available", "")
        if more_may_come(self._study, stage, self.papers.closed, self._now.wanting):
            return "waiting", self._at_the_end("wait", stage, record)
        return "finished", self._at_the_end("done", stage, record)

    def _at_the_end(self, status: str, stage: RunningStage, record: Attended | None) -> str:
        """What is said of a stage that has nothing more for them, and whether they will still hear of it."""
        looking = self._study.gates_on(stage)
        waits = bool(looking) and record is not None and record.answered > 0 and not looking <= self._now.decided_by
        return at_the_end(status, waits)
