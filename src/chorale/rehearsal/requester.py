"""What a requester does when everybody waits for them."""

from chorale.model import Refusal
from chorale.store import Tx
from chorale.store.gates import closed_gates
from chorale.study import Study
from chorale.study.gates import close_gate, survey


def close_a_gate(study: Study) -> bool:
    """Close the first gate that has somebody to decide about; False if there is none."""
    return study.store.write(lambda tx: _close(tx, study)).result()


def _close(tx: Tx, study: Study) -> bool:
    closed = closed_gates(tx)
    for gate in study.gates.values():
        waits = not gate.settings.decides_each and gate.name not in closed
        if waits and survey(tx, study, gate).candidates:
            try:
                close_gate(tx, study, gate, "the rehearsal")
            except Refusal:  # the budget does not cover its bonuses
                return False
            return True
    return False
