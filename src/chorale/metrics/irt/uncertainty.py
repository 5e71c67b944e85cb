"""How far an item's parameters may be from where the fit has them.

A mean-field posterior takes an item's three parameters to be independent, and guessing to be where the fitted prior has
it: both make intervals too narrow. Here every γ between 0 and 1 is held to be as likely as any other before the answers
are seen, and log α to have the widest of the priors. Given γ, the item's β and log α have their most likely place and a
normal distribution around it (Laplace's method); what the answers say of γ weighs those together (Rue, Martino and
Chopin 2009). Abilities have the posterior of the fit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import erf
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.irt.likelihood import Responses
from chorale.metrics.irt.model import SIGMA_ALPHAS, IrtFit, IrtIntervals, IrtModel

_GUESSES = (np.arange(25) + 0.5) / 25
_MOST_STEPS = 40
_LONGEST_STEP = 1.0
_GAIN = 1e-4
"""In nats: what an item must gain by a step for another to be worth it."""
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(3)
_NODE_WEIGHTS /= _NODE_WEIGHTS.sum()
_HALVINGS = 40
_CELLS_AT_ONCE = 2**14
"""Few enough that the arrays of a block stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """At one β and log α for every item: the log posterior, its slope and its curvature."""

    value: FloatArray
    slope: FloatArray
    """Items × 2."""
    precision: FloatArray
    """Fisher's information and the priors': items × 2 × 2."""


