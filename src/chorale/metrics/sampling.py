"""Random resamples, used everywhere in Chorale: how often each unit is taken, which interval holds the middle of the
scores, and how often a difference as large occurs randomly.

A unit is whatever is sampled together: an item, or all items of one writer, worker or document.

Types of random generators are in quotes: naming one loads numpy.random, which a score without intervals does not need.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.statistics import FloatArray
from chorale.metrics.student import NORMAL, t_bound, t_tail

Progress = Callable[[int, int], None]
LEVEL = 0.95
"""Of all intervals."""
TAIL = (1 - LEVEL) / 2
_AT_ONCE = 2**22
"""Numbers in memory at a time while sampling."""
_NEAR_BY = 2**16
"""Numbers that stay in the processor's own memory."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends are NaN where too few units carry the score to estimate its variation."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return not isnan(self.low)

    def as_list(self) -> list[float] | None:
        """For `--json`: None where too little is known."""
        return [self.low, self.high] if self.is_known else None


TOO_FEW = Interval(nan, nan)


@dataclass(frozen=True, slots=True)
class Narrowness:
    """By how much resamples of a few units are closer together than the score itself would be from sample to sample.

    Their spread is that of the units without Bessel's correction, and has to be estimated, as t takes into account.
    Wider percentiles make up for both (Hesterberg 2015, the expanded percentile interval).
    """

    ratio: float
    """The standard error of the score over that of the resamples."""
    freedom: float

    @classmethod
    def of_units(cls, units: int) -> "Narrowness":
        return cls(sqrt(units / (units - 1)), units - 1) if units > 1 else cls(1.0, 1.0)

    @property
    def tail(self) -> float:
        """The share of resamples below the interval."""
        return NORMAL.cdf(-self.ratio * t_bound(TAIL, self.freedom))

    def p_value(self, share: float) -> float:
        """From the share of resamples that are as far away: two-sided."""
        return 1.0 if share >= 1 else 2 * t_tail(-NORMAL.inv_cdf(share / 2) / self.ratio, self.freedom)


def blocks(resamples: int, numbers: int, *, at_once: int = _AT_ONCE, progress: Progress | None = None) -> Iterator[int]:
    """Sizes of blocks of resamples that need a number of values each: all would not fit in memory."""
    block = max(1, at_once // max(1, numbers))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield size
        if progress:
            progress(start + size, resamples)


def times_taken(
    counts: FloatArray, resamples: int, rng: "np.random.Generator", progress: Progress | None = None
) -> Iterator[FloatArray]:
    """How often each kind of unit is taken, where there are `counts` of each kind; a block of resamples at a time."""
    total = int(counts.sum())
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.multinomial(total, counts / total, size=size).astype(np.float64)


def times_each_taken(units: int, resamples: int, rng: "np.random.Generator") -> FloatArray:
    """How often each of a few units is taken: resamples × units."""
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).astype(np.float64)


def times_each_placed(units: int, resamples: int, rng: "np.random.Generator") -> Iterator[FloatArray]:
    """How often each of many units is taken, one after the other: nothing is known to be alike."""
    for size in blocks(resamples, units, at_once=_NEAR_BY):
        places = rng.integers(units, size=(size, units))
        places += units * np.arange(size)[:, None]
        yield np.bincount(places.reshape(-1), minlength=size * units).reshape(size, units).astype(np.float64)


def times_assigned(
    counts: NDArray[np.int64], wanted: int, resamples: int, rng: "np.random.Generator"
) -> Iterator[NDArray[np.int64]]:
    """Of the units of each kind, how many are among those assigned to the first of two sets; a block at a time."""
    for size in blocks(resamples, len(counts)):
        yield rng.multivariate_hypergeometric(counts, wanted, size=size, method="marginals")


def times_swapped(
    counts: NDArray[np.int64], resamples: int, rng: "np.random.Generator", progress: Progress | None = None
) -> Iterator[NDArray[np.int64]]:
    """Of the units of each kind, for how many a coin swaps the two systems; a block of resamples at a time."""
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.binomial(counts, 0.5, size=(size, len(counts)))


def swapped(units: int, rng: "np.random.Generator") -> NDArray[np.bool_]:
    """For which units a coin swaps the two systems, in one resample."""
    return rng.integers(2, size=units, dtype=np.int8).astype(bool)


def ends_of(values: FloatArray, axis: int = 0, tail: float = TAIL) -> FloatArray:
    """The ends of the middle 95% of the values, by Efron's percentile method, or of what is between other tails."""
    return np.asarray(np.quantile(values, [tail, 1 - tail], axis=axis))


def interval_of(values: FloatArray, tail: float = TAIL) -> Interval:
    """The middle 95% of the values, or what is between other tails."""
    low, high = ends_of(np.asarray(values), tail=tail)
    return Interval(float(low), float(high))


def share_at_least(values: FloatArray, bound: float) -> float:
    """How often the values are as far from zero as the bound, counting the bound itself as one more of them.

    Two sums of the same numbers may differ in their last digits without meaning it.
    """
    reached = np.abs(values) >= abs(bound) * (1 - 1e-12) - 1e-15
    return float((1 + np.count_nonzero(reached)) / (1 + len(values)))
