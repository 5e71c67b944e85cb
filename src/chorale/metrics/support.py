"""How many units a score rests on, found by leaving out each of them in turn (the jackknife).

A score can move only if its units differ. Where a label is rare, or nearly all answers are right, few of many items
say anything: resamples of them are too much alike, and an interval from them is too narrow.
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
"""Units that must carry a score for resamples to tell how far it would move."""
_FEWEST_OF_MANY = 10
"""The same where most units say nothing, as of a rare label: that so many do is luck itself."""
ENOUGH = 30
"""From so many on, resamples tell it of fractions as well as Wilson's interval does."""
_STEP = 10
"""How many units are needed is said in tens: it is an estimate."""
_MOST_LEFT_OUT = 200
"""Units that are left out one by one of a metric that must see all items each time."""
_AT_ONCE = 2**21
"""Numbers in memory at a time."""
_ROUNDING = 1e-9
"""Sums of the same numbers may differ in their last digits without meaning it."""


@dataclass(frozen=True, slots=True)
class Support:
    """What one score rests on."""

    units: int
    carrying: float
    """How many units carry it: their number, if leaving out any of them moves it as far."""
    error: float
    """Its standard error."""
    whole: float | None = None
    """What it is a fraction of, if it is one."""
    whole_units: float = 0.0
    """How many units the whole comes from: their number, if it is the same in all of them."""
    log_scale_from: int | None = None
    """The metric's, if its scores are 1 less a sum of distances."""

    @property
    def is_enough(self) -> bool:
        """Whether its units say how far it would move."""
        return self.carrying >= self._least_carrying and self.units >= (self.log_scale_from or 0)

    @property
    def units_needed(self) -> int | None:
        """How many units like these would be enough, rounded up; None if none of them moves the score."""
        if self.carrying < _ROUNDING:
            return None
        needed = max(self._least_carrying * self.units / self.carrying, self.log_scale_from or 0)
        return _STEP * ceil(needed / _STEP)

    @property
    def _least_carrying(self) -> int:
        return _FEWEST_OF_MANY if 3 * self.carrying < self.units else FEWEST

    def interval(self, value: float, drawn: FloatArray) -> Interval:
        """The interval of the score, of which there are resamples."""
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
        """Wilson's interval of as many answers as would tell as much if they were independent (Korn and Graubard)."""
        whole, units = self.whole or 0.0, self.whole_units
        clustered = whole > units * (1 + _ROUNDING)
        if units < (2 if clustered else 1) - _ROUNDING or not 0 <= value <= 1:
            return TOO_FEW
        spread, squared = value * (1 - value), self.error**2 * (1 - 1 / units)
        size = units if squared == 0 else min(whole, spread / squared)
        if clustered:
            # How alike the answers of a unit are has to be estimated from few units.
            size *= (t_bound(TAIL, whole - 1) / t_bound(TAIL, max(units - 1, 1.0))) ** 2
        return Interval(*wilson(value, size, t_bound(TAIL, inf)))


def on_log_scale(value: float, error: float, units: float) -> Interval:
    """Student's interval of the logarithm of the distance from 1, which is less skewed than the distance itself."""
    apart = 1 - value
    factor = exp(t_bound(TAIL, units - 1) * error / apart)
    return Interval(1 - apart * factor, 1 - apart / factor)


def support(statistics: Statistics, metric: Metric, clusters: Clusters | None) -> dict[str, Support]:
    """Of every score; of clusters of two kinds, by the kind that carries it less."""
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
        # The standard error is of one kind of clusters alone, so only resamples of both tell how far a score moves.
        supports = [{name: replace(one, log_scale_from=None) for name, one in each.items()} for each in supports]
    return {name: min((one[name] for one in supports), key=lambda one: one.carrying) for name in supports[0]}


def tally_support(tally: Tally, metric: Metric) -> dict[str, Support]:
    """Of an additive metric's scores, from the sums of every unit."""
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
    """Of the differences between two systems, whose statistics stand one behind the other."""
    (ones, others), (first, second) = np.split(both.sums(), 2), np.split(both.rows, 2, axis=1)
    of_first, of_second = metric.formula(ones - first), metric.formula(others - second)
    return {name: _support(np.asarray(of_first[name]) - of_second[name], both.counts) for name in of_first}


def difference_support_by_items(
    first: FloatArray, second: FloatArray, codes: Codes, metric: Metric
) -> dict[str, Support]:
    """The support of a metric that must see the items themselves."""

    def differences(kept: NDArray[np.bool_]) -> dict[str, float]:
        of_first, of_second = metric.formula(first[kept]), metric.formula(second[kept])
        return {name: float(of_first[name]) - float(of_second[name]) for name in of_first}

    return _left_out(codes, differences, differences(np.ones(len(first), dtype=np.bool_)))


def codes_of(statistics: Statistics, clusters: Clusters | None, way: int = 0) -> Codes:
    """Which unit each item belongs to: its cluster, or itself."""
    return np.arange(len(statistics.items)) if clusters is None else clusters.codes(statistics.items, way)[1]


def _left_out(
    codes: Codes, score: Callable[[NDArray[np.bool_]], Mapping[str, FloatArray | float]], names: Iterable[str]
) -> dict[str, Support]:
    """Each unit in turn; where they are many, all are taken to carry the scores."""
    units = int(codes.max()) + 1
    if units > _MOST_LEFT_OUT:
        return {name: Support(units, units, 0.0) for name in names}
    without = stacked([score(codes != unit) for unit in range(units)]) if units > 1 else {}
    return {name: _support(without.get(name, np.zeros(1)), np.ones(units)) for name in names}


def _support(without: FloatArray, counts: FloatArray, wholes: FloatArray | float | None = None) -> Support:
    """From the score without each kind of unit, and how many of each kind there are."""
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
