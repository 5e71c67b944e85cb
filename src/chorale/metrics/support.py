"""Effective number of units behind a score, by leaving out each unit in turn (the jackknife).

A score varies only if its units differ. If a label is rare, or nearly all answers are correct, only a few items are
informative: resamples are too similar, and their interval is too narrow.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.clusters import Clusters, Codes
from chorale.metrics.sampling import TAIL, TOO_FEW, Interval, Narrowness, interval_of
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked
from chorale.metrics.student import t_bound, wilson

FEWEST = 5
"""Minimum number of units for a valid bootstrap interval."""
_FEWEST_OF_MANY = 10
"""Minimum number of units if most are uninformative, as for a rare label, because their number is itself random."""
ENOUGH = 30
"""Number of units above which the bootstrap is as good as Wilson's interval for fractions."""
_STEP = 10
"""Required numbers of units are rounded to tens, because they are estimates."""
_MOST_LEFT_OUT = 200
"""Maximum number of units left out one by one, for a metric that needs all items each time."""
_AT_ONCE = 2**21
"""Maximum number of values in memory."""
_ROUNDING = 1e-9
"""Tolerance for rounding differences between sums."""


@dataclass(frozen=True, slots=True)
class Support:
    """Support of one score."""

    units: int
    carrying: float
    """Effective number of units: their number, if all have equal influence."""
    error: float
    """Standard error of the score."""
    whole: float | None = None
    """Denominator, if the score is a fraction."""
    whole_units: float = 0.0
    """Effective number of units of the denominator: their number, if all contribute equally."""
    log_scale_from: int | None = None
    """Minimum number of units for an interval, if scores are 1 minus a sum of distances; None for other metrics."""

    @property
    def is_enough(self) -> bool:
        """Whether the units suffice for an interval."""
        return self.carrying >= self._least_carrying and self.units >= (self.log_scale_from or 0)

    @property
    def units_needed(self) -> int | None:
        """Required number of similar units, rounded up; None if no unit affects the score."""
        if self.carrying < _ROUNDING:
            return None
        needed = max(self._least_carrying * self.units / self.carrying, self.log_scale_from or 0)
        return _STEP * ceil(needed / _STEP)

    @property
    def _least_carrying(self) -> int:
        return _FEWEST_OF_MANY if 3 * self.carrying < self.units else FEWEST

    def interval(self, value: float, drawn: FloatArray) -> Interval:
        """The interval of the score from its resamples."""
        if self.units < 2:
            return TOO_FEW if self.whole is None else self._wilson(value)
        if self.whole is not None and self.carrying < ENOUGH:
            return self._wilson(value)
        if not self.is_enough:
            return TOO_FEW
        if self.log_scale_from is not None:
            return on_log_scale(value, self.error, self.units)
        return interval_of(drawn, Narrowness.of_units(self.units).tail)

    def _wilson(self, value: float) -> Interval:
        """Wilson's interval with the effective number of independent answers (Korn and Graubard)."""
        whole, units = self.whole or 0.0, self.whole_units
        clustered = whole > units * (1 + _ROUNDING)
        if units < (2 if clustered else 1) - _ROUNDING or not 0 <= value <= 1:
            return TOO_FEW
        spread, squared = value * (1 - value), self.error**2 * (1 - 1 / units)
        size = units if squared == 0 else min(whole, spread / squared)
        if clustered:
            # The correlation within units is estimated from few units.
            size *= (t_bound(TAIL, whole - 1) / t_bound(TAIL, max(units - 1, 1.0))) ** 2
        return Interval(*wilson(value, size, t_bound(TAIL, inf)))


def on_log_scale(value: float, error: float, units: float) -> Interval:
    """Student's interval on the logarithm of the distance from 1, which is less skewed."""
    apart = 1 - value
    factor = exp(t_bound(TAIL, units - 1) * error / apart)
    return Interval(1 - apart * factor, 1 - apart / factor)


