"""Counts of values per item, the only input of most coefficients."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray, Metric
from chorale.metrics.judgments import Judgments

Places = NDArray[np.intp]
_DENSE_CELLS = 2**25
"""Maximum size of a table with one column per value."""
_MOST_COLUMNS = 256
"""Number of columns above which sampling from a list of items is faster than summing columns."""


def sums_at(places: NDArray[Any], weights: FloatArray, size: int) -> FloatArray:
    """Sum of the weights per position."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Non-zero counts by item and value, for items with enough judgments for a coefficient.

    The minimum is usually two, because a single judgment carries no information about agreement. Items with fewer have
    size 0 and no cells.
    """

    items: Places
    values: Places
    counts: FloatArray
    sizes: FloatArray
    """Number of judgments of every item."""
    n_values: int

    @property
    def n_items(self) -> int:
        return len(self.sizes)

    @cached_property
    def pairable(self) -> NDArray[np.bool_]:
        return self.sizes > 0

    @cached_property
    def totals(self) -> FloatArray:
        """Total count of each value."""
        return sums_at(self.values, self.counts, self.n_values)

    def by_item(self, weights: FloatArray) -> FloatArray:
        """The sum of a number per cell, for every item."""
        return sums_at(self.items, weights, self.n_items)

    def drawn_totals(self, drawn: FloatArray) -> FloatArray:
        """Count of each value, weighted by how often each item was sampled."""
        return sums_at(self.values, drawn[self.items] * self.counts, self.n_values)

    def dense(self) -> FloatArray:
        table = np.zeros((self.n_items, self.n_values))
        table[self.items, self.values] = self.counts
        return table


def value_counts(judgments: Judgments, *, least: int = 2) -> ValueCounts:
    """Counts of items with a minimum number of judgments."""
    items, values, sizes = _pairable(judgments, least)
    n_values = len(judgments.label_names)
    keys = items.astype(np.int64) * max(1, n_values) + values
    cells = len(sizes) * n_values
    if cells <= min(_DENSE_CELLS, 8 * len(keys) + 1024):
        table = np.bincount(keys, minlength=cells)
        places = np.flatnonzero(table)
        counts = table[places]
    else:
        places, counts = np.unique(keys, return_counts=True)
    of_item, of_value = np.divmod(places, max(1, n_values))
    return ValueCounts(of_item, of_value, counts.astype(np.float64), sizes, n_values)


def pairwise(counts: ValueCounts, between: Callable[[Places, Places], FloatArray]) -> FloatArray:
    """Σ_ck n_uc n_uk δ_ck for every item, over its pairs of different values."""
    sums = np.zeros(counts.n_items)
    lag = 1
    while lag < len(counts.items):
        # Cells are sorted by item, so those of one item are adjacent.
        first = np.flatnonzero(counts.items[:-lag] == counts.items[lag:])
        if not len(first):
            break
        second = first + lag
        distance = between(counts.values[first], counts.values[second])
        weights = 2 * counts.counts[first] * counts.counts[second] * distance
        sums += sums_at(counts.items[first], weights, counts.n_items)
        lag += 1
    return sums


def _pairable(judgments: Judgments, least: int) -> tuple[Places, Places, FloatArray]:
    tasks, labels = judgments.tasks, judgments.labels
    sizes = np.bincount(tasks, minlength=len(judgments.task_names))
    few = (sizes > 0) & (sizes < least)
    if few.any():
        kept = ~few[tasks]
        tasks, labels = tasks[kept], labels[kept]
        sizes[few] = 0
    return tasks.astype(np.intp), labels.astype(np.intp), sizes.astype(np.float64)


Formula = Callable[[FloatArray, FloatArray], FloatArray]
"""Computes the coefficient from sums of item statistics and totals of values."""


def evidence_of(
    own: FloatArray, counts: ValueCounts, formula: Formula, log_scale_from: int | None = None
) -> tuple[FloatArray, Metric]:
    """Statistics per item (its own and its counts of values), and the metric over them.

    With many values, a row only contains the item number, and the metric looks up the counts.
    """
    own_columns = own.shape[1]
    if counts.n_values <= _MOST_COLUMNS and counts.n_values * counts.n_items <= _DENSE_CELLS:
        rows = np.hstack([own, counts.dense()])
        return rows, Metric(
            lambda sums: {"value": formula(sums[..., :own_columns], sums[..., own_columns:])},
            log_scale_from=log_scale_from,
        )

    def of_drawn(weights: FloatArray) -> FloatArray:
        return formula(weights @ own, counts.drawn_totals(weights))

    return by_number(counts.n_items, of_drawn)


def by_number(n_items: int, value: Callable[[FloatArray], FloatArray]) -> tuple[FloatArray, Metric]:
    """Rows with item numbers, and a metric that takes the sampling counts of items."""

    def formula(rows: FloatArray) -> dict[str, FloatArray]:
        drawn = np.bincount(rows[:, 0].astype(np.intp), minlength=n_items)
        return {"value": value(drawn.astype(np.float64))}

    return np.arange(n_items, dtype=np.float64)[:, None], Metric(formula, additive=False)
