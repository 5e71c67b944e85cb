"""The pay that a new study starts with, from the time that its items take."""

import math
from collections.abc import Sequence
from statistics import fmean

MINIMUM_HOURLY = 1200
"""The lowest hourly wage in the study file of a new study, in cents."""
MARGIN = 2
"""Safety factor for paid time, because the estimate is low."""
WAGE_MARGIN = 1.1
"""Margin above the minimum wage, because guidelines grow when they are filled in."""


def starting_seconds(times: Sequence[float]) -> int:
    """The expected seconds of an answer, from the minimum time of each item."""
    return math.ceil(MARGIN * fmean(times))


def starting_pay(seconds: float) -> int:
    """Pay for this time at 10% above the minimum wage, in cents.

    >>> starting_pay(30)
    11
    """
    return max(1, math.ceil(WAGE_MARGIN * MINIMUM_HOURLY * seconds / 3600))