def support(statistics: Statistics, metric: Metric, clusters: Clusters | None) -> dict[str, Support]:
    """Support of every score; with two kinds of clusters, the smaller support."""
    ways = range(1 if clusters is None else len(clusters.names))
    if not metric.additive:
        rows = statistics.rows
        supports = [
            _left_out(codes, lambda kept: metric.formula(rows[kept]), metric.scores(statistics))
            for codes in (codes_of(statistics, clusters, way) for way in ways)
        ]
    else:
        sums = [statistics if clusters is None else clusters.sums(statistics, way) for way in ways]
        supports = [tally_support(Tally.of(each.rows), metric) for each in sums]
    if len(supports) > 1:
        # The standard error refers to only one kind of clusters, so resamples of both are needed.
        supports = [{name: replace(one, log_scale_from=None) for name, one in each.items()} for each in supports]
    return {name: min((one[name] for one in supports), key=lambda one: one.carrying) for name in supports[0]}


def tally_support(tally: Tally, metric: Metric) -> dict[str, Support]:
    """Support of an additive metric's scores, from the sums of every unit."""
    total = tally.sums()
    parts = np.array_split(tally.rows, 1 + tally.rows.size // _AT_ONCE)
    without = [metric.formula(total - rows) for rows in parts]
    wholes = {} if metric.wholes is None else metric.wholes(tally.rows)
    return {
        name: replace(
            _support(np.concatenate([np.asarray(one[name]) for one in without]), tally.counts, wholes.get(name)),
            log_scale_from=metric.log_scale_from,
        )
        for name in without[0]
    }


def difference_support(both: Tally, metric: Metric) -> dict[str, Support]:
    """Support of the differences between two systems with concatenated statistics."""
    (ones, others), (first, second) = np.split(both.sums(), 2), np.split(both.rows, 2, axis=1)
    of_first, of_second = metric.formula(ones - first), metric.formula(others - second)
    return {name: _support(np.asarray(of_first[name]) - of_second[name], both.counts) for name in of_first}


def difference_support_by_items(
    first: FloatArray, second: FloatArray, codes: Codes, metric: Metric
) -> dict[str, Support]:
    """Support of a metric that needs the items."""

    def differences(kept: NDArray[np.bool_]) -> dict[str, float]:
        of_first, of_second = metric.formula(first[kept]), metric.formula(second[kept])
        return {name: float(of_first[name]) - float(of_second[name]) for name in of_first}

    return _left_out(codes, differences, differences(np.ones(len(first), dtype=np.bool_)))


def codes_of(statistics: Statistics, clusters: Clusters | None, way: int = 0) -> Codes:
    """The unit of each item: its cluster, or itself."""
    return np.arange(len(statistics.items)) if clusters is None else clusters.codes(statistics.items, way)[1]


def _left_out(
    codes: Codes, score: Callable[[NDArray[np.bool_]], Mapping[str, FloatArray | float]], names: Iterable[str]
) -> dict[str, Support]:
    """Leaves out each unit in turn; if there are too many units, all are assumed to contribute."""
    units = int(codes.max()) + 1
    if units > _MOST_LEFT_OUT:
        return {name: Support(units, units, 0.0) for name in names}
    without = stacked([score(codes != unit) for unit in range(units)]) if units > 1 else {}
    return {name: _support(without.get(name, np.zeros(1)), np.ones(units)) for name in names}


def _support(without: FloatArray, counts: FloatArray, wholes: FloatArray | float | None = None) -> Support:
    """Support from the scores without each kind of unit, and the number of units of each kind."""
    units = float(counts.sum())
    away = without - counts @ without / units
    squares = float(counts @ away**2)
    carrying = float(counts @ np.abs(away)) ** 2 / squares if squares > _ROUNDING**2 else 0.0
    error = sqrt(squares * (units - 1) / units)
    if wholes is None:
        return Support(int(units), carrying, error)
    parts = np.asarray(wholes, dtype=np.float64)
    whole, of_squares = float(counts @ parts), float(counts @ parts**2)
    return Support(int(units), carrying, error, whole, whole**2 / of_squares if of_squares else 0.0)
