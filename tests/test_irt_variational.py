"""The published method of item response theory: what variational inference maximises, and what comes out."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.irt import BINARY_MODELS, SIGMA_ALPHAS, IrtModel, fit_variational, item_weights
from chorale.metrics.irt.climbing import Climb, ParameterVariances
from chorale.metrics.irt.likelihood import Likelihood, Posterior, Responses
from chorale.metrics.irt.variational import _first_guess
from test_irt import correlation, simulated, with_gaps

# What is maximised


def small_posterior(responders: int = 4, items: int = 5) -> tuple[FloatArray, Posterior]:
    matrix, truth = simulated(responders, items, seed=2)
    at = Posterior(
        truth["ability"],
        np.full(responders, 0.2),
        np.array([truth["difficulty"], np.log(truth["discrimination"]), np.full(items, -1.2)]),
        np.repeat([[0.3], [0.25], [0.6]], items, axis=1),
    )
    return with_gaps(matrix, 0.1), at


def total(matrix: FloatArray, at: Posterior, model: IrtModel = "3pl", nodes: int = 3) -> float:
    weights = np.linspace(0.5, 1.5, matrix.shape[1])
    return float(Likelihood(Responses.of(matrix, weights), model, nodes, nodes).evaluate(at).of_items.sum())


@pytest.mark.parametrize("model", BINARY_MODELS)
def test_the_gradient_is_that_of_the_expected_log_likelihood(model: IrtModel) -> None:
    matrix, at = small_posterior()
    seen = Likelihood(Responses.of(matrix, np.linspace(0.5, 1.5, 5)), model).evaluate(at)
    free = {"1pl": 1, "2pl": 2, "3pl": 3}[model]
    for row in range(free):
        for name, found in (("items", seen.slope[row]), ("items_sd", seen.curvature[row] * at.items_sd[row])):
            for item in range(5):
                up, down = at.copy(), at.copy()
                getattr(up, name)[row, item] += 1e-5
                getattr(down, name)[row, item] -= 1e-5
                slope = (total(matrix, up, model) - total(matrix, down, model)) / 2e-5
                assert found[item] == pytest.approx(slope, abs=1e-6)
    up, down = at.copy(), at.copy()
    up.theta[1] += 1e-5
    down.theta[1] -= 1e-5
    assert seen.theta_slope[1] == pytest.approx(
        (total(matrix, up, model) - total(matrix, down, model)) / 2e-5, abs=1e-6
    )


def test_the_expected_log_likelihood_is_what_sampling_gives() -> None:
    matrix, at = small_posterior()
    rng = np.random.default_rng(1)
    sums = []
    for _ in range(20_000):
        theta = at.theta + at.theta_sd * rng.normal(size=4)
        beta, log_alpha, logit = at.items + at.items_sd * rng.normal(size=(3, 5))
        gamma = 1 / (1 + np.exp(-logit))
        chance = gamma + (1 - gamma) / (1 + np.exp(-np.exp(log_alpha) * (theta[:, None] - beta)))
        logs = np.where(matrix == 1, np.log(chance), np.log(1 - chance))
        sums.append(float((np.where(np.isnan(matrix), 0, logs) * np.linspace(0.5, 1.5, 5)).sum()))
    error = np.std(sums) / np.sqrt(len(sums))
    assert total(matrix, at, nodes=12) == pytest.approx(np.mean(sums), abs=5 * error)
    assert total(matrix, at, nodes=3) == pytest.approx(total(matrix, at, nodes=12), abs=0.02)


@pytest.mark.parametrize("model", BINARY_MODELS)
def test_no_sweep_lowers_the_bound_while_the_prior_stays(model: IrtModel) -> None:
    matrix = with_gaps(simulated(15, 25)[0], 0.2)
    likelihood = Likelihood(Responses.of(matrix, np.ones(25)), model)
    at = _first_guess(matrix, model)
    bounds = []
    for _ in range(12):
        priors = ParameterVariances(np.array([1.0, 0.09, 1.0]), 0.0, fits_centre=False)
        at, bound, _ = Climb(likelihood, priors, model, at).run(1, 0.0)
        bounds.append(bound)
    assert all(later >= earlier - 1e-6 for earlier, later in itertools.pairwise(bounds))
    assert bounds[-1] > bounds[0]


def test_the_deviation_of_discrimination_with_the_highest_bound_is_kept() -> None:
    fit = fit_variational(simulated(30, 40)[0], model="2pl")
    assert tuple(fit.bounds) == SIGMA_ALPHAS
    assert fit.bounds[fit.sigma_alpha or 0] == max(fit.bounds.values())
    assert fit.bound == pytest.approx(max(fit.bounds.values()), abs=0.5)


# What comes out


def test_parameters_of_a_simulated_crowd_are_recovered() -> None:
    matrix, truth = simulated(90, 250, guessing=0.1)
    fit = fit_variational(matrix)
    assert fit.converged
    assert correlation(fit.difficulty.mean, truth["difficulty"]) > 0.95
    assert correlation(fit.ability.mean, truth["ability"]) > 0.97
    assert correlation(fit.discrimination, truth["discrimination"]) > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_difficulties_of_a_thousand_items_correlate_with_the_truth(seed: int) -> None:
    matrix, truth = simulated(90, 1000, seed)
    fit = fit_variational(matrix)
    assert correlation(fit.difficulty.mean, truth["difficulty"]) >= 0.95
    assert correlation(fit.ability.mean, truth["ability"]) >= 0.98


def test_the_standard_prior_of_guessing_bends_the_difficulties() -> None:
    matrix, truth = simulated(90, 250)
    by_prior = {
        prior: correlation(fit_variational(matrix, guessing_prior=prior).difficulty.mean, truth["difficulty"])
        for prior in ("fitted", "standard")
    }
    assert by_prior["fitted"] > by_prior["standard"] + 0.02


def test_the_prior_of_guessing_goes_where_the_items_are() -> None:
    """Items of one small guessing parameter, and items of any: half of them are guessed more often than not."""
    rng = np.random.default_rng(3)
    ability, difficulty = rng.normal(size=90), rng.normal(size=300)
    centres, spreads = [], []
    for logit in (np.full(300, -2.0), rng.normal(size=300)):
        gamma = 1 / (1 + np.exp(-logit))
        chance = gamma + (1 - gamma) / (1 + np.exp(-1.5 * (ability[:, None] - difficulty)))
        fit = fit_variational((rng.random(chance.shape) < chance).astype(float))
        centres.append(fit.guessing_centre or 0)
        spreads.append(fit.guessing_spread)
    assert centres[0] < -1.2
    assert centres[1] > -1
    assert spreads == [0.5, 1.0]


def test_deviations_say_how_far_off_difficulties_are() -> None:
    matrix, truth = simulated(80, 300, guessing=0.0, discrimination=1.0)
    fit = fit_variational(matrix, model="2pl")
    off = (fit.difficulty.mean - truth["difficulty"]) / fit.difficulty.sd
    assert 0.7 < float(np.std(off)) < 1.6


def test_in_1pl_items_solved_equally_often_are_equally_hard() -> None:
    matrix, _ = simulated(25, 60)
    fit = fit_variational(matrix, model="1pl")
    solved = matrix.sum(axis=0)
    order = np.lexsort((fit.difficulty.mean, -solved))
    assert (np.diff(fit.difficulty.mean[order]) > -1e-4).all()
    for count in np.unique(solved):
        assert np.ptp(fit.difficulty.mean[solved == count]) < 1e-4
    assert (fit.discrimination == 1).all()
    assert (fit.guessing == 0).all()
    assert fit.sigma_alpha is None
    assert not fit.log_discrimination.sd.any()


@pytest.mark.parametrize("model", BINARY_MODELS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (3, 4)])
@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
def test_however_little_there_is_the_result_is_finite(model: IrtModel, shape: tuple[int, int], value: float) -> None:
    fit = fit_variational(np.full(shape, value), model=model)
    for found in (fit.ability, fit.difficulty, fit.log_discrimination):
        assert np.isfinite(found.mean).all()
        assert np.isfinite(found.sd).all()
    assert ((fit.guessing >= 0) & (fit.guessing < 1)).all()
    assert np.isfinite(fit.bound)


def test_of_an_item_nobody_answered_only_the_prior_is_known() -> None:
    matrix, _ = simulated(20, 30)
    matrix[:, 7] = np.nan
    fit = fit_variational(matrix, model="2pl")
    assert fit.difficulty.mean[7] == pytest.approx(0, abs=0.02)
    assert fit.difficulty.sd[7] == pytest.approx(1, abs=0.02)
    assert fit.log_discrimination.sd[7] == pytest.approx(fit.sigma_alpha or 0, abs=0.01)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), model=st.sampled_from(BINARY_MODELS))
def test_permuting_responders_and_items_only_permutes_the_result(seed: int, model: IrtModel) -> None:
    matrix = with_gaps(simulated(12, 20, seed)[0], 0.1)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(12), rng.permutation(20)
    one, other = fit_variational(matrix, model=model), fit_variational(matrix[rows][:, columns], model=model)
    assert other.difficulty.mean == pytest.approx(one.difficulty.mean[columns], abs=1e-6)
    assert other.discrimination == pytest.approx(one.discrimination[columns], abs=1e-6)
    assert other.ability.mean == pytest.approx(one.ability.mean[rows], abs=1e-6)
    assert other.bound == pytest.approx(one.bound, abs=1e-6)


def test_items_of_a_test_count_by_its_size() -> None:
    weights = item_weights([0] * 6 + [1] * 2)
    assert weights[:6].sum() == pytest.approx(weights[6:].sum())
    assert weights.max() == 1
    assert item_weights([3, 3]).tolist() == [1, 1]
    assert len(item_weights([])) == 0


def test_a_heavier_test_draws_abilities_to_itself() -> None:
    """Two tests that say the opposite of the responders: the smaller counts as much as the larger."""
    able = np.repeat([1.0, 0.0], 10)[:, None]
    matrix = np.hstack([np.repeat(able, 30, axis=1), np.repeat(1 - able, 3, axis=1)])
    plain = fit_variational(matrix, model="1pl")
    weighted = fit_variational(matrix, model="1pl", weights=item_weights([0] * 30 + [1] * 3))
    gap = [abs(float(np.diff(fit.ability.mean[[0, 19]])[0])) for fit in (plain, weighted)]
    assert gap[1] < 0.5 * gap[0]


def test_more_starts_never_end_lower_and_the_seed_decides() -> None:
    matrix, _ = simulated(15, 20)
    one = fit_variational(matrix)
    several, again, other = (fit_variational(matrix, starts=3, seed=seed) for seed in (4, 4, 5))
    assert several.bound >= one.bound
    assert several.starts == again.starts
    assert several.starts[1:] != other.starts[1:]
    assert several.starts[0] == one.bound


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (np.zeros(3), {}, "at least one row"),
        (np.zeros((0, 3)), {}, "at least one row"),
        (np.full((2, 2), 0.5), {}, "1 .correct., 0"),
        (np.zeros((2, 2)), {"model": "4pl"}, "unknown model"),
        (np.zeros((2, 2)), {"weights": np.ones(3)}, "one positive number"),
        (np.zeros((2, 2)), {"weights": np.array([1.0, np.nan])}, "one positive number"),
    ],
)
def test_misuse_is_a_value_error(matrix: NDArray[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_variational(matrix, **options)


def test_items_of_a_small_test_do_not_fit_abilities_to_themselves() -> None:
    matrix, _ = simulated(60, 125)
    fit = fit_variational(matrix, model="2pl", weights=item_weights([0] * 120 + [1] * 5))
    assert fit.discrimination.max() < 5
