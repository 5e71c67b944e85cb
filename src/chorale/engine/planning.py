"""The plan of a study: the forecast in its folder, and since when it is in the study's record.

A forecast that was made, or changed, after people had begun is no plan. The file alone can't tell; the record can.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from chorale.store import Tx, events, participations

FORECAST_FILE = "forecast.json"
"""Where `chorale rehearse --save` keeps a forecast in the study's folder."""
_KIND = "forecast"
_LOOKED_AT = 1_000


class Noted(NamedTuple):
    """When a forecast came into the record, and how many answers there were by then."""

    at: int
    answers: int

    @property
    def is_plan(self) -> bool:
        return self.answers == 0


def note_forecast(tx: Tx, folder: Path, now: int) -> None:
    """Write down that the folder has the forecast it has. The same again changes nothing."""
    digest = _digest(folder)
    if digest is not None and noted_forecast(tx, folder) is None:
        events.record(tx, now, _KIND, {"sha256": digest, "answers": participations.answers(tx)})


def noted_forecast(tx: Tx, folder: Path) -> Noted | None:
    """Since when the forecast that is in the folder now is in the record; None if it is not."""
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
