"""Adjusts several p-values for multiple comparisons: without any effect, one test in twenty has p < 0.05.

Holm's adjustment controls the probability of any false discovery. Benjamini and Hochberg's controls the fraction of
false discoveries, and Benjamini and Yekutieli's does so for dependent tests, too. Unknown p-values (NaN) stay unknown
and do not count as comparisons.
"""

from collections.abc import Sequence
from math import isnan, nan


def holm(values: Sequence[float]) -> list[float]:
    """Adjusts p-values with Holm's step-down method.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = _smallest_first(values)
    adjusted, highest = [nan] * len(values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * values[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Adjusts p-values with Benjamini and Hochberg's step-up method.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    order = _smallest_first(values)
    adjusted, lowest = [nan] * len(values), 1.0
    for rank, place in reversed(list(enumerate(order, 1))):
        lowest = min(lowest, values[place] * len(order) / rank)
        adjusted[place] = lowest
    return adjusted


def benjamini_yekutieli(values: Sequence[float]) -> list[float]:
    """Adjusts p-values with Benjamini and Yekutieli's step-up method, for tests on the same data.

    >>> [round(p, 3) for p in benjamini_yekutieli([0.01, 0.04, 0.03])]
    [0.055, 0.073, 0.073]
    """
    known = sum(not isnan(value) for value in values)
    times = sum(1 / rank for rank in range(1, known + 1))
    return [value if isnan(value) else min(1.0, times * value) for value in benjamini_hochberg(values)]


def _smallest_first(values: Sequence[float]) -> list[int]:
    return sorted((place for place, value in enumerate(values) if not isnan(value)), key=lambda place: values[place])
