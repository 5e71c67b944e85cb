"""The requester's actions when everybody waits for them."""

from contextlib import suppress

from chorale.engine.control import set_stage_state
from chorale.engine.gates import close_gate, survey
from chorale.engine.running import Study
from chorale.model import Refusal, StageState
from chorale.store import Tx, drawing
from chorale.store.gates import closed_gates


def close_a_gate(study: Study) -> bool:
    """Close the first gate that has somebody to decide about; False if there is none.

    Gates that still wait for grades close last: people who pass other gates may be the graders. If a
    sample of answers is graded, the stages of the answers are paused first, since the sample can only be taken then.
    """
    return study.store.write(lambda tx: _end_writing(tx, study) or _close(tx, study)).result()


def _end_writing(tx: Tx, study: Study) -> bool:
    """Pause the first stage with answers waiting to be sampled; False if there is none."""
    closed = closed_gates(tx)
    for later in study.stages.values():
        if later.per_worker is None or not closed.isdisjoint(later.closed_by):
            continue
        for name in later.settings.sources:
            source = study.stage(name)
            if drawing.people_to_draw_from(tx, later.id, source.id) and set_stage_state(
                tx, study, source, StageState.PAUSED, "the simulation"
            ):
                return True
    return False


def _close(tx: Tx, study: Study) -> bool:
    closed = closed_gates(tx)
    open_gates = [gate for gate in study.gates.values() if not gate.settings.decides_each and gate.name not in closed]
    surveys = [(gate, survey(tx, study, gate)) for gate in open_gates]
    candidates = [(gate, field.waiting > 0) for gate, field in surveys if field.candidates]
    for gate, _ in sorted(candidates, key=lambda one: one[1]):
        with suppress(Refusal):  # the budget does not cover what it pays
            close_gate(tx, study, gate, "the simulation")
            return True
    return False
