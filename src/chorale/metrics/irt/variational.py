"""Fits item response models by variational inference.

The posterior is a product of normals over θ, log α, β and logit γ, fitted by maximising the evidence lower bound, as in
Lalor, Wu and Yu (2019) and appendix F of Nangia et al. (2021): the published method, for comparison with its figures.
Its deviations take parameters to be independent, and are too small. The climbing is done in `climbing`; here it is
decided from where, with which priors, and which result is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.irt.climbing import Climb, ParameterVariances
from chorale.metrics.irt.likelihood import BETA, LOG_ALPHA, LOGIT_GAMMA, Likelihood, Posterior, Responses
from chorale.metrics.irt.model import (
    BINARY_MODELS,
    GUESSING_SPREADS,
    SIGMA_ALPHAS,
    GuessingPrior,
    IrtModel,
    Normal,
    VariationalFit,
)

_SEARCH_TOLERANCE, _TOLERANCE = 2e-6, 1.5e-7
"""The gain of a sweep, in nats an answer, below which a fit is done: while deviations are compared, and of the one that
is kept."""
_SEARCH_SWEEPS, _SWEEPS = 60, 300
_FEW = 100
"""Answers below which it does not pay to be more exact."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Tried:
    bound: float
    at: Posterior
    priors: ParameterVariances


