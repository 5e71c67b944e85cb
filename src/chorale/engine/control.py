"""What requesters do to a running study."""

from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal, StageState
from chorale.store import Tx, events, stages

LONGEST_REASON = 1000


def set_stage_state(tx: Tx, study: Study, stage: RunningStage, state: StageState, by: str, reason: str = "") -> bool:
    """Pause or resume a stage; False if it was so already. Answers to items already given out are still taken.

    Nothing stands in the way of pausing: who has to stop a study at once need not say why, and can still do so later.
    Resuming can wait for a reason.
    """
    # A command line may hand over what is no text, and a hurried one anything.
    reason = reason.encode("utf-8", "replace").decode().strip()[:LONGEST_REASON]
    if state is StageState.OPEN and not reason and stage.id in stages.paused_stages(tx):
        raise Refusal("no_reason", "Say why you resume the stage: the reason is kept in the study's record.", 422)
    changed = stages.set_stage_state(tx, stage.id, state)
    if changed or (reason and state is StageState.PAUSED):
        kind = "paused" if state is StageState.PAUSED else "resumed"
        events.record(tx, study.clock(), kind, {"by": by, **({"reason": reason} if reason else {})}, stage_id=stage.id)
    return changed
