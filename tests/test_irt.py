"""Item response theory: what is maximised, what comes out, and what the command says."""

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chorale.cli import app
from chorale.metrics import FloatArray
from chorale.metrics.irt import MODELS, SIGMA_ALPHAS, IrtFit, IrtModel, fit_irt, irt_intervals, item_weights
from chorale.metrics.irt.climbing import Climb, Priors
from chorale.metrics.irt.fitting import _first_guess
from chorale.metrics.irt.likelihood import Likelihood, Posterior, Responses
from chorale.metrics.reading.responses import read_responses
from chorale.model import UserError


def simulated(
    responders: int, items: int, seed: int = 0, *, discrimination: float = 1.6, guessing: float = 0.2
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Answers of a crowd whose parameters are known."""
    rng = np.random.default_rng(seed)
    truth = {
        "ability": rng.normal(size=responders),
        "difficulty": rng.normal(size=items),
        "discrimination": discrimination * np.exp(0.3 * rng.normal(size=items)),
        "guessing": rng.uniform(0, guessing, size=items),
    }
    knows = 1 / (1 + np.exp(-truth["discrimination"] * (truth["ability"][:, None] - truth["difficulty"])))
    chance = truth["guessing"] + (1 - truth["guessing"]) * knows
    return (rng.random((responders, items)) < chance).astype(float), truth


def correlation(one: FloatArray, other: FloatArray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


def with_gaps(matrix: FloatArray, share: float, seed: int = 3) -> FloatArray:
    return np.where(np.random.default_rng(seed).random(matrix.shape) < share, np.nan, matrix)


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


@pytest.mark.parametrize("model", MODELS)
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


@pytest.mark.parametrize("model", MODELS)
def test_no_sweep_lowers_the_bound_while_the_prior_stays(model: IrtModel) -> None:
    matrix = with_gaps(simulated(15, 25)[0], 0.2)
    likelihood = Likelihood(Responses.of(matrix, np.ones(25)), model)
    at = _first_guess(matrix, model)
    bounds = []
    for _ in range(12):
        priors = Priors(np.array([1.0, 0.09, 1.0]), 0.0, fits_centre=False)
        at, bound, _ = Climb(likelihood, priors, model, at).run(1, 0.0)
        bounds.append(bound)
    assert all(later >= earlier - 1e-6 for earlier, later in itertools.pairwise(bounds))
    assert bounds[-1] > bounds[0]


def test_the_deviation_of_discrimination_with_the_highest_bound_is_kept() -> None:
    fit = fit_irt(simulated(30, 40)[0], model="2pl")
    assert tuple(fit.bounds) == SIGMA_ALPHAS
    assert fit.bounds[fit.sigma_alpha or 0] == max(fit.bounds.values())
    assert fit.bound == pytest.approx(max(fit.bounds.values()), abs=0.5)


# What comes out


def test_parameters_of_a_simulated_crowd_are_recovered() -> None:
    matrix, truth = simulated(90, 250, guessing=0.1)
    fit = fit_irt(matrix)
    assert fit.converged
    assert correlation(fit.difficulty.mean, truth["difficulty"]) > 0.95
    assert correlation(fit.ability.mean, truth["ability"]) > 0.97
    assert correlation(fit.discrimination, truth["discrimination"]) > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_difficulties_of_a_thousand_items_correlate_with_the_truth(seed: int) -> None:
    matrix, truth = simulated(90, 1000, seed)
    fit = fit_irt(matrix)
    assert correlation(fit.difficulty.mean, truth["difficulty"]) >= 0.95
    assert correlation(fit.ability.mean, truth["ability"]) >= 0.98


def test_the_standard_prior_of_guessing_bends_the_difficulties() -> None:
    matrix, truth = simulated(90, 250)
    by_prior = {
        prior: correlation(fit_irt(matrix, guessing_prior=prior).difficulty.mean, truth["difficulty"])
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
        fit = fit_irt((rng.random(chance.shape) < chance).astype(float))
        centres.append(fit.guessing_centre or 0)
        spreads.append(fit.guessing_spread)
    assert centres[0] < -1.2
    assert centres[1] > -1
    assert spreads == [0.5, 1.0]


def test_deviations_say_how_far_off_difficulties_are() -> None:
    matrix, truth = simulated(80, 300, guessing=0.0, discrimination=1.0)
    fit = fit_irt(matrix, model="2pl")
    off = (fit.difficulty.mean - truth["difficulty"]) / fit.difficulty.sd
    assert 0.7 < float(np.std(off)) < 1.6


def test_in_1pl_items_solved_equally_often_are_equally_hard() -> None:
    matrix, _ = simulated(25, 60)
    fit = fit_irt(matrix, model="1pl")
    solved = matrix.sum(axis=0)
    order = np.lexsort((fit.difficulty.mean, -solved))
    assert (np.diff(fit.difficulty.mean[order]) > -1e-4).all()
    for count in np.unique(solved):
        assert np.ptp(fit.difficulty.mean[solved == count]) < 1e-4
    assert (fit.discrimination == 1).all()
    assert (fit.guessing == 0).all()
    assert fit.sigma_alpha is None
    assert not fit.log_discrimination.sd.any()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (3, 4)])
@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
def test_however_little_there_is_the_result_is_finite(model: IrtModel, shape: tuple[int, int], value: float) -> None:
    fit = fit_irt(np.full(shape, value), model=model)
    for found in (fit.ability, fit.difficulty, fit.log_discrimination):
        assert np.isfinite(found.mean).all()
        assert np.isfinite(found.sd).all()
    assert ((fit.guessing >= 0) & (fit.guessing < 1)).all()
    assert np.isfinite(fit.bound)


def test_of_an_item_nobody_answered_only_the_prior_is_known() -> None:
    matrix, _ = simulated(20, 30)
    matrix[:, 7] = np.nan
    fit = fit_irt(matrix, model="2pl")
    assert fit.difficulty.mean[7] == pytest.approx(0, abs=0.02)
    assert fit.difficulty.sd[7] == pytest.approx(1, abs=0.02)
    assert fit.log_discrimination.sd[7] == pytest.approx(fit.sigma_alpha or 0, abs=0.01)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), model=st.sampled_from(MODELS))
def test_permuting_responders_and_items_only_permutes_the_result(seed: int, model: IrtModel) -> None:
    matrix = with_gaps(simulated(12, 20, seed)[0], 0.1)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(12), rng.permutation(20)
    one, other = fit_irt(matrix, model=model), fit_irt(matrix[rows][:, columns], model=model)
    assert other.difficulty.mean == pytest.approx(one.difficulty.mean[columns], abs=1e-6)
    assert other.discrimination == pytest.approx(one.discrimination[columns], abs=1e-6)
    assert other.ability.mean == pytest.approx(one.ability.mean[rows], abs=1e-6)
    assert other.bound == pytest.approx(one.bound, abs=1e-6)


def test_items_of_a_test_count_by_its_size() -> None:
    weights = item_weights([0] * 6 + [1] * 2)
    assert weights[:6].sum() == pytest.approx(weights[6:].sum())
    assert weights.sum() == pytest.approx(8)
    assert item_weights([3, 3]).tolist() == [1, 1]
    assert len(item_weights([])) == 0


def test_a_heavier_test_draws_abilities_to_itself() -> None:
    """Two tests that say the opposite of the responders: the smaller counts as much as the larger."""
    able = np.repeat([1.0, 0.0], 10)[:, None]
    matrix = np.hstack([np.repeat(able, 30, axis=1), np.repeat(1 - able, 3, axis=1)])
    plain = fit_irt(matrix, model="1pl")
    weighted = fit_irt(matrix, model="1pl", weights=item_weights([0] * 30 + [1] * 3))
    gap = [abs(float(np.diff(fit.ability.mean[[0, 19]])[0])) for fit in (plain, weighted)]
    assert gap[1] < 0.5 * gap[0]


def test_more_starts_never_end_lower_and_the_seed_decides() -> None:
    matrix, _ = simulated(15, 20)
    one = fit_irt(matrix)
    several, again, other = (fit_irt(matrix, starts=3, seed=seed) for seed in (4, 4, 5))
    assert several.bound >= one.bound
    assert several.starts == again.starts
    assert several.starts[1:] != other.starts[1:]
    assert several.starts[0] == one.bound


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (np.zeros(3), {}, "at least one row"),
        (np.zeros((0, 3)), {}, "at least one row"),
        (np.full((2, 2), 0.5), {}, "1 .right., 0"),
        (np.zeros((2, 2)), {"model": "4pl"}, "no model"),
        (np.zeros((2, 2)), {"weights": np.ones(3)}, "one positive weight"),
        (np.zeros((2, 2)), {"weights": np.array([1.0, np.nan])}, "one positive weight"),
    ],
)
def test_misuse_is_a_value_error(matrix: NDArray[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_irt(matrix, **options)


# The command


def chorale(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def write(path: Path, matrix: FloatArray, *, prefix: str = "q") -> Path:
    cells = [["" if np.isnan(value) else f"{value:.0f}" for value in row] for row in matrix]
    header = ["userid", *(f"{prefix}_{number}" for number in range(matrix.shape[1]))]
    lines = [header, *([f"r{number}", *row] for number, row in enumerate(cells))]
    path.write_text("".join(",".join(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return write(tmp_path / "test.csv", with_gaps(simulated(12, 11)[0], 0.05))


def test_the_command_prints_the_promised_json(answers: Path) -> None:
    found = json.loads(chorale("irt", answers, "--json").stdout)
    assert list(found["items"]) == [f"q_{number}" for number in range(11)]
    assert {"difficulty", "discrimination", "guessing", "difficulty_sd"} <= set(found["items"]["q_0"])
    assert list(found["responders"]) == [f"r{number}" for number in range(12)]
    assert set(found["responders"]["r3"]) == {"ability", "ability_sd"}
    assert found["sigma_alpha"] in SIGMA_ALPHAS
    assert found["signature"].startswith("irt-3pl|guessing-prior:fitted|starts:1|file:")
    fit = fit_irt(read_responses([answers]).matrix)
    assert found["items"]["q_5"]["difficulty"] == fit.difficulty.mean[5]
    assert found["responders"]["r5"]["ability"] == fit.ability.mean[5]


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_smaller_models_have_constant_parameters(answers: Path, model: str) -> None:
    found = json.loads(chorale("irt", answers, "--model", model, "--json").stdout)
    assert {item["guessing"] for item in found["items"].values()} == {0}
    constant = {item["discrimination"] for item in found["items"].values()} == {1}
    assert constant == (model == "1pl")
    assert found["guessing_centre"] is None


def test_the_order_of_rows_and_columns_changes_nothing(answers: Path, tmp_path: Path) -> None:
    rows = list(csv.reader(answers.read_text("utf-8").splitlines()))
    order = [0, *np.random.default_rng(1).permutation(np.arange(1, 12)).tolist()]
    body = np.random.default_rng(2).permutation(len(rows) - 1) + 1
    mixed = [[rows[row][column] for column in order] for row in [0, *body.tolist()]]
    (tmp_path / "mixed").mkdir()
    other = tmp_path / "mixed" / "test.csv"
    other.write_text("\r\n".join(map(",".join, mixed)), "utf-8-sig")
    one, two = (json.loads(chorale("irt", path, "--json").stdout) for path in (answers, other))
    for found in (one, two):
        for item in found["items"].values():
            del item["test"]
        del found["signature"]
    assert one == two


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_every_item_and_responder_has_an_interval(answers: Path, model: str) -> None:
    found = json.loads(chorale("irt", answers, "--model", model, "--ci", "--json").stdout)
    assert "|ci:posterior|" in found["signature"]
    for item in found["items"].values():
        for name, (low, high) in item["ci"].items():
            assert low <= item[name] <= high
        assert item["ci"]["difficulty"][1] - item["ci"]["difficulty"][0] >= 3 * item["difficulty_sd"]
        assert (item["ci"]["guessing"] == [0, 0]) == (model != "3pl")
    for responder in found["responders"].values():
        assert responder["ci"]["ability"][0] < responder["ability"] < responder["ci"]["ability"][1]
    assert "95% interval" in chorale("irt", answers, "--model", model, "--ci").stdout


def share_held(
    fit: IrtFit, matrix: FloatArray, truth: dict[str, FloatArray], *, level: float = 0.95
) -> dict[str, float]:
    """How many of the true values lie in the intervals, on the scale of the fit."""
    scale, shift = np.polyfit(fit.ability.mean, truth["ability"], 1)
    true = {name: (truth[name] - shift) / scale for name in ("ability", "difficulty")}
    true |= {"discrimination": truth["discrimination"] * scale, "guessing": truth["guessing"]}
    found = irt_intervals(fit, matrix, level=level)
    ends = {name: getattr(found, name) for name in true}
    return {name: float(np.mean((low <= true[name]) & (true[name] <= high))) for name, (low, high) in ends.items()}


def test_intervals_hold_about_as_many_true_values_as_they_promise() -> None:
    matrix, truth = simulated(80, 150)
    fit = fit_irt(matrix, model="3pl")
    held = share_held(fit, matrix, truth)
    assert all(0.87 <= share <= 1 for share in held.values()), held
    half = share_held(fit, matrix, truth, level=0.5)
    assert all(0.25 <= share <= 0.75 for share in half.values()), half
    plain = fit_irt(matrix, model="2pl")
    narrow, wide = (irt_intervals(plain, matrix, level=level).difficulty for level in (0.5, 0.95))
    assert (narrow[1] - narrow[0] < wide[1] - wide[0]).all()
    assert irt_intervals(plain, matrix).guessing.tolist() == np.zeros((2, 150)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("discrimination", "guessing"), [(1.0, 0.25), (1.6, 0.2), (2.5, 0.25)])
def test_intervals_of_many_items_hold_nine_of_ten(discrimination: float, guessing: float) -> None:
    matrix, truth = simulated(90, 500, discrimination=discrimination, guessing=guessing)
    held = share_held(fit_irt(matrix, model="3pl"), matrix, truth)
    assert all(0.87 <= share <= 0.99 for share in held.values()), held


def test_intervals_are_those_of_the_whole_posterior() -> None:
    """Of one item, by adding up the posterior over a fine grid."""
    matrix, _ = simulated(60, 20, seed=5)
    fit = fit_irt(matrix, model="3pl")
    beta, log_alpha, gamma = (np.linspace(-6, 6, 121), np.linspace(-2, 2, 41), (np.arange(50) + 0.5) / 50)
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    theta = fit.ability.mean[:, None] + fit.ability.sd[:, None] * nodes
    logit = np.exp(log_alpha)[None, :, None, None] * (theta - beta[:, None, None, None])
    fails = (1 / (1 + np.exp(logit))) @ (weights / weights.sum())
    prior = -0.5 * beta[:, None] ** 2 - 0.5 * (log_alpha / max(SIGMA_ALPHAS)) ** 2
    found = irt_intervals(fit, matrix)
    for item in (0, 7, 13):
        right = matrix[:, item] == 1
        parts = []
        for guess in gamma:
            wrong = (1 - guess) * fails
            parts.append(prior + np.log1p(-wrong[..., right]).sum(-1) + np.log(wrong[..., ~right]).sum(-1))
        posterior = np.exp(np.stack(parts, axis=-1) - np.max(parts))
        below = np.cumsum(posterior.sum(axis=(1, 2)) / posterior.sum())
        exact = np.interp([0.025, 0.975], below, beta)
        assert found.difficulty[:, item] == pytest.approx(exact, abs=0.35)
        of_gamma = posterior.sum(axis=(0, 1)) / posterior.sum()
        low, high = found.guessing[:, item]
        assert of_gamma[(gamma > low) & (gamma < high)].sum() == pytest.approx(0.95, abs=0.05)


def test_other_answers_are_compared(answers: Path, tmp_path: Path) -> None:
    lines = answers.read_text("utf-8").splitlines()
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join([lines[0], *lines[5:]]), "utf-8")
    options = ["--model", "2pl", "--resamples", "200", "--json"]
    found = json.loads(chorale("irt", answers, "--against", fewer, *options).stdout)["against"]
    assert set(found) == {"difficulty", "discrimination", "ability"}
    assert found["ability"]["common"] == len(lines) - 5
    assert found["difficulty"]["correlation"] > 0.9
    assert 0 < found["difficulty"]["p_randomisation"] <= 1
    same = json.loads(chorale("irt", answers, "--against", answers, *options).stdout)
    assert same["against"]["difficulty"]["difference"] == 0
    assert "|against:" in same["signature"]
    assert "How alike" in chorale("irt", answers, "--against", fewer, "--model", "2pl").stdout
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(answers.read_text("utf-8").replace("q_", "other_").replace("\nr", "\nwho"), "utf-8")
    assert "nothing to compare" in chorale("irt", answers, "--against", renamed, "--model", "1pl", code=2).stderr


def test_several_files_are_several_tests(tmp_path: Path) -> None:
    matrix, _ = simulated(10, 12)
    files = [
        write(tmp_path / "a.csv", matrix[:, :9], prefix="a"),
        write(tmp_path / "b.csv", matrix[:7, 9:], prefix="b"),
    ]
    table = read_responses(files)
    assert table.tests == (0,) * 9 + (1,) * 3
    assert np.isnan(table.matrix[7:, 9:]).all()
    assert not np.isnan(table.matrix[:7]).any()
    found = json.loads(chorale("irt", *files, "--json").stdout)
    assert len(found["items"]) == 12
    assert any("inverse of the size" in note for note in found["notes"])
    swapped = json.loads(chorale("irt", *reversed(files), "--json").stdout)
    assert found["signature"] == swapped["signature"]
    for name, item in found["items"].items():
        assert swapped["items"][name]["difficulty"] == pytest.approx(item["difficulty"], abs=1e-6)


def test_items_are_written_to_a_file(answers: Path, tmp_path: Path) -> None:
    target = tmp_path / "items.csv"
    chorale("irt", answers, "--model", "2pl", "--out", target)
    rows = list(csv.DictReader(target.read_text("utf-8").splitlines()))
    assert len(rows) == 11
    assert {"item", "difficulty", "discrimination", "guessing"} <= set(rows[0])
    assert "there already" in chorale("irt", answers, "--out", target, code=2).output
    chorale("irt", answers, "--model", "1pl", "--out", target, "--force")
    assert (
        "can't be written" in chorale("irt", answers, "--model", "1pl", "--out", tmp_path / "no" / "x", code=2).output
    )


def test_tables_come_for_terminals_and_papers(answers: Path) -> None:
    shown = chorale("irt", answers, "--model", "1pl")
    assert "the hardest first" in shown.stdout
    assert "irt-1pl|" in shown.stdout
    latex = chorale("irt", answers, "--model", "1pl", "--latex").stdout
    assert latex.count(r"\begin{tabular}") == 2
    assert r"q\_3" in latex


def test_items_that_say_little_are_noted(tmp_path: Path) -> None:
    matrix, _ = simulated(6, 5)
    matrix[:, 1] = 1
    matrix[:, 2] = np.nan
    notes = " ".join(json.loads(chorale("irt", write(tmp_path / "t.csv", matrix), "--json").stdout)["notes"])
    assert "1 item nobody answered" in notes
    assert "everybody got right" in notes
    single = write(tmp_path / "one.csv", np.ones((1, 1)))
    notes = " ".join(json.loads(chorale("irt", single, "--json").stdout)["notes"])
    assert "one responder only" in notes
    assert "one item only" in notes


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", "", "is empty"),
        ("userid\n", ":1", "has no items"),
        ("userid,a\n", "", "has no responders"),
        ("userid,a,a\nx,1,0\n", ":1", "an item twice"),
        ("userid,a,\nx,1,0\n", ":1", "no name for column 3"),
        ("userid,a,b\nx,1,2\n", ":2", "an answer to b that is not 0 or 1 (found '2')"),
        ("userid,a\nx,NaN\n", ":2", "not 0 or 1 (found 'NaN')"),
        ("userid,a\nx,0.5\n", ":2", "not 0 or 1"),
        ("userid,a\nx,1\n\nx,0\n", ":4", "a responder again (found 'x')"),
        ("userid,a\n,1\n", ":2", "has no responder"),
        ("userid,a,b\nx,1\n", ":2", "does not have the 3 cells"),
        ("userid,a,b\nx,,\n", ":2", "without any answer"),
        ('userid,a\n"x,1\n', ":2", "has a quote that is never closed"),
        ("userid,a\rx,1\n", ":1", "has a carriage return outside quotes"),
    ],
)
def test_bad_files_are_told_with_line_value_and_fix(tmp_path: Path, text: str, line: str, message: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text, "utf-8")
    told = chorale("irt", file, code=2).output
    assert f"{file}{line}: " in told
    assert message in told


def test_names_may_have_commas_and_odd_characters(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text('userid,"a,\u2028b"\n"x\n\u0085y",1\nz,0.0\n', "utf-8")
    table = read_responses([file])
    assert table.items == ("a,\u2028b",)
    assert table.responders == ("x\n\u0085y", "z")
    assert table.matrix.tolist() == [[1], [0]]


def test_all_mistakes_are_told_at_once_but_not_thousands(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("userid,a\nr,1\n" + "".join(f"r{number},x\n" for number in range(500)), "utf-8")
    told = chorale("irt", file, code=2).output
    assert 10 < told.count("not 0 or 1") <= 50


def test_a_file_of_another_kind_is_one_problem(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("task,worker,label\n" + "".join(f"t{number},ann,yes\n" for number in range(9)), "utf-8")
    told = chorale("irt", file, code=2).output
    assert told.count("judgments.csv:") == 1
    assert "judgments.csv:2: is not a table of responses" in told and "(found 'ann')" in told


def test_an_item_of_two_files_and_a_file_that_is_not_text_are_refused(answers: Path, tmp_path: Path) -> None:
    assert "again" in chorale("irt", answers, answers, code=2).output
    (tmp_path / "latin.csv").write_bytes(b"userid,a\nJos\xe9,1\n")
    assert "not UTF-8" in chorale("irt", tmp_path / "latin.csv", code=2).output
    assert "does not exist" in chorale("irt", tmp_path / "none.csv", code=2).output


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet='userid,ab01 \n\r"x\ufeff;\t', max_size=60))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "t.csv"
    file.write_bytes(text.encode())
    try:
        table = read_responses([file])
    except UserError as error:
        assert error.problems
        assert all(problem.fix for problem in error.problems)
    else:
        assert table.matrix.shape == (len(table.responders), len(table.items))
        assert np.isin(table.matrix[~np.isnan(table.matrix)], (0, 1)).all()
