"""Studies whose people are simulated: how that is recorded, so that nobody takes their numbers for findings."""

from chorale.engine.running import Study
from chorale.store import Tx, events
from chorale.store.workers import came_from

SIMULATED_PANEL = "rehearsal"
"""Where the people of a simulated run come from."""
SIMULATED = "simulated"
"""The event that a simulated crowd worked on a study's own site."""


def note_simulated_people(tx: Tx, study: Study, people: int) -> None:
    """Record that a simulated crowd is about to work on the study."""
    events.record(tx, study.clock(), SIMULATED, {"people": people})


def has_simulated_people(tx: Tx) -> bool:
    """Whether any answer may be that of a simulated person."""
    return came_from(tx, SIMULATED_PANEL) or bool(events.recent(tx, 1, kinds=(SIMULATED,)))
