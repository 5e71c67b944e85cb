"""Bootstrap intervals: how far a score would move if the units had been others of the same kind.

Units are sampled with replacement, as many as there are, and the score is computed again; the interval holds the middle
share of what comes out (Efron's percentile method). A unit is an item, unless `units` says which items belong together.
"""

import numpy as np

from chorale.metrics.sampling import (
    Interval,
    Progress,
    Units,
    by_unit,
    grouped,
    interval_of,
    taken,
    times_each_placed,
    times_taken,
)
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked

_ALIKE = 10
"""How many items must share a row, on average, for sampling rows to take less time than sampling items."""


def intervals(
    statistics: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
    units: Units | None = None,
) -> dict[str, Interval]:
    """An interval for every score of the metric. The same seed and items give the same interval, in any order."""
    if not len(statistics.items):
        raise ValueError("there are no items to draw from")
    drawn = resampled(statistics, metric, resamples=resamples, seed=seed, progress=progress, units=units)
    return {name: interval_of(values) for name, values in drawn.items()}


def tally_intervals(tally: Tally, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Interval]:
    """The same from a tally, for an additive metric."""
    drawn = _drawn(tally, metric, resamples, np.random.default_rng(seed), None)
    return {name: interval_of(values) for name, values in drawn.items()}


def row_intervals(rows: FloatArray, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Interval]:
    """The same from one row per item, of which most may differ, as probabilities do."""
    if not len(rows):
        raise ValueError("there are no items to draw from")
    tally = Tally.of(rows)
    if _ALIKE * len(tally.rows) <= len(rows):
        return tally_intervals(tally, metric, resamples=resamples, seed=seed)
    ordered = np.repeat(tally.rows, tally.counts.astype(np.intp), axis=0)
    counts = times_each_placed(len(rows), resamples, np.random.default_rng(seed))
    sums = np.concatenate([drawn @ ordered for drawn in counts])
    return {name: interval_of(np.asarray(values)) for name, values in metric.formula(sums).items()}


def median_interval(values: FloatArray, *, resamples: int = 1000, seed: int = 1) -> Interval:
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
    return interval_of((drawn[0] + drawn[1]) / 2)


def resampled(
    statistics: Statistics,
    metric: Metric,
    *,
    resamples: int,
    seed: int,
    progress: Progress | None = None,
    units: Units | None = None,
) -> dict[str, FloatArray]:
    """The scores of that many resamples."""
    rng = np.random.default_rng(seed)
    if metric.additive:
        return _drawn(Tally.of(by_unit(statistics, units).rows), metric, resamples, rng, progress)
    rows = in_fixed_order(statistics.rows) if units is None else statistics.rows
    groups = len(rows) if units is None else grouped(statistics, units)[1]
    drawn = []
    for number in range(resamples):
        drawn.append(metric.formula(rows[taken(groups, rng)]))
        if progress:
            progress(number + 1, resamples)
    return stacked(drawn)


def _drawn(
    tally: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    sums = np.concatenate([times @ tally.rows for times in times_taken(tally.counts, resamples, rng, progress)])
    return {name: np.asarray(value) for name, value in metric.formula(sums).items()}


def in_fixed_order(rows: FloatArray) -> FloatArray:
    """The rows sorted, so that nothing drawn from them depends on the order in which they came."""
    return rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows
