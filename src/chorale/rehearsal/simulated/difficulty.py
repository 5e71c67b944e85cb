"""Items that are harder than others: on those, people err together.

How hard an item is moves everybody's odds of being right about it: by a number drawn from a normal distribution, in
log-odds, the same for all who answer it. Everybody is still right about all items as often as their accuracy says.
"""

from math import sqrt
from random import Random

from chorale.rehearsal.simulated.models import Hardness

# The logistic function, averaged over a normal distribution, is nearly a flatter logistic function: by this much.
_FLATTENED = 0.346


def draw_hardness(spread: float, rng: Random) -> Hardness:
    """How hard an item is where they differ by so much, as a standard deviation in log-odds."""
    return Hardness(stretch(spread), rng.gauss(0.0, spread))


def stretch(spread: float) -> float:
    """By how much log-odds must be stretched for the mean over all items to stay what it was."""
    return sqrt(1 + _FLATTENED * spread * spread)
