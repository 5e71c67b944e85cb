"""Uncertainty of items and abilities: the observed information of a marginal fit (Louis 1982), and intervals.

The information about items is the information with known abilities minus the loss from unknown abilities. The loss is
the variance of the score function over each responder's ability, which couples all items. The scale is fixed by these
responders (mean 0, deviation 1), so its own uncertainty is removed.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.curves import LOG_ALPHA
from chorale.metrics.irt.marginal import Ascent
from chorale.metrics.irt.model import IrtIntervals, Normal

_MOST_TOGETHER = 600
"""Maximum number of parameters for joint treatment of items. With more, abilities are so precise that coupling adds
only a few per mille.
"""
_MOST_LOST = 0.97
"""Maximum fraction of information that unknown abilities may remove."""
_GUESSING_SD = 0.5
"""Uncertainty of the mean of logit γ: 0.15 may be 0.1 or 0.23."""
_DRAWS = 2000
_SEED = 1
"""Fixed seed, so that samples are the same in every run."""


@dataclass(frozen=True, slots=True)
class Covariances:
    """Covariances of each item's parameters, and the variance that uncertain items add to each ability."""

    items: FloatArray
    """Items × parameters × parameters."""
    added: FloatArray
    ability_mean: FloatArray
    ability_sd: FloatArray


def covariances(ascent: Ascent) -> Covariances:
    at, priors = ascent.at, ascent.priors
    counts = ascent.answers.counts(at.shares).sum(axis=0)
    known = ascent.known(at.curves, counts, np.diag(1 / priors.variance))
    mean = at.shares @ at.theta
    sd = np.sqrt(np.maximum(at.shares @ at.theta**2 - mean**2, 1e-12))
    moved = _moved(ascent, mean, sd)
    together = known.shape[0] * known.shape[1] <= _MOST_TOGETHER
    items, added = _together(ascent, known, moved, mean, sd) if together else _apart(known, moved, sd)
    if known.shape[1] > ascent.thresholds + 1:
        # All items depend on the prior mean of guessing, which dominates the uncertainty with many items.
        other = ascent.shifted(-1, _GUESSING_SD)
        off = other.at.parameters - at.parameters
        items = items + off[:, :, None] * off[:, None, :]
        added = added + (other.at.shares @ other.at.theta - mean) ** 2
    return Covariances(items, added, mean, sd)


