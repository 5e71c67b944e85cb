"""A worker's view of the study: which parts are open to them, and what they earned."""

from dataclasses import dataclass

from chorale.model import StageState, Standing
from chorale.store import Tx, gates, people, setup, work
from chorale.store.gates import MessageRow
from chorale.study.entering import Papers, admission, is_for_arm, papers_of, why_locked
from chorale.study.running import RunningStage, Study
from chorale.study.work import MESSAGES, nothing_left


@dataclass(frozen=True, slots=True)
class StageVisit:
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
    paused = {row.name for row in setup.stages(tx) if row.state == StageState.PAUSED}
    papers = papers_of(tx, worker_id)
    records = work.participations_of(tx, worker_id)
    stages = tuple(
        _stage_visit(tx, study, stage, worker_id, papers, records.get(stage.id), paused=name in paused)
        for name, stage in study.stages.items()
        if is_for_arm(stage, papers.arm)
    )
    return Visit(worker, people.panel_of(tx, worker_id), stages, tuple(gates.messages_to(tx, worker_id)))


def _stage_visit(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    worker_id: int,
    papers: Papers,
    record: work.ParticipationRow | None,
    *,
    paused: bool,
) -> StageVisit:
    answered, earned = (0, 0) if record is None else (record.answered, record.earned)
    state, reason = _state(tx, study, stage, worker_id, papers, record, paused)
    return StageVisit(stage, state, reason, answered, earned, record is not None)


def _state(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    worker_id: int,
    papers: Papers,
    record: work.ParticipationRow | None,
    paused: bool,
) -> tuple[str, str]:
    if record is not None and record.standing == Standing.DROPPED:
        return "dropped", MESSAGES["dropped"]
    if record is not None and stage.round_size is not None and record.answered >= stage.round_size:
        return "finished", MESSAGES["round"]
    decided = admission(tx, study, stage, worker_id, papers)
    if not decided.allowed:
        return "locked", why_locked(study, decided)
    if paused:
        return "paused", MESSAGES["paused"]
    limit = stage.settings.max_per_worker
    if record is not None and limit is not None and record.answered >= limit:
        return "limit", MESSAGES["limit"]
    if record is not None and work.live_lease(tx, stage.id, worker_id) is not None:
        return "available", ""
    if stage.round_size is not None:
        return "available", ""
    if work.room_for(tx, stage.id, worker_id, not_from_own=stage.not_from_own, not_seen_later=stage.not_seen_later):
        return "available", ""
    left = nothing_left(tx, study, stage)
    return ("waiting" if left == "wait" else "finished"), MESSAGES[left]
