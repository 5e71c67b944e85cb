"""Fits item response models: validates the answers, sets starting values, and converts the estimates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.curves import LOG_ALPHA, ResponseArrays
from chorale.metrics.irt.marginal import Ascent, ColumnPriors
from chorale.metrics.irt.model import MODELS, IrtFit, IrtIntervals, IrtModel, Normal
from chorale.metrics.irt.uncertainty import Covariances, covariances, intervals_of

GUESS_RATE = 0.15
"""Default prior mean of guessing."""
MOST_CATEGORIES = 20


@dataclass(frozen=True, slots=True, repr=False)
class MarginalFit(IrtFit):
    """A fit by marginal maximum likelihood."""

    log_likelihood: float
    """Marginal log likelihood of the answers."""
    thresholds: FloatArray
    """Items × thresholds, padded with +∞."""
    categories: tuple[FloatArray, ...]
    """The answers that occur for each item, from lowest to highest."""
    unit: float
    """Unit of the scale in standard deviations of the responders' abilities: 1; in 1PL, α = 1 sets the unit."""
    ascent: Ascent
    covariances: Covariances

    @property
    def reliability(self) -> float:
        """Explained fraction of the variance of abilities; 1 if all abilities are known exactly."""
        known = float(self.ability.mean.var())
        return known / (known + float((self.ability.sd**2).mean()))


def fit_irt(
    matrix: FloatArray,
    *,
    model: IrtModel = "3pl",
    guess_rate: float = GUESS_RATE,
    progress: Callable[[int, int], None] | None = None,
) -> MarginalFit:
    """Fits a model to correct (1), wrong (0) and missing (NaN) answers, one row per responder, one column per item.

    Answers for the graded model are ordered numbers. The scale is relative to these responders: their abilities have
    mean 0 and deviation 1, except in the 1PL model, where α is 1 instead. Logit γ has the prior N(logit `guess_rate`,
    0.8²); the other priors are fitted.
    """
    matrix, categories = _checked(np.asarray(matrix, dtype=np.float64), model, guess_rate)
    thresholds = max(1, *(len(values) - 1 for values in categories))
    answers = ResponseArrays.of(matrix, thresholds)
    priors = ColumnPriors.usual(thresholds, guess_rate if model == "3pl" else None)
    ascent = Ascent(answers, priors, _begin(matrix, categories, thresholds, priors), thresholds, pooled=model == "1pl")
    converged = ascent.run(progress)
    errors = covariances(ascent)
    parameters, free = ascent.at.parameters, ascent.free
    sd = np.sqrt(errors.items.diagonal(axis1=1, axis2=2))
    betas = slice(1, thresholds + 1)
    pooled = model == "1pl"
    unit = float(np.exp(parameters[0, LOG_ALPHA])) if pooled else 1.0
    of_items = free[:, betas] / np.maximum(free[:, betas].sum(axis=1, keepdims=True), 1)
    mean = (np.where(free, parameters, 0.0)[:, betas] * of_items).sum(axis=1)
    variance = np.einsum("ia,iab,ib->i", of_items, errors.items[:, betas, betas], of_items)
    still, never = np.zeros(len(parameters)), np.full(len(parameters), -np.inf)
    return MarginalFit(
        model=model,
        ability=Normal(unit * errors.ability_mean, unit * np.sqrt(errors.ability_sd**2 + errors.added)),
        difficulty=Normal(unit * mean, unit * np.sqrt(variance)),
        log_discrimination=Normal(still, still) if pooled else Normal(parameters[:, LOG_ALPHA], sd[:, LOG_ALPHA]),
        logit_guessing=Normal(parameters[:, -1], sd[:, -1]) if model == "3pl" else Normal(never, still),
        converged=converged,
        log_likelihood=ascent.at.log_likelihood,
        thresholds=unit * parameters[:, betas],
        categories=categories,
        unit=unit,
        ascent=ascent,
        covariances=errors,
    )


def irt_intervals(fit: MarginalFit, level: float = 0.95) -> IrtIntervals:
    """Credible intervals of every parameter of a fit."""
    return intervals_of(fit.ascent, fit.covariances, fit.difficulty, fit.unit, level)


def _checked(matrix: FloatArray, model: str, guess_rate: float) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """The answers as categories from 0, and the original answers of each item's categories."""
    if model not in MODELS:
        raise ValueError(f"unknown model {model!r}. Use one of {', '.join(MODELS)}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"responses must have at least one row and one column, not the shape {matrix.shape}")
    if not 0 < guess_rate < 1:
        raise ValueError(f"guess_rate must be between 0 and 1, not {guess_rate:g}")
    if model != "graded":
        if not np.isin(matrix[~np.isnan(matrix)], (0.0, 1.0)).all():
            raise ValueError(
                "responses must be 1 (correct), 0 (wrong) or NaN (missing); other values require the graded model"
            )
        return matrix, (np.array([0.0, 1.0]),) * matrix.shape[1]
    coded, categories = np.full_like(matrix, np.nan), []
    lowest = np.nanmin(matrix) if np.isfinite(matrix).any() else 0.0
    for item, column in enumerate(matrix.T):
        given = ~np.isnan(column)
        values, places = np.unique(column[given], return_inverse=True)
        if len(values) > MOST_CATEGORIES:
            raise ValueError(f"an item of the graded model can have at most {MOST_CATEGORIES} different answers")
        # An answer that everybody gave is the lower of two categories, unless a lower answer occurs in other items.
        only_high = len(values) == 1 and values[0] > lowest
        coded[given, item] = places + only_high
        categories.append(values)
    return coded, tuple(categories)


def _begin(matrix: FloatArray, categories: tuple[FloatArray, ...], thresholds: int, priors: ColumnPriors) -> FloatArray:
    """Starting values: thresholds from the numbers of answers below and above, other parameters from the priors."""
    given = np.maximum((~np.isnan(matrix)).sum(axis=0), 1)
    begin = np.tile(priors.mean, (matrix.shape[1], 1))
    for t in range(1, thresholds + 1):
        above = ((matrix >= t).sum(axis=0) + 0.5) / (given + 1)
        exists = np.array([t == 1 or len(values) > t for values in categories])
        begin[:, t] = np.where(exists, np.log((1 - above) / above), np.inf)
    return begin