def _moved(ascent: Ascent, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Derivatives of the score function with respect to ability, up to the third order in its deviation.

    3 × parameters × responders × items, scaled so that the sum of products is the covariance over the posterior.
    """
    at = ascent.at
    z = (at.theta - mean[:, None]) / sd[:, None]
    skewness = (at.shares * z**3).sum(axis=1, keepdims=True)
    over = at.curves.slopes / at.curves.chance
    orders = (z, (z**2 - 1) / np.sqrt(2), (z**3 - 3 * z - skewness) / np.sqrt(6))
    return np.stack([[ascent.answers.chosen(at.shares * order, one) for one in over] for order in orders])


def _apart(known: FloatArray, moved: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    lost = np.einsum("oaji,obji->iab", moved, moved)
    lower = np.linalg.cholesky(known)
    half = np.linalg.solve(lower, np.linalg.solve(lower, lost).transpose(0, 2, 1))
    covariance = np.linalg.inv(lower @ _remaining(half) @ lower.transpose(0, 2, 1))
    first = moved[0] * sd[:, None]
    return covariance, np.einsum("aji,iab,bji->j", first, covariance, first, optimize=True)


def _together(
    ascent: Ascent, known: FloatArray, moved: FloatArray, mean: FloatArray, sd: FloatArray
) -> tuple[FloatArray, FloatArray]:
    items, count, _ = known.shape
    places = np.arange(items * count).reshape(items, count)
    if ascent.pooled:
        places = np.column_stack([np.zeros(items, np.intp), 1 + np.arange(items)])
    size = int(places.max()) + 1
    whole = np.zeros((size, size))
    np.add.at(whole, (places[:, :, None], places[:, None, :]), known)
    for parameter in range(int(ascent.pooled), count):
        # The mean of the prior is estimated from the items.
        column = places[ascent.free[:, parameter], parameter]
        whole[np.ix_(column, column)] -= ascent.priors.shared(parameter, len(column))
    gathered = np.zeros((3, len(mean), size))
    for parameter in range(count):
        np.add.at(gathered.transpose(2, 0, 1), places[:, parameter], moved[:, parameter].transpose(2, 0, 1))
    flat = gathered.reshape(-1, size)
    lower = np.linalg.cholesky(whole)
    half = np.linalg.solve(lower, np.linalg.solve(lower, flat.T @ flat).T)
    covariance = np.linalg.inv(lower @ _remaining(half) @ lower.T)
    by_middle = (sd[:, None] * gathered[0]).mean(axis=0)
    squares = 2 * (mean * sd)[:, None] * gathered[0] + np.sqrt(2) * sd[:, None] ** 2 * gathered[1]
    by_spread = 0.5 * squares.mean(axis=0)
    to_scale = np.eye(size)
    betas = slice(1, 1 + ascent.thresholds)
    to_scale[np.unique(places[:, LOG_ALPHA])] += by_spread
    where, values = places[:, betas].ravel(), np.where(ascent.free, ascent.at.parameters, 0.0)[:, betas].ravel()
    to_scale[where] -= by_middle + values[:, None] * by_spread
    scaled = to_scale @ covariance @ to_scale.T
    scaled[np.ix_(where, where)] += float((sd**2).mean()) / len(sd)
    of_abilities = sd[:, None] * gathered[0] - by_middle - mean[:, None] * by_spread
    if ascent.pooled:
        # α = 1 sets the unit, so abilities scale with α.
        of_abilities += mean[:, None] * to_scale[0]
    added = ((of_abilities @ covariance) * of_abilities).sum(axis=1)
    return scaled[places[:, :, None], places[:, None, :]], added


def _remaining(lost: FloatArray) -> FloatArray:
    """1 minus the fraction of information lost, bounded away from 0."""
    values, vectors = np.linalg.eigh((lost + np.swapaxes(lost, -1, -2)) / 2)
    left: FloatArray = (vectors * (1 - values.clip(0.0, _MOST_LOST))[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return left


def intervals_of(ascent: Ascent, errors: Covariances, difficulty: Normal, unit: float, level: float) -> IrtIntervals:
    """Credible intervals.

    The intercepts −αβ, log α and logit γ are assumed normal, which is more accurate than for β. β is a quotient, and
    its intervals are sampled from the others.
    """
    parameters, thresholds = ascent.at.parameters, ascent.thresholds
    far = NormalDist().inv_cdf((1 + level) / 2) * np.array([[-1.0], [1.0]])
    tails = (1 - level) / 2, (1 + level) / 2
    sd = np.sqrt(errors.items.diagonal(axis1=1, axis2=2))
    ends = np.stack([_of_threshold(ascent, errors, t, tails) for t in range(1, thresholds + 1)], axis=-1)
    guessing = np.zeros((2, len(parameters)))
    if parameters.shape[1] > thresholds + 1:
        # Below this, normal on the scale of γ itself, which can reach 0.
        gamma = 1 / (1 + np.exp(-parameters[:, -1]))
        low = np.maximum(gamma + far[0] * gamma * (1 - gamma) * sd[:, -1], 0.0)
        guessing = np.stack([low, 1 / (1 + np.exp(-parameters[:, -1] - far[1] * sd[:, -1]))])
    discrimination = np.exp(parameters[:, LOG_ALPHA] + far * sd[:, LOG_ALPHA])
    return IrtIntervals(
        ability=unit * _abilities(ascent, errors, tails),
        difficulty=ends[:, :, 0] if thresholds == 1 else difficulty.mean + far * difficulty.sd,
        discrimination=np.ones_like(discrimination) if ascent.pooled else discrimination,
        guessing=guessing,
        thresholds=ends,
    )


def _of_threshold(ascent: Ascent, errors: Covariances, t: int, tails: tuple[float, float]) -> FloatArray:
    parameters = ascent.at.parameters
    alpha, beta = np.exp(parameters[:, LOG_ALPHA]), np.where(ascent.free[:, t], parameters[:, t], 0.0)
    to_intercept = np.zeros((len(parameters), 2, 2))
    to_intercept[:, 0, 0] = 1.0
    to_intercept[:, 1] = np.column_stack([-alpha * beta, -alpha])
    some = errors.items[:, [LOG_ALPHA, t]][:, :, [LOG_ALPHA, t]]
    variance = to_intercept @ some @ to_intercept.transpose(0, 2, 1)
    # Minimum addition that prevents negative variances from rounding.
    lower = np.linalg.cholesky(variance + 1e-12 * np.eye(2))
    half = np.random.default_rng(_SEED).normal(size=(_DRAWS // 2, 2))
    drawn = np.concatenate([half, -half]) @ lower.transpose(0, 2, 1)
    log_alpha, intercept = parameters[:, :1] + drawn[..., 0], (-alpha * beta)[:, None] + drawn[..., 1]
    ends = np.quantile(-intercept if ascent.pooled else -intercept / np.exp(log_alpha), tails, axis=1)
    return np.where(ascent.free[:, t], ends, np.inf)


def _abilities(ascent: Ascent, errors: Covariances, tails: tuple[float, float]) -> FloatArray:
    """Intervals from the posterior on the grid, widened by the uncertainty of the items."""
    at = ascent.at
    below = np.cumsum(at.shares, axis=1)
    wider = np.sqrt(1 + errors.added / errors.ability_sd**2)
    ends = np.stack([[np.interp(tail, row, at.theta + at.step / 2) for row in below] for tail in tails])
    return np.asarray(errors.ability_mean + wider * (ends - errors.ability_mean))
