"""Fits item response models by variational inference.

The posterior is a product of normals over θ, log α, β and logit γ, fitted by maximising the evidence lower bound, as in
Lalor, Wu and Yu (2019) and appendix F of Nangia et al. (2021): the published method, for comparison with its results.
Its deviations assume independent parameters and are too small. `climbing` maximises the bound; this module selects
starts, priors and the best result.
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
"""Convergence threshold per sweep in nats per answer, during the search and for the final fit."""
_SEARCH_SWEEPS, _SWEEPS = 60, 300
_FEW = 100
"""Number of answers below which more precision has no benefit."""

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
    """Fits a model to correct (1), wrong (0) and missing (NaN) answers, one row per responder, one column per item.

    Priors are N(0, 1) for θ and β and N(0, σα²) for log α, with σα from `SIGMA_ALPHAS` selected by the bound. Logit γ
    has the prior N(0, 1) with `guessing_prior="standard"`, as in the paper. By default ("fitted") it is N(μ, σγ²) with
    one fitted μ for all items (with prior N(0, 1)) and σγ from `GUESSING_SPREADS` selected by the bound. Otherwise
    items that are easier or harder to guess than the standard prior expects would bias the difficulties.

    `weights` are the weights of the items' likelihoods (see `item_weights`). With more than one start, additional fits
    begin at random values and the one with the highest bound is kept.
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
        raise ValueError(f"unknown model {model!r}. Use one of {', '.join(BINARY_MODELS)}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"responses must have at least one row and one column, not the shape {matrix.shape}")
    if not np.isin(matrix[~np.isnan(matrix)], (0.0, 1.0)).all():
        raise ValueError("responses must be 1 (correct), 0 (wrong) or NaN (missing)")
    if weights is None:
        return np.ones(matrix.shape[1])
    if weights.shape != (matrix.shape[1],) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError("weights must have one positive number per item")
    return weights


def _first_guess(matrix: FloatArray, model: IrtModel) -> Posterior:
    """Starting values from the success rates of items and responders."""
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
    """The fit with the best σα. Each fit starts from the previous one, and the best is fitted to convergence.

    The search uses a coarser quadrature than the final fit. This halves the time of the search, and its error is the
    same for every σα.
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
