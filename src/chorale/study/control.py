"""What requesters do to a running study."""

from chorale.model import StageState
from chorale.store import Tx, events, setup
from chorale.study.running import RunningStage, Study


def set_stage_state(tx: Tx, study: Study, stage: RunningStage, state: StageState, by: str, reason: str = "") -> bool:
    """Pause or resume a stage; False if it was so already. Answers to items already given out are still taken."""
    changed = setup.set_stage_state(tx, stage.id, state)
    if changed:
        kind = "paused" if state is StageState.PAUSED else "resumed"
        events.record(tx, study.clock(), kind, {"by": by, **({"reason": reason} if reason else {})}, stage_id=stage.id)
    return changed
