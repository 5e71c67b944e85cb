"""Bootstrap intervals: how far a score would move if the items had been others of the same kind.

Items are drawn with replacement, as many as there are, and the score is computed again; the interval holds the middle
share of what comes out (Efron's percentile method).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from chorale.metrics.statistics import FloatArray, Metric, Statistics, stacked
from chorale.metrics.tally import Tally

Progress = Callable[[int, int], None]
_AT_ONCE = 2**22
"""Numbers in memory at a time while drawing."""
_NEAR_BY = 2**16
"""Numbers that stay in the processor's own memory."""
_ALIKE = 10
"""How many items must share a row, on average, for drawing rows to take less time than drawing items."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def as_list(self) -> list[float]:
        return [self.low, self.high]


def intervals(
    statistics: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
    progress: Progress | None = None,
) -> dict[str, Interval]:
    """An interval for every score of the metric. The same seed and items give the same interval, in any order."""
    if not len(statistics.items):
        raise ValueError("there are no items to draw from")
    drawn = resampled(statistics, metric, resamples=resamples, seed=seed, progress=progress)
    return {name: interval_of(values, level) for name, values in drawn.items()}


def tally_intervals(
    tally: Tally, metric: Metric, *, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> dict[str, Interval]:
    """The same from a tally, for an additive metric."""
    drawn = _drawn(tally, metric, resamples, np.random.default_rng(seed), None)
    return {name: interval_of(values, level) for name, values in drawn.items()}


def row_intervals(
    rows: FloatArray, metric: Metric, *, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> dict[str, Interval]:
    """The same from one row per item, of which most may differ, as probabilities do."""
    if not len(rows):
        raise ValueError("there are no items to draw from")
    tally = Tally.of(rows)
    if _ALIKE * len(tally.rows) <= len(rows):
        return tally_intervals(tally, metric, resamples=resamples, level=level, seed=seed)
    ordered = np.repeat(tally.rows, tally.counts.astype(np.intp), axis=0)
    counts = _draw_items(len(rows), resamples, np.random.default_rng(seed))
    sums = np.concatenate([drawn @ ordered for drawn in counts])
    return {name: interval_of(np.asarray(values), level) for name, values in metric.formula(sums).items()}


def median_interval(values: FloatArray, *, resamples: int = 1000, level: float = 0.95, seed: int = 1) -> Interval:
    """The same for the median of some values.

    Which of the sorted values is the median of a resample follows a beta distribution, so none has to be drawn whole.
    """
    if not len(values):
        raise ValueError("there are no items to draw from")
    rng = np.random.default_rng(seed)
    count, ordered = len(values), np.sort(values)
    middle = (count + 1) // 2
    lower = rng.beta(middle, count + 1 - middle, size=resamples)
    upper = lower if count % 2 else lower + (1 - lower) * rng.beta(1, count - middle, size=resamples)
    drawn = [ordered[np.minimum((place * count).astype(np.int64), count - 1)] for place in (lower, upper)]
    return interval_of((drawn[0] + drawn[1]) / 2, level)


def interval_of(values: FloatArray, level: float) -> Interval:
    """The middle `level` of the values."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def resampled(
    statistics: Statistics, metric: Metric, *, resamples: int, seed: int, progress: Progress | None = None
) -> dict[str, FloatArray]:
    """The scores of that many resamples."""
    rng = np.random.default_rng(seed)
    if not metric.additive:
        rows = in_fixed_order(statistics.rows)
        drawn = []
        for number in range(resamples):
            drawn.append(metric.formula(rows[rng.integers(len(rows), size=len(rows))]))
            if progress:
                progress(number + 1, resamples)
        return stacked(drawn)
    return _drawn(Tally.of(statistics.rows), metric, resamples, rng, progress)


def _drawn(
    tally: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    sums = np.concatenate([draws @ tally.rows for draws in draw_counts(tally.counts, resamples, rng, progress)])
    return {name: np.asarray(value) for name, value in metric.formula(sums).items()}


def in_fixed_order(rows: FloatArray) -> FloatArray:
    """The rows sorted, so that nothing drawn from them depends on the order in which they came."""
    return rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows


def draw_counts(
    weights: FloatArray, resamples: int, rng: np.random.Generator, progress: Progress | None = None
) -> Iterator[FloatArray]:
    """How often each distinct row is drawn, for that many resamples, a block at a time: all would not fit in memory."""
    total = int(weights.sum())
    block = max(1, _AT_ONCE // max(1, len(weights)))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        yield rng.multinomial(total, weights / total, size=size).astype(np.float64)
        if progress:
            progress(start + size, resamples)


def _draw_items(items: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """How often each item is drawn, as above, one item after the other: nothing is known to be alike."""
    block = max(1, _NEAR_BY // items)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        places = rng.integers(items, size=(size, items))
        places += items * np.arange(size)[:, None]
        yield np.bincount(places.reshape(-1), minlength=size * items).reshape(size, items).astype(np.float64)
