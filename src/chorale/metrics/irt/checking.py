"""Information of items about abilities, and tests of item fit."""

from dataclasses import dataclass
from itertools import pairwise
from math import erfc, exp, gamma, sqrt

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.curves import Curves
from chorale.metrics.irt.fitting import MarginalFit

_GROUPS = 10
_FEWEST = 5.0
"""Minimum expected number of correct and wrong answers per group, for the chi-square approximation."""

_FEWEST_DEGREES = 3
"""Minimum degrees of freedom. With fewer, the test rejects too often, because fitting uses less than one degree per
parameter.
"""


@dataclass(frozen=True, slots=True)
class ItemFit:
    """Fit test of every item: whether responders of every ability answer it as the model expects."""

    statistic: FloatArray
    """χ²; NaN if an item has too few answers."""
    degrees: FloatArray
    p: FloatArray
    adjusted: FloatArray
    """p-value with Holm's correction for the number of tested items."""


def item_information(fit: MarginalFit, abilities: FloatArray) -> FloatArray:
    """Fisher information of each item at each of these abilities: items × abilities."""
    ascent = fit.ascent
    curves = Curves.of(ascent.at.parameters, np.asarray(abilities) / fit.unit, ascent.thresholds)
    return curves.on_ability() / fit.unit**2


def item_fit(fit: MarginalFit) -> ItemFit:
    """Compares observed and expected numbers of correct answers in up to ten groups of responders.

    The expected score of a responder follows from their other answers, so groups do not depend on the tested answer
    (compare Hosmer and Lemeshow 1980; Orlando and Thissen 2000). For graded items, scores are compared.
    """
    expected, variance, score = _predicted(fit)
    items = expected.shape[1]
    statistic, degrees = np.full(items, np.nan), np.zeros(items)
    taken = {"1pl": 1, "2pl": 2, "3pl": 3, "graded": 2}[fit.model]
    for item in range(items):
        given = np.flatnonzero(~np.isnan(score[:, item]))
        # Rounded, because equal expectations differ in the last digit by the answer itself, which must not affect their
        # order.
        order = given[np.argsort(expected[given, item].round(9), kind="stable")]
        parts = _groups(expected[order, item], variance[order, item])
        degrees[item] = len(parts) - taken
        if degrees[item] >= _FEWEST_DEGREES:
            off = [float((score[order[part], item] - expected[order[part], item]).sum()) for part in parts]
            spread = [float(variance[order[part], item].sum()) for part in parts]
            statistic[item] = sum(one**2 / other for one, other in zip(off, spread, strict=True))
    p = np.array(
        [np.nan if np.isnan(x) else _chance_above(x, int(free)) for x, free in zip(statistic, degrees, strict=True)]
    )
    return ItemFit(statistic, degrees, p, holm(p))


def holm(p: FloatArray) -> FloatArray:
    """p-values corrected for their number, without NaN.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * steps), 1.0) if len(order) else []
    return adjusted


def _predicted(fit: MarginalFit) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expected mean and variance of each answer's category from the responder's other answers, and the category."""
    at, answers = fit.ascent.at, fit.ascent.answers
    without = answers.chosen(at.shares, 1 / at.curves.chance)
    scores = np.zeros(answers.given.shape)
    mean, square = np.zeros_like(scores), np.zeros_like(scores)
    for category, chosen in enumerate(answers.above, 1):
        scores += category * chosen
        by_others = answers.chosen(at.shares, at.curves.chance[category] / at.curves.chance) / np.maximum(without, 1.0)
        mean += category * by_others
        square += category**2 * by_others
    return mean, square - mean**2, np.where(answers.given, scores, np.nan)


def _groups(expected: FloatArray, variance: FloatArray) -> list[slice]:
    """Groups of adjacent expectations: ten, or as many as have enough answers of both kinds."""
    most = min(_GROUPS, int(variance.sum() / _FEWEST))
    if most < 2:
        return []
    # Equal shares of the variance, so that no group has almost certain answers.
    cuts = np.searchsorted(np.cumsum(variance), variance.sum() * np.arange(1, most) / most)
    edges = [0, *np.unique(cuts).tolist(), len(expected)]
    return [slice(start, stop) for start, stop in pairwise(edges) if stop > start]


def _chance_above(statistic: float, degrees: int) -> float:
    """Upper tail probability of χ²: a finite sum for whole degrees of freedom."""
    half = statistic / 2
    if degrees % 2:
        total = erfc(sqrt(half))
        total += sum(exp(-half) * half ** (k - 0.5) / gamma(k + 0.5) for k in range(1, (degrees + 1) // 2))
    else:
        total = sum(exp(-half) * half**k / gamma(k + 1) for k in range(degrees // 2))
    return min(1.0, total)
