"""Random resamples, and nothing else in Chorale draws any: how often each unit is taken, which interval holds the
middle of what comes out, and how often a difference as large comes out by luck.

A unit is whatever is sampled together: an item, or all items of one writer, worker or document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.statistics import FloatArray, Statistics

Progress = Callable[[int, int], None]
LEVEL = 0.95
"""Of all intervals."""
Units = Mapping[str, str]
"""The unit that each item belongs to."""
_AT_ONCE = 2**22
"""Numbers in memory at a time while sampling."""
_NEAR_BY = 2**16
"""Numbers that stay in the processor's own memory."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def as_list(self) -> list[float]:
        return [self.low, self.high]


def blocks(resamples: int, numbers: int, *, at_once: int = _AT_ONCE, progress: Progress | None = None) -> Iterator[int]:
    """Sizes of blocks of resamples that need so many numbers each: all would not fit in memory."""
    block = max(1, at_once // max(1, numbers))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield size
        if progress:
            progress(start + size, resamples)


def times_taken(
    counts: FloatArray, resamples: int, rng: np.random.Generator, progress: Progress | None = None
) -> Iterator[FloatArray]:
    """How often each kind of unit is taken, where there are `counts` of each kind; a block of resamples at a time."""
    total = int(counts.sum())
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.multinomial(total, counts / total, size=size).astype(np.float64)


def times_each_taken(units: int, resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often each of a few units is taken: resamples × units."""
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).astype(np.float64)


def times_each_placed(units: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """How often each of many units is taken, one after the other: nothing is known to be alike."""
    for size in blocks(resamples, units, at_once=_NEAR_BY):
        places = rng.integers(units, size=(size, units))
        places += units * np.arange(size)[:, None]
        yield np.bincount(places.reshape(-1), minlength=size * units).reshape(size, units).astype(np.float64)


def taken(groups: Sequence[NDArray[np.intp]] | int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places of the items of one resample: of so many items, or of groups of items that are sampled together."""
    if isinstance(groups, int):
        return rng.integers(groups, size=groups)
    drawn = rng.integers(len(groups), size=len(groups))
    return np.concatenate([groups[unit] for unit in drawn.tolist()])


def times_swapped(
    counts: NDArray[np.int64], resamples: int, rng: np.random.Generator, progress: Progress | None = None
) -> Iterator[NDArray[np.int64]]:
    """Of so many units of each kind, for how many a coin swaps the two systems; a block of resamples at a time."""
    for size in blocks(resamples, len(counts), progress=progress):
        yield rng.binomial(counts, 0.5, size=(size, len(counts)))


def swapped(units: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """For which units a coin swaps the two systems, in one resample."""
    return rng.integers(2, size=units, dtype=np.int8).astype(bool)


def ends_of(values: FloatArray, axis: int = 0) -> FloatArray:
    """The ends of the middle 95% of the values, by Efron's percentile method."""
    tail = (1 - LEVEL) / 2
    return np.asarray(np.quantile(values, [tail, 1 - tail], axis=axis))


def interval_of(values: FloatArray) -> Interval:
    """The middle 95% of the values."""
    low, high = ends_of(np.asarray(values))
    return Interval(float(low), float(high))


def share_at_least(values: FloatArray, bound: float) -> float:
    """How often the values are as far from zero as the bound, counting the bound itself as one more of them.

    Two sums of the same numbers may differ in their last digits without meaning it.
    """
    reached = np.abs(values) >= abs(bound) * (1 - 1e-12) - 1e-15
    return float((1 + np.count_nonzero(reached)) / (1 + len(values)))


def grouped(statistics: Statistics, units: Units) -> tuple[tuple[str, ...], list[NDArray[np.intp]]]:
    """The units, sorted, and the places of each one's items; ValueError if an item has no unit."""
    lacking = [item for item in statistics.items if item not in units]
    if lacking:
        raise ValueError(f"{len(lacking)} items belong to no unit, such as {lacking[0]!r}")
    places: dict[str, list[int]] = {}
    for place, item in enumerate(statistics.items):
        places.setdefault(units[item], []).append(place)
    names = tuple(sorted(places))
    return names, [np.asarray(places[name], dtype=np.intp) for name in names]


def by_unit(statistics: Statistics, units: Units | None) -> Statistics:
    """The sums over every unit's items, which is all that an additive metric needs; as they are without units."""
    if units is None:
        return statistics
    names, groups = grouped(statistics, units)
    return Statistics(names, np.stack([statistics.rows[group].sum(axis=0) for group in groups]))
