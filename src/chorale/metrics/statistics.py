"""A metric is a table of statistics, one row per item, and a pure function from them to scores.

Where few of the rows are different, a tally has each once, and how often it occurs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a metric saw of each item. What an item is (a verb, a sentence, a unit) is the metric's to say."""

    items: tuple[str, ...]
    rows: FloatArray
    """One row per item, one column per statistic."""

    def __repr__(self) -> str:
        items = plural(len(self.items), "item", "items")
        return brief_repr("Statistics", items, plural(self.rows.shape[1], "number each", "numbers each"))

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or len(self.items) != len(self.rows):
            message = f"{len(self.items)} items need as many rows of statistics, not an array of {self.rows.shape}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Metric:
    """How scores follow from statistics.

    Of an additive metric, `formula` takes the sums of the statistics' columns, in an array whose last axis is the
    columns, and gives every score as an array of the axes before it: one call scores thousands of resamples. Of any
    other, it takes the rows of the items themselves (those sampled twice occur twice) and gives single numbers.
    """

    formula: Callable[[FloatArray], Mapping[str, FloatArray | float]]
    additive: bool = True
    wholes: Callable[[FloatArray], Mapping[str, FloatArray | float]] | None = None
    """What scores that are fractions are fractions of, from the same sums: their intervals hold from few items too."""
    log_scale_from: int | None = None
    """Of scores that are 1 less a sum of distances: how many units an interval needs at least. A few large distances
    make such sums skewed, so their interval is Student's on a logarithmic scale."""

    def scores(self, statistics: Statistics) -> dict[str, float]:
        given = statistics.rows.sum(axis=0) if self.additive else statistics.rows
        return {name: float(value) for name, value in self.formula(given).items()}


def stacked(resamples: Sequence[Mapping[str, FloatArray | float]]) -> dict[str, FloatArray]:
    """One array per score, with a value for every resample."""
    return {name: np.asarray([float(one[name]) for one in resamples]) for name in resamples[0]}


@dataclass(frozen=True, slots=True)
class Tally:
    """The different rows, sorted, and how many items have each.

    Statistics are mostly small counts, so there are few: drawing how often each is taken is the same as drawing items,
    and costs no more for a million of them.
    """

    rows: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, *, absent: int = 0) -> Self:
        """Of one row per item, and of a number of further items whose statistics are all 0.

        >>> Tally.of(np.array([[1.0, 0.0], [1.0, 0.0]]), absent=3).counts.tolist()
        [3.0, 2.0]
        """
        given = np.vstack([rows, np.zeros((1, rows.shape[1]))]) if absent else rows
        distinct, place, counts = np.unique(given, axis=0, return_inverse=True, return_counts=True)
        many = counts.astype(np.float64)
        if absent:
            many[place.reshape(-1)[-1]] += absent - 1
        return cls(distinct, many)

    def sums(self) -> FloatArray:
        return np.asarray(self.counts @ self.rows)
