"""Is one system better than another on the same items, or was it luck?

Two tests, since reviewers ask for either: the paired bootstrap (Koehn 2004) draws items with replacement and looks at
how the difference moves; approximate randomisation (Noreen 1989) swaps the two systems' results on items chosen by
coin and looks at how often a difference as large comes out of that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.bootstrap import resampled
from chorale.metrics.sampling import (
    Interval,
    Progress,
    Units,
    by_unit,
    grouped,
    interval_of,
    share_at_least,
    swapped,
    taken,
    times_swapped,
    times_taken,
)
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked


@dataclass(frozen=True, slots=True)
class UnpairedComparison:
    """One score of two sets of items that nothing pairs: `difference` is the first's minus the second's."""

    first: float
    second: float
    difference: float
    interval: Interval
    """Of the difference, by the bootstrap."""
    p_bootstrap: float
    """Two-sided."""

    def as_dict(self) -> dict[str, float | list[float]]:
        return {
            "value": self.first,
            "other": self.second,
            "difference": self.difference,
            "ci": self.interval.as_list(),
            "p_bootstrap": self.p_bootstrap,
        }


@dataclass(frozen=True, slots=True)
class Comparison(UnpairedComparison):
    """One score of two systems on the same items; the bootstrap is paired."""

    p_randomisation: float
    """Two-sided."""

    def as_dict(self) -> dict[str, float | list[float]]:
        return {**UnpairedComparison.as_dict(self), "p_randomisation": self.p_randomisation}


def compare(
    first: Statistics,
    second: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
    units: Units | None = None,
) -> dict[str, Comparison]:
    """Every score of the metric compared, unit by unit; both must have the same items, in any order."""
    by_luck, by_coin = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    if metric.additive:
        both = Tally.of(np.hstack(_paired(by_unit(first, units), by_unit(second, units))))
        drawn = _by_bootstrap(both, metric, resamples, by_luck, progress)
        exchanged = _by_swapping(both, metric, resamples, by_coin, progress)
    else:
        a, b, groups = _paired_groups(first, second, units)
        drawn = _each(_redrawing(a, b, groups, by_luck), metric, resamples, progress)
        exchanged = _each(_exchanging(a, b, groups, by_coin), metric, resamples, progress)
    return _compared(metric.scores(first), metric.scores(second), drawn, exchanged)


def tally_compare(both: Tally, metric: Metric, *, resamples: int = 1000, seed: int = 1) -> dict[str, Comparison]:
    """The same from a tally whose rows are the first system's statistics and, behind them, the second's."""
    drawn = _by_bootstrap(both, metric, resamples, np.random.default_rng([seed, 0]), None)
    exchanged = _by_swapping(both, metric, resamples, np.random.default_rng([seed, 1]), None)
    ones, others = (
        {name: float(value) for name, value in metric.formula(sums).items()} for sums in np.split(both.sums(), 2)
    )
    return _compared(ones, others, drawn, exchanged)


def _compared(
    of_first: dict[str, float],
    of_second: dict[str, float],
    drawn: dict[str, FloatArray],
    exchanged: dict[str, FloatArray],
) -> dict[str, Comparison]:
    compared = {}
    for name, value in of_first.items():
        difference = value - of_second[name]
        p_bootstrap = share_at_least(drawn[name] - difference, difference)
        p_randomisation = share_at_least(exchanged[name], difference)
        interval = interval_of(drawn[name])
        compared[name] = Comparison(value, of_second[name], difference, interval, p_bootstrap, p_randomisation)
    return compared


def _paired(first: Statistics, second: Statistics) -> tuple[FloatArray, FloatArray]:
    """Both systems' rows in one fixed order."""
    if set(first.items) != set(second.items) or len(first.items) != len(second.items):
        raise ValueError("the two systems were not scored on the same items")
    if not first.items:
        raise ValueError("there are no items to compare on")
    by_name = [np.argsort(np.asarray(each.items, dtype=object), kind="stable") for each in (first, second)]
    a, b = first.rows[by_name[0]], second.rows[by_name[1]]
    both = np.hstack([a, b])
    order = np.lexsort(both.T[::-1])
    return a[order], b[order]


