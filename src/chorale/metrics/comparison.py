"""Significance tests for the difference of two systems on the same items, or of two arms on their own items.

Two tests for systems on the same items, because reviewers ask for either: the paired bootstrap (Koehn 2004) resamples
units with replacement; approximate randomisation (Noreen 1989) randomly swaps the two systems' results per unit and
counts differences at least as large as the observed one. Unpaired sets of items are resampled separately, and
permuted: units are reassigned to the two sets. A unit is an item, or all items of a cluster that were sampled or
assigned to an arm together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from chorale.metrics.bootstrap import drawn_places, in_fixed_order
from chorale.metrics.clusters import Clusters, Codes
from chorale.metrics.sampling import (
    TOO_FEW,
    Interval,
    Narrowness,
    Progress,
    interval_of,
    share_at_least,
    swapped,
    times_swapped,
    times_taken,
)
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked
from chorale.metrics.support import (
    FEWEST,
    Support,
    codes_of,
    difference_support,
    difference_support_by_items,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One score of two systems, or of two sets of items."""

    first: float
    second: float
    difference: float
    """First score minus second score."""
    interval: Interval
    """Bootstrap interval of the difference."""
    p_bootstrap: float
    """Two-sided; NaN if too few units determine the difference."""

    @property
    def p_value(self) -> float:
        """The p-value that is adjusted for several comparisons."""
        return self.p_bootstrap

    def as_dict(self) -> dict[str, float | list[float] | None]:
        return {
            "value": self.first,
            "other": self.second,
            "difference": self.difference,
            "ci": self.interval.as_list(),
            "p_bootstrap": None if isnan(self.p_bootstrap) else self.p_bootstrap,
        }


@dataclass(frozen=True, slots=True)
class UnpairedComparison(Difference):
    """One score of two unpaired sets of items."""

    p_permutation: float
    """Two-sided permutation test: units are reassigned to the two sets. Exact if they were assigned randomly."""

    @property
    def p_value(self) -> float:
        return self.p_permutation

    def as_dict(self) -> dict[str, float | list[float] | None]:
        return {**Difference.as_dict(self), "p_permutation": self.p_permutation}


@dataclass(frozen=True, slots=True)
class Comparison(Difference):
    """One score of two systems on the same items; the bootstrap is paired."""

    p_randomisation: float
    """Two-sided."""

    @property
    def p_value(self) -> float:
        return self.p_randomisation

    def as_dict(self) -> dict[str, float | list[float] | None]:
        return {**Difference.as_dict(self), "p_randomisation": self.p_randomisation}


def compare(
    first: Statistics,
    second: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
    clusters: Clusters | None = None,
) -> dict[str, Comparison]:
    """Compares every score of the metric, paired by unit. Both must have the same items, in any order."""
    by_luck, by_coin = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    both = _paired(first, second)
    width = first.rows.shape[1]
    if metric.additive:
        units = Tally.of((both if clusters is None else clusters.sums(both)).rows)
        drawn = _by_bootstrap(both, units, metric, resamples, by_luck, progress, clusters)
        exchanged = _by_swapping(units, metric, resamples, by_coin, progress)
        carried = difference_support(units, metric)
    else:
        a, b, codes = both.rows[:, :width], both.rows[:, width:], codes_of(both, clusters)
        places = drawn_places(both, clusters, resamples, by_luck, progress)
        drawn = _each(((a[place], b[place]) for place in places), metric)
        exchanged = _each(_exchanged(a, b, codes, resamples, by_coin, progress), metric)
        carried = difference_support_by_items(a, b, codes, metric)
    narrow = None if clusters is None else clusters.count(both.items)
    return _compared(metric.scores(first), metric.scores(second), drawn, exchanged, carried, narrow)


def tally_compare(both: Tally, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Comparison]:
    """Compares from a tally whose rows are the statistics of the first system followed by those of the second."""
    times = times_taken(both.counts, resamples, np.random.default_rng([seed, 0]))
    drawn = differences(np.concatenate([each @ both.rows for each in times]), metric)
    exchanged = _by_swapping(both, metric, resamples, np.random.default_rng([seed, 1]), None)
    ones, others = (
        {name: float(value) for name, value in metric.formula(sums).items()} for sums in np.split(both.sums(), 2)
    )
    return _compared(ones, others, drawn, exchanged, difference_support(both, metric), None)


