"""A metric consists of a table of statistics with one row per item, and a pure function from statistics to scores.

If few rows are distinct, a tally stores each once with its count.
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
    """Statistics of each item. The metric defines what an item is (a verb, a sentence, a unit)."""

    items: tuple[str, ...]
    rows: FloatArray
    """One row per item, one column per statistic."""

    def __repr__(self) -> str:
        items = plural(len(self.items), "item", "items")
        return brief_repr("Statistics", items, plural(self.rows.shape[1], "number each", "numbers each"))

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or len(self.items) != len(self.rows):
            message = (
                f"statistics must have one row per item: expected {len(self.items)} rows, found the shape "
                f"{self.rows.shape}"
            )
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Metric:
    """Function from statistics to scores.

    For an additive metric, `formula` takes sums of the columns, in an array whose last axis is the columns, and returns
    every score as an array of the other axes: one call scores thousands of resamples. For other metrics, it takes the
    rows of the items (repeated if sampled twice) and returns single numbers.
    """

    formula: Callable[[FloatArray], Mapping[str, FloatArray | float]]
    additive: bool = True
    wholes: Callable[[FloatArray], Mapping[str, FloatArray | float]] | None = None
    """Denominators of scores that are fractions, from the same sums. Their intervals are valid even for few items."""
    log_scale_from: int | None = None
    """Minimum number of units for an interval of scores that are 1 minus a sum of distances. A few large distances make
    such sums skewed, so their interval is Student's on a logarithmic scale.
    """

    def scores(self, statistics: Statistics) -> dict[str, float]:
        given = statistics.rows.sum(axis=0) if self.additive else statistics.rows
        return {name: float(value) for name, value in self.formula(given).items()}


def stacked(resamples: Sequence[Mapping[str, FloatArray | float]]) -> dict[str, FloatArray]:
    """One array per score, with a value for every resample."""
    return {name: np.asarray([float(one[name]) for one in resamples]) for name in resamples[0]}


@dataclass(frozen=True, slots=True)
class Tally:
    """Sorted distinct rows with their counts.

    Statistics are mostly small counts, so distinct rows are few. Sampling their counts is equivalent to sampling items,
    and costs no more for a million items.
    """

    rows: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, *, absent: int = 0) -> Self:
        """Tally of one row per item, plus a number of additional items whose statistics are all 0.

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
