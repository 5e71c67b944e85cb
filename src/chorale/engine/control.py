"""Requesters' control of a running study."""

from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal, StageState
from chorale.store import Tx, events, stages

LONGEST_REASON = 1000


def set_stage_state(tx: Tx, study: Study, stage: RunningStage, state: StageState, by: str, reason: str = "") -> bool:
    """Pause or resume a stage; False if it already was in that state. Answers to items already assigned are still
    accepted.

    Pausing needs no reason, so that a study can be stopped at once; the reason can be added later. Resuming needs one.
    """
    # Text from a command line may contain surrogates.
    reason = reason.encode("utf-8", "replace").decode().strip()[:LONGEST_REASON]
    if state is StageState.OPEN and not reason and stage.id in stages.paused_stages(tx):
        raise Refusal("no_reason", "Enter a reason to resume the stage. It is kept in the activity log.", 422)
    changed = stages.set_stage_state(tx, stage.id, state)
    if changed or (reason and state is StageState.PAUSED):
        kind = "paused" if state is StageState.PAUSED else "resumed"
        events.record(tx, study.clock(), kind, {"by": by, **({"reason": reason} if reason else {})}, stage_id=stage.id)
    return changed


def close_study(tx: Tx, study: Study, by: str, reason: str) -> int:
    """Pause every open stage at once; returns how many were open.

    Answers to items already assigned are still accepted.
    """
    return _set_all(tx, study, StageState.PAUSED, by, reason)


def reopen_study(tx: Tx, study: Study, by: str, reason: str) -> int:
    """Resume every paused stage at once; returns how many were paused."""
    return _set_all(tx, study, StageState.OPEN, by, reason)


def _set_all(tx: Tx, study: Study, state: StageState, by: str, reason: str) -> int:
    paused = stages.paused_stages(tx)
    changing = [stage for stage in study.stages.values() if (stage.id in paused) == (state is StageState.OPEN)]
    return sum(set_stage_state(tx, study, stage, state, by, reason) for stage in changing)