def _compared(
    of_first: dict[str, float],
    of_second: dict[str, float],
    drawn: dict[str, FloatArray],
    exchanged: dict[str, FloatArray],
    carried: dict[str, Support],
    units: int | None,
) -> dict[str, Comparison]:
    compared = {}
    for name, value in of_first.items():
        difference = value - of_second[name]
        narrow = Narrowness.of_units(carried[name].units if units is None else units)
        around, p_bootstrap = around_difference(drawn[name], difference, carried[name].carrying, narrow)
        p_randomisation = share_at_least(exchanged[name], difference)
        compared[name] = Comparison(value, of_second[name], difference, around, p_bootstrap, p_randomisation)
    return compared


def around_difference(
    drawn: FloatArray, difference: float, carrying: float, narrow: Narrowness
) -> tuple[Interval, float]:
    """The interval of a difference, and the probability that random variation causes one at least as large."""
    share = share_at_least(drawn - difference, difference)
    if carrying < FEWEST:
        # Without any differences, the p-value is 1.
        return TOO_FEW, 1.0 if share == 1 else nan
    return interval_of(drawn, narrow.tail), narrow.p_value(share)


def _paired(first: Statistics, second: Statistics) -> Statistics:
    """The statistics of the first system followed by those of the second, in a fixed order."""
    if set(first.items) != set(second.items) or len(first.items) != len(second.items):
        raise ValueError("both systems must be scored on the same items")
    if not first.items:
        raise ValueError("there are no items to compare")
    by_name = [np.argsort(np.asarray(each.items, dtype=object), kind="stable") for each in (first, second)]
    rows = np.hstack([first.rows[by_name[0]], second.rows[by_name[1]]])
    return in_fixed_order(Statistics(tuple(first.items[place] for place in by_name[0]), rows))


_Pairs = Iterator[tuple[FloatArray, FloatArray]]


def _exchanged(
    a: FloatArray, b: FloatArray, codes: Codes, resamples: int, rng: "np.random.Generator", progress: Progress | None
) -> _Pairs:
    units = int(codes.max()) + 1
    for number in range(resamples):
        swap = swapped(units, rng)[codes][:, None]
        yield np.where(swap, b, a), np.where(swap, a, b)
        if progress:
            progress(number + 1, resamples)


def _by_bootstrap(
    both: Statistics,
    units: Tally,
    metric: Metric,
    resamples: int,
    rng: "np.random.Generator",
    progress: Progress | None,
    clusters: Clusters | None,
) -> dict[str, FloatArray]:
    if clusters is not None and len(clusters.names) > 1:
        sums = [times @ both.rows for times in clusters.times(both, resamples, rng, progress)]
    else:
        sums = [times @ units.rows for times in times_taken(units.counts, resamples, rng, progress)]
    return differences(np.concatenate(sums), metric)


def _by_swapping(
    both: Tally, metric: Metric, resamples: int, rng: "np.random.Generator", progress: Progress | None
) -> dict[str, FloatArray]:
    first, second = np.split(both.rows, 2, axis=1)
    moves, place = np.unique(second - first, axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=both.counts).astype(np.int64)
    # Number of swapped units among those with equal effects on the sums.
    shifts = [times @ moves for times in times_swapped(counts, resamples, rng, progress)]
    shift = np.concatenate(shifts)
    return differences(both.sums() + np.hstack([shift, -shift]), metric)


def differences(sums: FloatArray, metric: Metric) -> dict[str, FloatArray]:
    """Differences from sums of the first system followed by those of the second."""
    of_first, of_second = (metric.formula(each) for each in np.split(sums, 2, axis=1))
    return {name: np.asarray(of_first[name]) - np.asarray(of_second[name]) for name in of_first}


def _each(pairs: _Pairs, metric: Metric) -> dict[str, FloatArray]:
    """Differences of a metric that needs the items, one resample at a time."""
    scored = [(metric.formula(first), metric.formula(second)) for first, second in pairs]
    ones, others = stacked([one for one, _ in scored]), stacked([other for _, other in scored])
    return {name: ones[name] - others[name] for name in ones}
