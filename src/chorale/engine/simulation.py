"""Marks studies with simulated people, so that their numbers are not mistaken for findings."""

from chorale.model import UserError
from chorale.store import Tx
from chorale.store.settings import is_simulated
from chorale.store.workers import came_from

SIMULATED_PANEL = "rehearsal"
"""The panel of simulated people."""


def has_simulated_people(tx: Tx) -> bool:
    """Whether answers are those of simulated people."""
    # Runs saved by earlier versions have no mark, but all their people are from the simulated panel.
    return is_simulated(tx) or came_from(tx, SIMULATED_PANEL)


def refuse_simulated(tx: Tx) -> None:
    """Refuse actions that cost real money in a study with simulated people."""
    if has_simulated_people(tx):
        raise UserError(
            "The people of this study are simulated, so it can't be published on a platform or pay anybody. Use the "
            "original study."
        )
