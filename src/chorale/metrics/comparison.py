"""Is one system better than another on the same items, or was it luck?

Two tests, since reviewers ask for either: the paired bootstrap (Koehn 2004) draws items with replacement and looks at
how the difference moves; approximate randomisation (Noreen 1989) swaps the two systems' results on items chosen by
coin and looks at how often a difference as large comes out of that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chorale.metrics.intervals import Interval, Progress, draw_counts, interval_of
from chorale.metrics.statistics import FloatArray, Metric, Statistics, stacked
from chorale.metrics.tally import Tally

_AT_ONCE = 2**22


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score of two systems: `difference` is the first's minus the second's."""

    first: float
    second: float
    difference: float
    interval: Interval
    """Of the difference, by the paired bootstrap."""
    p_bootstrap: float
    """Two-sided."""
    p_randomisation: float
    """Two-sided."""

    def as_dict(self) -> dict[str, float | list[float]]:
        return {
            "value": self.first,
            "other": self.second,
            "difference": self.difference,
            "ci": self.interval.as_list(),
            "p_bootstrap": self.p_bootstrap,
            "p_randomisation": self.p_randomisation,
        }


def compare(
    first: Statistics,
    second: Statistics,
    metric: Metric,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
    progress: Progress | None = None,
) -> dict[str, Comparison]:
    """Every score of the metric compared, item by item; both must have the same items, in any order."""
    a, b = _paired(first, second)
    by_luck, by_coin = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    if metric.additive:
        both = Tally.of(np.hstack([a, b]))
        drawn = _by_bootstrap(both, metric, resamples, by_luck, progress)
        swapped = _by_swapping(both, metric, resamples, by_coin, progress)
    else:
        drawn = _each(_redrawing(a, b, by_luck), metric, resamples, progress)
        swapped = _each(_exchanging(a, b, by_coin), metric, resamples, progress)
    return _compared(metric.scores(first), metric.scores(second), drawn, swapped, level)


def tally_compare(
    both: Tally,
    metric: Metric,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> dict[str, Comparison]:
    """The same from a tally whose rows are the first system's statistics and, behind them, the second's."""
    drawn = _by_bootstrap(both, metric, resamples, np.random.default_rng([seed, 0]), None)
    swapped = _by_swapping(both, metric, resamples, np.random.default_rng([seed, 1]), None)
    ones, others = (
        {name: float(value) for name, value in metric.formula(sums).items()} for sums in np.split(both.sums(), 2)
    )
    return _compared(ones, others, drawn, swapped, level)


def _compared(
    of_first: dict[str, float],
    of_second: dict[str, float],
    drawn: dict[str, FloatArray],
    swapped: dict[str, FloatArray],
    level: float,
) -> dict[str, Comparison]:
    compared = {}
    for name, value in of_first.items():
        difference = value - of_second[name]
        compared[name] = Comparison(
            first=value,
            second=of_second[name],
            difference=difference,
            interval=interval_of(drawn[name], level),
            p_bootstrap=_share_at_least(drawn[name] - difference, difference),
            p_randomisation=_share_at_least(swapped[name], difference),
        )
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


def _share_at_least(values: FloatArray, bound: float) -> float:
    """How often the values are as far from zero as the bound, counting the bound itself as one more of them.

    Two sums of the same numbers may differ in their last digits without meaning it.
    """
    reached = np.abs(values) >= abs(bound) * (1 - 1e-12) - 1e-15
    return float((1 + np.count_nonzero(reached)) / (1 + len(values)))


_Draw = Callable[[], tuple[FloatArray, FloatArray]]


def _redrawing(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> _Draw:
    def redrawn() -> tuple[FloatArray, FloatArray]:
        drawn = rng.integers(len(a), size=len(a))
        return a[drawn], b[drawn]

    return redrawn


def _exchanging(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> _Draw:
    def exchanged() -> tuple[FloatArray, FloatArray]:
        swap = rng.integers(2, size=(len(a), 1), dtype=np.int8).astype(bool)
        return np.where(swap, b, a), np.where(swap, a, b)

    return exchanged


def _by_bootstrap(
    both: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    drawn = draw_counts(both.counts, resamples, rng, progress)
    sums = np.concatenate([draws @ both.rows for draws in drawn])
    first, second = np.split(sums, 2, axis=1)
    return _differences(first, second, metric)


def _by_swapping(
    both: Tally, metric: Metric, resamples: int, rng: np.random.Generator, progress: Progress | None
) -> dict[str, FloatArray]:
    first, second = np.split(both.rows, 2, axis=1)
    moves, place = np.unique(second - first, axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=both.counts).astype(np.int64)
    block = max(1, _AT_ONCE // len(moves))
    shifts = []
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        # Of the items that would move the sums alike, how many are swapped.
        shifts.append(rng.binomial(counts, 0.5, size=(size, len(moves))) @ moves)
        if progress:
            progress(start + size, resamples)
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
