"""Studies whose people are simulated, so that nobody takes their numbers for findings."""

from chorale.store import Tx
from chorale.store.settings import is_simulated
from chorale.store.workers import came_from

SIMULATED_PANEL = "rehearsal"
"""Where the people of a simulated run come from."""


def has_simulated_people(tx: Tx) -> bool:
    """Whether answers are those of simulated people."""
    # Runs that earlier versions kept have no mark, but their people come from nowhere else.
    return is_simulated(tx) or came_from(tx, SIMULATED_PANEL)
