"""Studies whose people are simulated, so that nobody takes their numbers for findings."""

from chorale.model import UserError
from chorale.store import Tx
from chorale.store.settings import is_simulated
from chorale.store.workers import came_from

SIMULATED_PANEL = "rehearsal"
"""Where the people of a simulated run come from."""


def has_simulated_people(tx: Tx) -> bool:
    """Whether answers are those of simulated people."""
    # Runs that earlier versions kept have no mark, but their people come from nowhere else.
    return is_simulated(tx) or came_from(tx, SIMULATED_PANEL)


def refuse_simulated(tx: Tx) -> None:
    """Refuse what costs real money in a study whose people are simulated."""
    if has_simulated_people(tx):
        raise UserError(
            "The people of this study are simulated, so nothing is published on a platform and nobody is paid by one. "
            "Use the study that the copy was made from."
        )
