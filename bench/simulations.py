"""Classes for simulations of intervals and tests."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np

from chorale.metrics import Interval

Outcome = bool | None
"""Whether the interval held the truth, or the test rejected; None where too little was known to say anything."""
COVERAGE = (0.93, 0.985)
SIZE = (0.02, 0.07)
RESAMPLES = 400
"""Commands take 1,000 by default. With fewer, what is printed varies a little more with its seed."""
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


def any_seed(rng: np.random.Generator) -> int:
    """For the resamples of one data set. With the same seed for all, the luck of that seed would look like a fault of
    the interval: of 1,000 items of which 90% are right, 400 resamples by seed 1 are a tenth too narrow."""
    return int(rng.integers(2**31))


def covers(interval: Interval, truth: float) -> Outcome:
    return interval.low - 1e-12 <= truth <= interval.high + 1e-12 if interval.is_known else None


def rejects(p_value: float) -> Outcome:
    return None if np.isnan(p_value) else bool(p_value <= 0.05)
