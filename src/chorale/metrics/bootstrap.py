"""Bootstrap intervals: the variation of a score over samples of units.

Each resample has the same number of units, sampled with replacement, and the score is computed again. The interval is
the central part of these scores (Efron's percentile method, with wider percentiles for few units). A unit is an item,
or a cluster of items with `clusters`. If few units determine a score, fractions get Wilson's interval and other scores
none.
"""

from collections.abc import Iterator

import numpy as np

from chorale.metrics.clusters import Clusters, Codes
from chorale.metrics.sampling import (
    TOO_FEW,
    Interval,
    Narrowness,
    Progress,
    interval_of,
    times_each_placed,
    times_taken,
)
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked
from chorale.metrics.support import FEWEST, support, tally_support

_ALIKE = 10
"""Mean number of items per distinct row above which sampling rows is faster than sampling items."""


def intervals(
    statistics: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
    clusters: Clusters | None = None,
) -> dict[str, Interval]:
    """An interval for every score of the metric. The same seed and items give the same interval, in any order."""
    if not len(statistics.items):
        raise ValueError("there are no items to sample from")
    drawn = resampled(statistics, metric, resamples=resamples, seed=seed, progress=progress, clusters=clusters)
    values = metric.scores(statistics)
    return {
        name: one.interval(values[name], drawn[name]) for name, one in support(statistics, metric, clusters).items()
    }


def tally_intervals(tally: Tally, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Interval]:
    """Intervals from a tally, for an additive metric."""
    drawn = _drawn(tally, metric, resamples, np.random.default_rng(seed), None)
    return _around(tally, metric, drawn)


def row_intervals(rows: FloatArray, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Interval]:
    """Intervals from one row per item, if most rows differ, as for probabilities."""
    if not len(rows):
        raise ValueError("there are no items to sample from")
    tally = Tally.of(rows)
    if _ALIKE * len(tally.rows) <= len(rows):
        return tally_intervals(tally, metric, resamples=resamples, seed=seed)
    ordered = np.repeat(tally.rows, tally.counts.astype(np.intp), axis=0)
    counts = times_each_placed(len(rows), resamples, np.random.default_rng(seed))
    sums = np.concatenate([drawn @ ordered for drawn in counts])
    return _around(tally, metric, {name: np.asarray(values) for name, values in metric.formula(sums).items()})


def _around(tally: Tally, metric: Metric, drawn: dict[str, FloatArray]) -> dict[str, Interval]:
    values = metric.formula(tally.sums())
    return {name: one.interval(float(values[name]), drawn[name]) for name, one in tally_support(tally, metric).items()}


def median_interval(values: FloatArray, *, resamples: int = 1000, seed: int = 1) -> Interval:
    """Bootstrap intervals of the median of some values.

    The rank of a resample's median follows a beta distribution, so no full resamples are needed.
    """
    if not len(values):
        raise ValueError("there are no items to sample from")
    rng = np.random.default_rng(seed)
    count, ordered = len(values), np.sort(values)
    if count < FEWEST:
        return TOO_FEW
    middle = (count + 1) // 2
    lower = rng.beta(middle, count + 1 - middle, size=resamples)
    upper = lower if count % 2 else lower + (1 - lower) * rng.beta(1, count - middle, size=resamples)
    drawn = [ordered[np.minimum((place * count).astype(np.int64), count - 1)] for place in (lower, upper)]
    return interval_of((drawn[0] + drawn[1]) / 2, Narrowness.of_units(count).tail)


def resampled(
    statistics: Statistics,
    metric: Metric,
    *,
    resamples: int,
    seed: int,
    progress: Progress | None = None,
    clusters: Clusters | None = None,
) -> dict[str, FloatArray]:
    """The scores of each resample."""
    rng = np.random.default_rng(seed)
    if metric.additive and (clusters is None or len(clusters.names) == 1):
        units = statistics if clusters is None else clusters.sums(statistics)
        return _drawn(Tally.of(units.rows), metric, resamples, rng, progress)
    ordered = in_fixed_order(statistics)
    if metric.additive and clusters is not None:
        sums = [times @ ordered.rows for times in clusters.times(ordered, resamples, rng, progress)]
        return {name: np.asarray(value) for name, value in metric.formula(np.concatenate(sums)).items()}
    return stacked(
        [metric.formula(ordered.rows[places]) for places in drawn_places(ordered, clusters, resamples, rng, progress)]
    )


def _drawn(
    tally: Tally, metric: Metric, resamples: int, rng: "np.random.Generator", progress: Progress | None
) -> dict[str, FloatArray]:
    sums = np.concatenate([times @ tally.rows for times in times_taken(tally.counts, resamples, rng, progress)])
    return {name: np.asarray(value) for name, value in metric.formula(sums).items()}


def drawn_places(
    statistics: Statistics,
    clusters: Clusters | None,
    resamples: int,
    rng: "np.random.Generator",
    progress: Progress | None,
) -> Iterator[Codes]:
    """Item indices of each resample, for a metric that needs the items."""
    count = len(statistics.items)
    if clusters is None:
        for number in range(resamples):
            yield rng.integers(count, size=count)
            if progress:
                progress(number + 1, resamples)
        return
    for block in clusters.times(statistics, resamples, rng, progress):
        for times in block:
            # With few clusters of two kinds, the sampled clusters may have no common item.
            yield np.repeat(np.arange(count), times.astype(np.intp) if times.any() else 1)


def in_fixed_order(statistics: Statistics) -> Statistics:
    """Items sorted by their rows, so that no sample depends on their order in the input."""
    if not statistics.rows.shape[1]:
        return statistics
    order = np.lexsort(statistics.rows.T[::-1])
    return Statistics(tuple(statistics.items[place] for place in order), statistics.rows[order])