def fit_variational(
    matrix: FloatArray,
    *,
    model: IrtModel = "3pl",
    weights: FloatArray | None = None,
    guessing_prior: GuessingPrior = "fitted",
    starts: int = 1,
    seed: int = 1,
    progress: Progress | None = None,
) -> VariationalFit:
    """Fit a model to right (1), wrong (0) and missing (NaN) answers, one row per responder, one column per item.

    Priors are N(0, 1) for θ and β and N(0, σα²) for log α, with σα out of `SIGMA_ALPHAS` by the bound. Logit γ has the
    prior N(0, 1) with `guessing_prior="standard"`, as the paper has it. By default ("fitted") it is N(μ, σγ²) with one
    μ for all items, fitted with them (N(0, 1) is the prior of μ), and σγ out of `GUESSING_SPREADS` by the bound: where
    items are easier to guess than the standard prior expects, or harder, the difficulties would otherwise be bent to
    make up for it.

    `weights` are those of the items' likelihoods (see `item_weights`). With more than one start, further fits begin at
    random places and the one with the highest bound is kept.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    weights = _checked(matrix, model, weights)
    responses = Responses.of(matrix, weights)
    rng = np.random.default_rng(seed)
    fits: list[VariationalFit] = []
    trials = len(SIGMA_ALPHAS) + 1 if model != "1pl" else 2
    for number in range(max(1, starts)):

        def report(done: int, begun: int = number * trials) -> None:
            if progress:
                progress(begun + done, max(1, starts) * trials)

        begin = _first_guess(matrix, model)
        if number:
            begin = _moved(begin, rng)
        fits.append(_searched(responses, begin, model, guessing_prior, report))
    return replace(max(fits, key=lambda fit: fit.bound), starts=tuple(fit.bound for fit in fits))


def _checked(matrix: FloatArray, model: str, weights: FloatArray | None) -> FloatArray:
    if model not in BINARY_MODELS:
        raise ValueError(f"there is no model {model!r}; there are {', '.join(BINARY_MODELS)}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"responses need at least one row and one column, not an array of {matrix.shape}")
    if not np.isin(matrix[~np.isnan(matrix)], (0.0, 1.0)).all():
        raise ValueError("responses are 1 (right), 0 (wrong) or NaN (missing)")
    if weights is None:
        return np.ones(matrix.shape[1])
    if weights.shape != (matrix.shape[1],) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError("there must be one positive weight for every item")
    return weights


def _first_guess(matrix: FloatArray, model: IrtModel) -> Posterior:
    """From how often each item was solved and how much each responder solved."""
    observed = ~np.isnan(matrix)
    right = np.where(observed, matrix, 0.0)
    solved = (right.sum(axis=0) + 0.5) / (observed.sum(axis=0) + 1)
    able = (right.sum(axis=1) + 0.5) / (observed.sum(axis=1) + 1)
    theta = np.log(able / (1 - able))
    theta = (theta - theta.mean()) / max(float(theta.std()), 1e-6)
    items = np.zeros((3, matrix.shape[1]))
    items[BETA] = -np.log(solved / (1 - solved))
    items[LOGIT_GAMMA] = -1.0 if model == "3pl" else -np.inf
    sds = np.repeat([[0.5], [0.3], [0.5]], matrix.shape[1], axis=1)
    return Posterior(theta, np.full(len(theta), 0.3), items, sds)


def _moved(begin: Posterior, rng: np.random.Generator) -> Posterior:
    moved = begin.copy()
    moved.theta += rng.normal(scale=0.5, size=moved.theta.shape)
    moved.items[BETA] += rng.normal(scale=0.5, size=moved.items[BETA].shape)
    moved.items[LOGIT_GAMMA] += rng.normal()
    return moved


def _searched(
    responses: Responses,
    begin: Posterior,
    model: IrtModel,
    guessing_prior: GuessingPrior,
    report: Callable[[int], None],
) -> VariationalFit:
    """The fit with the best σα: each begins where the one before it ended, and the best is fitted to the end.

    The search has a coarser rule than the last fit, which takes half the time and is off by the same for every σα.
    """
    answers = max(_FEW, int(np.count_nonzero(responses.sign)))
    coarse, fine = (Likelihood(responses, model, item_nodes=nodes) for nodes in (2, 3))
    fits = guessing_prior == "fitted" and model == "3pl"

    def climbed(sigma: float, spread: float, at: Posterior, centre: float) -> _Tried:
        priors = ParameterVariances(np.array([1.0, sigma**2, spread**2]), centre, fits)
        at, bound, _ = Climb(coarse, priors, model, at).run(_SEARCH_SWEEPS, answers * _SEARCH_TOLERANCE)
        return _Tried(bound, at, priors)

    centre = -1.0 if fits else 0.0
    spreads = [climbed(SIGMA_ALPHAS[0], spread, begin, centre) for spread in (GUESSING_SPREADS if fits else (1.0,))]
    last = max(spreads, key=lambda trial: trial.bound)
    tried = {SIGMA_ALPHAS[0]: last}
    spread = float(np.sqrt(last.priors.variance[LOGIT_GAMMA]))
    report(1)
    for sigma in SIGMA_ALPHAS[1:] if model != "1pl" else ():
        last = tried[sigma] = climbed(sigma, spread, last.at, last.priors.guessing_centre)
        report(len(tried))
    best = max(tried, key=lambda sigma: (tried[sigma].bound, -sigma))
    priors = tried[best].priors
    at, bound, converged = Climb(fine, priors, model, tried[best].at).run(_SWEEPS, answers * _TOLERANCE)
    report(len(tried) + 1)
    return VariationalFit(
        model=model,
        ability=Normal(at.theta, at.theta_sd),
        difficulty=Normal(at.items[BETA], at.items_sd[BETA]),
        log_discrimination=Normal(at.items[LOG_ALPHA], _known(at.items_sd[LOG_ALPHA], model == "1pl")),
        logit_guessing=Normal(at.items[LOGIT_GAMMA], _known(at.items_sd[LOGIT_GAMMA], model != "3pl")),
        bound=bound,
        sigma_alpha=None if model == "1pl" else best,
        bounds={} if model == "1pl" else {sigma: trial.bound for sigma, trial in tried.items()},
        guessing_centre=priors.guessing_centre if model == "3pl" else None,
        guessing_spread=spread if model == "3pl" else None,
        starts=(bound,),
        converged=converged,
    )


def _known(sd: FloatArray, fixed: bool) -> FloatArray:
    return np.zeros_like(sd) if fixed else sd
