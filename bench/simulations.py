"""What a simulation of an interval or a test is."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np

from chorale.metrics import Interval

Outcome = bool | None
"""Whether the interval held the truth, or the test rejected; None where too little was known to say anything."""
COVERAGE = (0.93, 0.985)
SIZE = (0.02, 0.07)
RESAMPLES = 1000
"""As many as commands take by default: with fewer, all data sets would share what chance makes of one seed."""
FEWER, FEWEST = 60, 20
"""Data sets for the page where each takes long, or very long."""


class Simulation(NamedTuple):
    what: str
    """What Chorale prints."""
    of: str
    """The size and kind of the data."""
    kind: Literal["coverage", "size"]
    run: Callable[[np.random.Generator], Iterable[Outcome]]
    """The outcomes from one set of data."""
    band: tuple[float, float]
    """Where the rate must lie."""
    is_quick: bool = False
    """Whether CI runs it."""
    most: int | None = None
    """Data sets for the page at most, where each takes long."""


def covers(interval: Interval, truth: float) -> Outcome:
    return interval.low - 1e-12 <= truth <= interval.high + 1e-12 if interval.is_known else None


def rejects(p_value: float) -> Outcome:
    return None if np.isnan(p_value) else bool(p_value <= 0.05)
