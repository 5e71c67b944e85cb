"""Random resampling for all of Chorale: sampling counts of units, percentile intervals, and p-values.

A unit is sampled as a whole: an item, or all items of a writer, worker or document.

Types of random generators are in quotes, because importing numpy.random takes time and scores without intervals do not
need it.
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
"""Coverage of all intervals."""
TAIL = (1 - LEVEL) / 2
_AT_ONCE = 2**22
"""Maximum number of values in memory while sampling."""
_NEAR_BY = 2**16
"""Number of values that fit into the processor's cache."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a score. Both ends are NaN if too few units determine the score."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return not isnan(self.low)

    def as_list(self) -> list[float] | None:
        """Both ends, for `--json`; None if the interval is unknown."""
        return [self.low, self.high] if self.is_known else None


TOO_FEW = Interval(nan, nan)


@dataclass(frozen=True, slots=True)
class Narrowness:
    """Correction for resamples of few units, which vary less than the score itself.

    Their variance lacks Bessel's correction and is estimated, as in Student's t. Wider percentiles compensate for both
    (Hesterberg 2015, the expanded percentile interval).
    """

    ratio: float
    """Ratio of the standard error of the score to that of the resamples."""
    freedom: float

    @classmethod
    def of_units(cls, units: int) -> "Narrowness":
        return cls(sqrt(units / (units - 1)), units - 1) if units > 1 else cls(1.0, 1.0)

    @property
    def tail(self) -> float:
        """Fraction of resamples below the interval."""
        return NORMAL.cdf(-self.ratio * t_bound(TAIL, self.freedom))

    def p_value(self, share: float) -> float:
        """Two-sided p-value from the fraction of resamples that are at least as far away as the observed value."""
        return 1.0 if share >= 1 else 2 * t_tail(-NORMAL.inv_cdf(share / 2) / self.ratio, self.freedom)


def blocks(resamples: int, numbers: int, *, at_once: int = _AT_ONCE, progress: Progress | None = None) -> Iterator[int]:
    """Block sizes of resamples that fit into memory."""
    block = max(1, at_once // max(1, numbers))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield size
        if progress:
            progress(start + size, resamples)


def times_taken(
    counts: FloatArray, resamples: int, rng: "np.random.Generator", progress: Progress | None = None
) -> Iterator[FloatArray]:
    """Sampling counts of each kind of unit, given `counts` of each kind, in blocks of resamples."""
    total = int(counts.sum())
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.multinomial(total, counts / total, size=size).astype(np.float64)


def times_each_taken(units: int, resamples: int, rng: "np.random.Generator") -> FloatArray:
    """Sampling counts of a few units: resamples × units."""
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).astype(np.float64)


def times_each_placed(units: int, resamples: int, rng: "np.random.Generator") -> Iterator[FloatArray]:
    """Sampling counts of many distinct units, one resample after the other."""
    for size in blocks(resamples, units, at_once=_NEAR_BY):
        places = rng.integers(units, size=(size, units))
        places += units * np.arange(size)[:, None]
        yield np.bincount(places.reshape(-1), minlength=size * units).reshape(size, units).astype(np.float64)


def times_assigned(
    counts: NDArray[np.int64], wanted: int, resamples: int, rng: "np.random.Generator"
) -> Iterator[NDArray[np.int64]]:
    """Number of units of each kind assigned to the first of two sets, in blocks."""
    for size in blocks(resamples, len(counts)):
        yield rng.multivariate_hypergeometric(counts, wanted, size=size, method="marginals")


def times_swapped(
    counts: NDArray[np.int64], resamples: int, rng: "np.random.Generator", progress: Progress | None = None
) -> Iterator[NDArray[np.int64]]:
    """Number of units of each kind with swapped systems, in blocks of resamples."""
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.binomial(counts, 0.5, size=(size, len(counts)))


def swapped(units: int, rng: "np.random.Generator") -> NDArray[np.bool_]:
    """The units with swapped systems in one resample."""
    return rng.integers(2, size=units, dtype=np.int8).astype(bool)


def ends_of(values: FloatArray, axis: int = 0, tail: float = TAIL) -> FloatArray:
    """Ends of the central 95% of the values (Efron's percentile method), or of other percentiles."""
    return np.asarray(np.quantile(values, [tail, 1 - tail], axis=axis))


def interval_of(values: FloatArray, tail: float = TAIL) -> Interval:
    """The central 95% of the values, or other percentiles."""
    low, high = ends_of(np.asarray(values), tail=tail)
    return Interval(float(low), float(high))


def share_at_least(values: FloatArray, bound: float) -> float:
    """p-value: the fraction of values that are at least as far from zero as the bound, counting the bound itself.

    Allows for rounding differences between sums of the same numbers.
    """
    reached = np.abs(values) >= abs(bound) * (1 - 1e-12) - 1e-15
    return float((1 + np.count_nonzero(reached)) / (1 + len(values)))