def irt_intervals(
    fit: IrtFit,
    matrix: FloatArray,
    *,
    weights: FloatArray | None = None,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> IrtIntervals:
    """Credible intervals for the answers that were fitted, with the weights they were fitted with.

    That of guessing is the shortest that holds so much: the middle share would never reach down to 0. Where the fit,
    by its own priors, has a value outside, the interval reaches to it.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    responses = Responses.of(matrix, np.ones(matrix.shape[1]) if weights is None else weights)
    bounds = np.empty((3, 2, matrix.shape[1]))
    block = max(1, _CELLS_AT_ONCE // len(matrix))
    for start in range(0, matrix.shape[1], block):
        part = slice(start, start + block)
        begin = np.column_stack([fit.difficulty.mean[part], fit.log_discrimination.mean[part]])
        bounds[:, :, part] = _of_items(fit, responses.of_items(part), begin, level)
        if progress:
            progress(min(start + block, matrix.shape[1]), matrix.shape[1])
    far = NormalDist().inv_cdf((1 + level) / 2)
    ability = np.stack([fit.ability.mean - far * fit.ability.sd, fit.ability.mean + far * fit.ability.sd])
    ends = bounds[0], np.exp(bounds[1]), bounds[2]
    values = fit.difficulty.mean, fit.discrimination, fit.guessing
    of_items = (
        np.stack([np.minimum(interval[0], value), np.maximum(interval[1], value)])
        for interval, value in zip(ends, values, strict=True)
    )
    return IrtIntervals(ability, *of_items)


def _of_items(fit: IrtFit, responses: Responses, at: FloatArray, level: float) -> FloatArray:
    """The ends of β, log α and γ: 3 × 2 × items."""
    means, sds, evidence = [], [], []
    for guess in _GUESSES if fit.model == "3pl" else (0.0,):
        at, precision, value = _Conditional(fit, responses, float(guess)).climbed(at)
        means.append(at)
        sds.append(np.sqrt(np.linalg.inv(precision).diagonal(axis1=1, axis2=2)))
        evidence.append(value - 0.5 * np.linalg.slogdet(precision)[1])
    share = np.exp(np.stack(evidence) - np.max(evidence, axis=0))
    share /= share.sum(axis=0)
    tails = (1 - level) / 2, (1 + level) / 2
    around = [
        np.stack([_mixed_quantile(tail, share, np.stack(means)[:, :, row], np.stack(sds)[:, :, row]) for tail in tails])
        for row in (0, 1)
    ]
    if fit.model == "1pl":
        around[1][:] = 0.0
    return np.stack([*around, _shortest(share, level) if fit.model == "3pl" else np.zeros_like(around[0])])


class _Conditional:
    """The log posterior of items' β and log α, given their γ."""

    def __init__(self, fit: IrtFit, responses: Responses, guess: float) -> None:
        self._model: IrtModel = fit.model
        self._theta, self._theta_sd = fit.ability.mean, fit.ability.sd
        self._right, self._weight, self._guess = responses.right * responses.weight, responses.weight, guess
        self._prior = np.array([1.0, 1 / max(SIGMA_ALPHAS) ** 2])

    def climbed(self, begin: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where it is highest, its curvature there and its value. Only items that still gain take another step."""
        at, seen = begin.copy(), self._evaluate(begin, np.arange(len(begin)))
        stride = np.ones(len(begin))
        left = np.arange(len(begin))
        for _ in range(_MOST_STEPS):
            step = np.linalg.solve(seen.precision[left], seen.slope[left, :, None])[..., 0]
            tried = at[left] + stride[left, None] * step.clip(-_LONGEST_STEP, _LONGEST_STEP)
            there = self._evaluate(tried, left)
            gain = there.value - seen.value[left]
            better = gain >= 0
            kept = left[better]
            at[kept], seen.value[kept] = tried[better], there.value[better]
            seen.slope[kept], seen.precision[kept] = there.slope[better], there.precision[better]
            stride[left] = np.where(better, np.minimum(1.0, stride[left] * 1.5), stride[left] * 0.3)
            left = left[(gain > _GAIN) | (~better & (stride[left] > 1e-3))]
            if not len(left):
                break
        return at, seen.precision, seen.value

    def _evaluate(self, at: FloatArray, items: NDArray[np.intp]) -> _Seen:
        right, weight = self._right[:, items], self._weight[:, items]
        alpha = np.exp(at[:, 1])
        fails, by_beta, by_alpha = (np.zeros_like(right) for _ in range(3))
        for node, share in zip(_NODES, _NODE_WEIGHTS, strict=True):
            gap = (self._theta + self._theta_sd * node)[:, None] - at[:, 0]
            of_node = 1 / (1 + np.exp(np.clip(alpha * gap, -30.0, 30.0)))
            slope = share * alpha * of_node * (1 - of_node)
            fails += share * of_node
            by_beta -= slope
            by_alpha += slope * gap
        free = np.array([1.0, 0.0 if self._model == "1pl" else 1.0])
        fails *= 1 - self._guess
        chance = 1 - fails
        spread = chance * fails
        slopes = [(1 - self._guess) * by_beta, (1 - self._guess) * by_alpha * free[1]]
        value = (right * np.log(chance) + (weight - right) * np.log(fails)).sum(axis=0)
        surprise, known = (right - weight * chance) / spread, weight / spread
        precision = np.empty((len(at), 2, 2))
        for row, first in enumerate(slopes):
            for column, second in enumerate(slopes):
                precision[:, row, column] = (known * first * second).sum(axis=0)
        precision += np.diag(self._prior)
        of_prior = self._prior * free * at
        slope = np.column_stack([(surprise * first).sum(axis=0) for first in slopes]) - of_prior
        return _Seen(value - 0.5 * (of_prior * at).sum(axis=1), slope, precision)


def _mixed_quantile(tail: float, share: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Below which that share of a mixture of normals lies, for every item, by halving."""
    low, high = (mean - 8 * sd).min(axis=0), (mean + 8 * sd).max(axis=0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = (share * _normal_below((middle - mean) / sd)).sum(axis=0) < tail
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _normal_below(z: FloatArray) -> FloatArray:
    return 0.5 * (1 + np.asarray(np.vectorize(erf, otypes=[np.float64])(z / np.sqrt(2))))


def _shortest(share: FloatArray, level: float) -> FloatArray:
    """The shortest intervals of γ that hold so much."""
    edges = np.linspace(0, 1, len(share) + 1)
    intervals = np.empty((2, share.shape[1]))
    begins = np.linspace(0, 1 - level, 101)
    for item, below in enumerate(np.vstack([np.zeros(share.shape[1]), np.cumsum(share, axis=0)]).T):
        ends = np.interp(begins, below, edges), np.interp(begins + level, below, edges)
        best = int(np.argmin(ends[1] - ends[0]))
        intervals[:, item] = ends[0][best], ends[1][best]
    return intervals
