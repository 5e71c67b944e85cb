"""A worker's view of the study: which parts are open to them, and what they earned."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from chorale.model import EXPERT, Standing
from chorale.store import Tx, gates, leasing, offering, participations, people, setup
from chorale.store.gates import MessageRow
from chorale.store.papers import papers_of
from chorale.store.participations import ParticipationRow
from chorale.study.entering import admission, is_for_arm, why_locked
from chorale.study.offering import MESSAGES, more_may_come, why_dropped
from chorale.study.running import RunningStage, Study


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
    return Visit(worker, people.panel_of(tx, worker_id), stages, tuple(gates.messages_to(tx, worker_id)))


def parts_for(
    tx: Tx, study: Study, worker_id: int, among: Iterable[RunningStage] | None = None
) -> Iterator[StageVisit]:
    """How a worker finds the stages they are to know of: all, or some."""
    desk = _Desk(tx, study, worker_id)
    arm = desk.papers.arm
    for stage in study.stages.values() if among is None else among:
        if is_for_arm(stage, arm) and desk.concerns(stage):
            yield desk.look_at(stage)


class _Desk:
    """What is known of a worker when all stages are looked at: asked for once, and only if a stage needs it."""

    def __init__(self, tx: Tx, study: Study, worker_id: int) -> None:
        self._tx = tx
        self._study = study
        self._worker_id = worker_id
        self.papers = papers_of(tx, worker_id)
        self._records = participations.participations_of(tx, worker_id)
        self._paused = setup.paused_stages(tx)

    @cached_property
    def _held_in(self) -> frozenset[int]:
        return leasing.stages_held_in(self._tx, self._worker_id)

    @cached_property
    def _wanting(self) -> frozenset[int]:
        return offering.stages_with_open_items(self._tx)

    def concerns(self, stage: RunningStage) -> bool:
        """Whether it can ever be open to them: nobody works their way up to being an expert."""
        return EXPERT not in stage.settings.entry.qualifications or EXPERT in self.papers.held

    def look_at(self, stage: RunningStage) -> StageVisit:
        record = self._records.get(stage.id)
        state, reason = self._state(stage, record)
        if record is None:
            return StageVisit(stage, state, reason, 0, 0, False)
        return StageVisit(stage, state, reason, record.answered, record.earned, True)

    def _state(self, stage: RunningStage, record: ParticipationRow | None) -> tuple[str, str]:
        if record is not None and record.standing == Standing.DROPPED:
            return "dropped", why_dropped(stage)
        if record is not None and stage.round_size is not None and record.answered >= stage.round_size:
            return "finished", MESSAGES["round"]
        decided = admission(self._tx, self._study, stage, self._worker_id, self.papers)
        if not decided.allowed:
            return "locked", why_locked(self._study, decided)
        if stage.id in self._paused:
            return "paused", MESSAGES["paused"]
        limit = stage.settings.max_per_worker
        if record is not None and limit is not None and record.answered >= limit:
            return "limit", MESSAGES["limit"]
        if stage.round_size is not None or (record is not None and stage.id in self._held_in) or self._has_room(stage):
            return "available", ""
        if more_may_come(self._study, stage, self.papers.closed, self._wanting):
            return "waiting", MESSAGES["wait"]
        return "finished", MESSAGES["done"]

    def _has_room(self, stage: RunningStage) -> bool:
        return stage.id in self._wanting and offering.room_for(
            self._tx,
            stage.id,
            self._worker_id,
            not_from_own=stage.not_from_own,
            not_seen_later=stage.not_seen_later,
        )