_Groups = list[NDArray[np.intp]] | int
"""The places of every unit's items; or how many items there are, each of them a unit."""


def _paired_groups(
    first: Statistics, second: Statistics, units: Units | None
) -> tuple[FloatArray, FloatArray, _Groups]:
    """Both systems' rows in one order, and the places of each unit's items there."""
    if units is None:
        a, b = _paired(first, second)
        return a, b, len(a)
    _paired(first, second)
    place = {item: number for number, item in enumerate(second.items)}
    return first.rows, second.rows[[place[item] for item in first.items]], grouped(first, units)[1]


_Draw = Callable[[], tuple[FloatArray, FloatArray]]


def _redrawing(a: FloatArray, b: FloatArray, groups: _Groups, rng: np.random.Generator) -> _Draw:
    def redrawn() -> tuple[FloatArray, FloatArray]:
        drawn = taken(groups, rng)
        return a[drawn], b[drawn]

    return redrawn


def _exchanging(a: FloatArray, b: FloatArray, groups: _Groups, rng: np.random.Generator) -> _Draw:
    unit_of, count = np.arange(len(a)), groups if isinstance(groups, int) else len(groups)
    for number, group in enumerate([] if isinstance(groups, int) else groups):
        unit_of[group] = number

    def exchanged() -> tuple[FloatArray, FloatArray]:
        swap = swapped(count, rng)[unit_of][:, None]
        return np.where(swap, b, a), np.where(swap, a, b)

    return exchanged


def _by_bootstrap(
    both: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    sums = np.concatenate([times @ both.rows for times in times_taken(both.counts, resamples, rng, progress)])
    first, second = np.split(sums, 2, axis=1)
    return _differences(first, second, metric)


def _by_swapping(
    both: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    first, second = np.split(both.rows, 2, axis=1)
    moves, place = np.unique(second - first, axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=both.counts).astype(np.int64)
    # Of the items that would move the sums alike, how many are swapped.
    shifts = [times @ moves for times in times_swapped(counts, resamples, rng, progress)]
    shift = np.concatenate(shifts)
    ones, others = np.split(both.sums(), 2)
    return _differences(ones + shift, others - shift, metric)


def _differences(first: FloatArray, second: FloatArray, metric: Metric) -> dict[str, FloatArray]:
    of_first, of_second = metric.formula(first), metric.formula(second)
    return {name: np.asarray(of_first[name]) - np.asarray(of_second[name]) for name in of_first}


def _each(draw: _Draw, metric: Metric, resamples: int, progress: Progress | None) -> dict[str, FloatArray]:
    """Differences of a metric that must see the items themselves, one resample at a time."""
    pairs = []
    for number in range(resamples):
        first, second = draw()
        pairs.append((metric.formula(first), metric.formula(second)))
        if progress:
            progress(number + 1, resamples)
    ones, others = stacked([one for one, _ in pairs]), stacked([other for _, other in pairs])
    return {name: ones[name] - others[name] for name in ones}


def compare_apart(
    first: tuple[Statistics, Metric],
    second: tuple[Statistics, Metric],
    *,
    resamples: int = 1000,
    seed: int = 1,
) -> dict[str, UnpairedComparison]:
    """Every score that both have, by an independent bootstrap over each one's items."""
    ours, theirs = (metric.scores(statistics) for statistics, metric in (first, second))
    drawn = resampled(*first, resamples=resamples, seed=seed)
    others = resampled(*second, resamples=resamples, seed=seed + 1)
    compared = {}
    for name in (name for name in ours if name in theirs):
        differences, difference = drawn[name] - others[name], ours[name] - theirs[name]
        p = share_at_least(differences - difference, difference)
        compared[name] = UnpairedComparison(ours[name], theirs[name], difference, interval_of(differences), p)
    return compared
