"""The plan of a study: the forecast in its folder, and when it was logged.

A forecast made or changed after people have started is not a plan. The log, unlike the file, shows when it was made.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from chorale.store import Tx, events, participations

FORECAST_FILE = "forecast.json"
"""The file in the study's folder where `chorale rehearse --save` saves a forecast."""
_KIND = "forecast"
_LOOKED_AT = 1_000


class Noted(NamedTuple):
    """When a forecast was logged, and the number of answers at that time."""

    at: int
    answers: int

    @property
    def is_plan(self) -> bool:
        return self.answers == 0


def note_forecast(tx: Tx, folder: Path, now: int) -> None:
    """Log the folder's forecast. Logging it again changes nothing."""
    digest = _digest(folder)
    if digest is not None and noted_forecast(tx, folder) is None:
        events.record(tx, now, _KIND, {"sha256": digest, "answers": participations.answers(tx)})


def noted_forecast(tx: Tx, folder: Path) -> Noted | None:
    """When the folder's current forecast was logged; None if it was not."""
    digest = _digest(folder)
    for event in events.recent(tx, _LOOKED_AT, kinds=(_KIND,)) if digest is not None else ():
        if event.evidence["sha256"] == digest:
            return Noted(event.at, event.evidence["answers"])
    return None


def _digest(folder: Path) -> str | None:
    try:
        return sha256((folder / FORECAST_FILE).read_bytes()).hexdigest()
    except OSError:
        return None
