"""Item response theory: what is maximised, what comes out, and what the command says."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bench.irt_coverage import IrtCase, coverage
from bench.irt_coverage import simulated as simulated_case
from chorale.cli import app
from chorale.metrics import FloatArray
from chorale.metrics.irt import (
    MODELS,
    SIGMA_ALPHAS,
    IrtModel,
    fit_irt,
    fit_variational,
    irt_intervals,
    item_fit,
    item_information,
)
from chorale.metrics.irt.curves import Curves
from chorale.metrics.reading.responses import read_responses
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.irt import IrtOptions, score_irt
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


# The fit


@pytest.mark.parametrize("model", MODELS)
def test_the_fit_is_a_maximum_of_the_likelihood_and_the_priors(model: IrtModel) -> None:
    """Computed one responder at a time, on another grid: no item can be moved to a better place."""
    matrix, _ = simulated_case(IrtCase(model, 400, 6), 3)
    fit = fit_irt(matrix, model=model)
    ascent, theta = fit.ascent, np.linspace(-7, 7, 281)

    def log_likelihood(parameters: FloatArray) -> float:
        chance = Curves.of(parameters, theta, ascent.thresholds).chance
        total = 0.0
        for row in matrix.astype(int):
            likelihood = np.prod([chance[answer, item] for item, answer in enumerate(row)], axis=0)
            total += np.log((likelihood * np.exp(-0.5 * theta**2)).sum() * 0.05 / np.sqrt(2 * np.pi))
        return float(total)

    at = ascent.at.parameters
    assert log_likelihood(at) == pytest.approx(fit.log_likelihood, abs=1e-3)
    for item, column in ((0, 0), (2, 1), (5, 0)):
        if model == "1pl" and column == 0:
            continue
        moved = []
        for move in (-0.3, 0.3):
            near = at.copy()
            near[item, column] += move
            off = near[item] - ascent.priors.mean
            moved.append(log_likelihood(near) - 0.5 * float((off**2 / ascent.priors.variance).sum()))
        off = at[item] - ascent.priors.mean
        assert max(moved) < fit.log_likelihood - 0.5 * float((off**2 / ascent.priors.variance).sum()) + 0.05


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


def test_few_answers_of_many_people_are_enough_for_items() -> None:
    """The published method takes abilities for known, and finds α a third too large here."""
    matrix, truth = simulated(1000, 10, seed=4, guessing=0.0)
    fit = fit_irt(matrix, model="2pl")
    off = fit.log_discrimination.mean - np.log(truth["discrimination"] * truth["ability"].std())
    assert abs(float(off.mean())) < 0.1
    assert float(np.abs(fit.difficulty.mean - truth["difficulty"]).max()) < 0.3


def test_several_files_weigh_every_answer_the_same(tmp_path: Path) -> None:
    matrix, _ = simulated(60, 125)
    files = [
        write(tmp_path / "large.csv", matrix[:, :120], prefix="a"),
        write(tmp_path / "small.csv", matrix[:, 120:], prefix="b"),
    ]
    found = json.loads(chorale("irt", *files, "--model", "2pl", "--json").stdout)["items"]
    whole = fit_irt(matrix, model="2pl")
    assert found["b_2"]["discrimination"] == pytest.approx(whole.discrimination[122], abs=1e-6)
    assert max(item["discrimination"] for item in found.values()) < 5


def test_the_scale_is_that_of_the_responders() -> None:
    matrix, _ = simulated(80, 40, guessing=0.0)
    for model in ("2pl", "3pl"):
        fit = fit_irt(matrix, model=model)
        assert float(fit.ability.mean.mean()) == pytest.approx(0, abs=0.01)
        spread = float(fit.ability.mean.var() + (fit.covariances.ability_sd**2).mean())
        assert spread == pytest.approx(1, abs=0.01)
    rasch = fit_irt(matrix, model="1pl")
    assert (rasch.discrimination == 1).all()
    assert rasch.unit > 1.2, "abilities are spread by more than 1 where items are steeper than 1"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (3, 4)])
@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
def test_however_little_there_is_the_result_is_finite(model: IrtModel, shape: tuple[int, int], value: float) -> None:
    fit = fit_irt(np.full(shape, value), model=model)
    around = irt_intervals(fit)
    for found in (fit.ability, fit.difficulty, fit.log_discrimination):
        assert np.isfinite(found.mean).all()
        assert np.isfinite(found.sd).all()
    for ends in (around.ability, around.difficulty, around.discrimination, around.guessing):
        assert np.isfinite(ends).all()
        assert (ends[0] <= ends[1]).all()
    assert ((fit.guessing >= 0) & (fit.guessing < 1)).all()


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


def test_graded_answers_of_two_kinds_are_right_and_wrong_ones() -> None:
    matrix, _ = simulated(50, 12, guessing=0.0)
    graded, binary = fit_irt(3 + 4 * matrix, model="graded"), fit_irt(matrix, model="2pl")
    assert graded.difficulty.mean == pytest.approx(binary.difficulty.mean, abs=1e-9)
    assert graded.discrimination == pytest.approx(binary.discrimination, abs=1e-9)
    assert graded.categories[0].tolist() == [3, 7]


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (np.zeros(3), {}, "at least one row"),
        (np.zeros((0, 3)), {}, "at least one row"),
        (np.full((2, 2), 0.5), {}, "1 .correct., 0"),
        (np.zeros((2, 2)), {"model": "4pl"}, "unknown model"),
        (np.zeros((2, 2)), {"guess_rate": 1.0}, "between 0 and 1"),
        (np.arange(50.0)[:, None], {"model": "graded"}, "at most 20"),
    ],
)
def test_misuse_is_a_value_error(matrix: NDArray[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_irt(matrix, **options)


# Intervals and checks


@pytest.mark.parametrize(
    ("case", "repetitions"),
    [
        (IrtCase("1pl", 1000, 10), 12),
        (IrtCase("2pl", 1000, 10), 12),
        (IrtCase("3pl", 1000, 10), 12),
        (IrtCase("graded", 300, 10), 10),
        (IrtCase("2pl", 60, 100), 2),
        (IrtCase("2pl", 60, 400), 1),
    ],
)
def test_intervals_hold_as_many_true_values_as_they_promise(case: IrtCase, repetitions: int) -> None:
    """1,000 responders to 10 items: a fit that took abilities for known held 40 to 60% here."""
    held = {row.number: row.held for row in coverage(case, repetitions)}
    assert held.pop("fit", 0.05) < 0.12
    assert all(0.89 <= share <= 1 for share in held.values()), held


def test_deviations_are_those_of_repeated_simulations() -> None:
    """Of one item, of which all else stays the same."""
    rng = np.random.default_rng(5)
    difficulty, alpha = rng.normal(size=8), 1.6 * np.exp(0.3 * rng.normal(size=8))
    found, promised = [], []
    for _ in range(60):
        ability = rng.normal(size=500)
        ability = (ability - ability.mean()) / ability.std()
        chance = 1 / (1 + np.exp(-alpha * (ability[:, None] - difficulty)))
        fit = fit_irt((rng.random(chance.shape) < chance).astype(float), model="2pl")
        found.append([fit.difficulty.mean, fit.log_discrimination.mean])
        promised.append([fit.difficulty.sd, fit.log_discrimination.sd])
    ratio = np.std(found, axis=0) / np.mean(promised, axis=0)
    assert ratio.mean(axis=1) == pytest.approx([1, 1], abs=0.15)


def test_information_is_that_of_the_formula() -> None:
    matrix, _ = simulated(60, 5, guessing=0.0)
    fit = fit_irt(matrix, model="2pl")
    at = np.array([-1.0, 0.5])
    chance = 1 / (1 + np.exp(-fit.discrimination[:, None] * (at - fit.difficulty.mean[:, None])))
    expected = fit.discrimination[:, None] ** 2 * chance * (1 - chance)
    assert item_information(fit, at) == pytest.approx(expected, rel=1e-6)
    rasch = fit_irt(matrix, model="1pl")
    chance = 1 / (1 + np.exp(-(at - rasch.difficulty.mean[:, None])))
    assert item_information(rasch, at) == pytest.approx(chance * (1 - chance), rel=1e-6)


def test_an_item_that_breaks_the_model_is_found_and_others_are_not() -> None:
    matrix, truth = simulated(600, 15, guessing=0.0)
    middling = np.abs(truth["ability"]) < 0.8
    matrix[:, 3] = np.where(np.random.default_rng(2).random(600) < 0.85, middling, ~middling)
    checked = item_fit(fit_irt(matrix, model="2pl"))
    assert checked.adjusted[3] < 0.001
    assert (np.delete(checked.adjusted, 3) > 0.01).all()
    few = item_fit(fit_irt(matrix[:10], model="2pl"))
    assert np.isnan(few.p).all() and np.isnan(few.adjusted).all()


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
    assert found["signature"].startswith("irt-3pl|method:marginal|guess-rate:0.15|file:")
    fit = fit_irt(read_responses([answers]).matrix)
    assert found["items"]["q_5"]["difficulty"] == fit.difficulty.mean[5]
    assert found["responders"]["r5"]["ability"] == fit.ability.mean[5]


@pytest.mark.parametrize("model", ["1pl", "2pl"])
def test_smaller_models_have_constant_parameters(answers: Path, model: str) -> None:
    found = json.loads(chorale("irt", answers, "--model", model, "--json").stdout)
    assert {item["guessing"] for item in found["items"].values()} == {0}
    constant = {item["discrimination"] for item in found["items"].values()} == {1}
    assert constant == (model == "1pl")


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


@pytest.mark.parametrize("model", MODELS)
def test_every_item_and_responder_has_an_interval(answers: Path, model: str) -> None:
    found = json.loads(chorale("irt", answers, "--model", model, "--ci", "--json").stdout)
    assert "|ci:yes|" in found["signature"]
    for item in found["items"].values():
        for name in ("difficulty", "discrimination", "guessing"):
            low, high = item["ci"][name]
            assert low <= item[name] <= high
        assert item["ci"]["difficulty"][1] - item["ci"]["difficulty"][0] >= 3 * item["difficulty_sd"]
        assert (item["ci"]["guessing"] == [0, 0]) == (model != "3pl")
    for responder in found["responders"].values():
        assert responder["ci"]["ability"][0] < responder["ability"] < responder["ci"]["ability"][1]
    assert any("outside the range in which coverage was checked" in note for note in found["notes"])
    assert "95% interval" in chorale("irt", answers, "--model", model, "--ci").stdout


def test_a_score_has_every_number_its_interval_and_its_signature(answers: Path) -> None:
    table = read_responses([answers])
    scored, _ = score_irt(table, IrtOptions("2pl"), resampling=Resampling(ci=True))
    assert scored.name == "difficulty of q_0"
    assert scored.interval is not None and scored.value is not None
    assert scored.interval.low < scored.value < scored.interval.high
    assert set(scored.values) == set(scored.intervals)
    assert "ability of r3" in scored.values and "guessing of q_0" not in scored.values
    assert scored.signature.startswith("irt-2pl|method:marginal|ci:yes|")
    assert scored.to_polars().height == 11 * 2 + 12


def test_the_published_method_has_no_intervals_and_its_own_options(answers: Path) -> None:
    found = json.loads(chorale("irt", answers, "--method", "variational", "--json").stdout)
    assert found["sigma_alpha"] in SIGMA_ALPHAS
    assert found["signature"].startswith("irt-3pl|method:variational|guessing-prior:fitted|starts:1|file:")
    fit = fit_variational(read_responses([answers]).matrix)
    assert found["items"]["q_5"]["difficulty"] == fit.difficulty.mean[5]
    assert "underestimates standard" in chorale("irt", answers, "--method", "variational", "--ci", code=2).stderr
    assert "--model graded" in chorale("irt", answers, "--method", "variational", "--model", "graded", code=2).stderr
    assert "--method variational" in chorale("irt", answers, "--starts", "3", code=2).stderr


def test_one_answer_a_row_is_the_same_as_one_responder_a_row(answers: Path, tmp_path: Path) -> None:
    wide = read_responses([answers])
    rows = [
        f"x,{responder},{item},{value:.0f}\n"
        for responder, given in zip(wide.responders, wide.matrix, strict=True)
        for item, value in zip(wide.items, given, strict=True)
        if not np.isnan(value)
    ]
    file = tmp_path / "long.csv"
    file.write_text("note,worker,item,correct\n" + "".join(reversed(rows)), "utf-8")
    long = read_responses([file])
    assert (long.responders, long.items) == (wide.responders, wide.items)
    assert np.array_equal(long.matrix, wide.matrix, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "separator", "first"),
    [("excel.csv", ";", ""), ("declared.csv", ";", "sep=;\n"), ("answers.tsv", "\t", "")],
)
def test_columns_may_be_separated_otherwise(
    answers: Path, tmp_path: Path, name: str, separator: str, first: str
) -> None:
    """As Excel writes them where the decimal separator is a comma: with a byte order mark and Windows line ends."""
    wide, file = read_responses([answers]), tmp_path / name
    text = (first + answers.read_text("utf-8").replace(",", separator)).replace("\n", "\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert np.array_equal(read_responses([file]).matrix, wide.matrix, equal_nan=True)


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("a,q,1\na,q,0\n", ":3", "repeats an answer of a to this item (found 'q')"),
        ("a,q,2\n", ":2", "an answer to item 'q' that is not 0 or 1 (found '2')"),
        ("a,,1\n", ":2", "has no item"),
        ("a,q\n", ":2", "too few cells"),
        ("", "", "has no responders"),
    ],
)
def test_mistakes_in_rows_of_answers_are_told(tmp_path: Path, rows: str, line: str, message: str) -> None:
    file = tmp_path / "long.csv"
    file.write_text("responder,item,answer\n" + rows, "utf-8")
    told = chorale("irt", file, code=2).output
    assert f"{file}{line}: " in told
    assert message in told


def test_graded_answers_are_any_numbers(tmp_path: Path) -> None:
    matrix, _ = simulated_case(IrtCase("graded", 60, 6), 1)
    file = write(tmp_path / "likert.csv", matrix + 1)
    found = json.loads(chorale("irt", file, "--model", "graded", "--ci", "--json").stdout)
    for item in found["items"].values():
        assert item["thresholds"] == sorted(item["thresholds"])
        assert len(item["thresholds"]) == len(item["ci"]["thresholds"]) == 3
    # Such answers are not right or wrong, and nobody guesses them.
    first = found["items"][min(found["items"])]
    assert first["mean_answer"] == pytest.approx(np.nanmean(matrix[:, 0]) + 1) and "right" not in first
    shown = chorale("irt", file, "--model", "graded").stdout
    assert "mean answer" in shown and "thresholds" in shown and "right" not in shown and "guessing" not in shown
    assert "not 0 or 1" in chorale("irt", file, code=2).output
    file.write_text("userid,a\nx,many\n", "utf-8")
    assert "not a number (found 'many')" in chorale("irt", file, "--model", "graded", code=2).output


def test_too_many_different_graded_answers_are_refused_by_item(tmp_path: Path) -> None:
    matrix = np.stack([np.arange(30.0), np.arange(30.0) % 3], axis=1)
    told = chorale("irt", write(tmp_path / "t.csv", matrix), "--model", "graded", code=2).output
    assert "t.csv: has 30 different answers to an item, but --model graded allows 20 (found" in told
    assert told.count("different answers") == 1


def test_graded_items_with_the_same_answer_from_everybody_are_noted(tmp_path: Path) -> None:
    """A mean answer of 1 is not agreement: the answers are numbers, not right or wrong."""
    matrix = np.stack([np.tile([0.0, 1.0, 2.0], 10), np.full(30, 2.0), np.arange(30.0) % 2], axis=1)
    file = write(tmp_path / "t.csv", matrix)
    notes = " ".join(json.loads(chorale("irt", file, "--model", "graded", "--json").stdout)["notes"])
    assert "1 item has the same answer from everybody. Its difficulty" in notes and "correctly" not in notes


def test_a_responder_of_long_files_without_answers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("responder,item,answer\nx,a,1\nx,b,0\ny,a,\ny,b,\n", "utf-8")
    assert "has a responder without any answer (found 'y')" in chorale("irt", file, code=2).output


def test_other_answers_are_compared(answers: Path, tmp_path: Path) -> None:
    lines = answers.read_text("utf-8").splitlines()
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join([lines[0], *lines[5:]]), "utf-8")
    options = ["--model", "2pl", "--json"]
    found = json.loads(chorale("irt", answers, "--against", fewer, *options).stdout)["against"]
    assert set(found) == {"difficulty", "discrimination", "ability"}
    assert found["ability"]["common"] == len(lines) - 5
    assert found["difficulty"]["correlation"] > 0.9
    assert found["difficulty"].keys() == {"common", "correlation", "value", "other", "difference"}
    same = json.loads(chorale("irt", answers, "--against", answers, *options).stdout)
    assert same["against"]["difficulty"]["difference"] == 0
    assert "|against:" in same["signature"]
    shown = chorale("irt", answers, "--against", fewer, "--model", "2pl")
    assert "correlation" in shown.stdout and "no interval or p-value" in " ".join(shown.stderr.split())
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
    weighted = json.loads(chorale("irt", *files, "--method", "variational", "--json").stdout)
    assert any("inverse size" in note for note in weighted["notes"])
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
    assert "already exists" in chorale("irt", answers, "--out", target, code=2).output
    chorale("irt", answers, "--model", "1pl", "--out", target, "--force")
    assert (
        "can't be written" in chorale("irt", answers, "--model", "1pl", "--out", tmp_path / "no" / "x", code=2).output
    )


def test_tables_come_for_terminals_and_papers(answers: Path) -> None:
    shown = chorale("irt", answers, "--model", "1pl")
    assert "hardest first" in shown.stdout
    assert "irt-1pl|" in shown.stdout
    latex = chorale("irt", answers, "--model", "1pl", "--latex").stdout
    assert latex.count(r"\begin{tabular}") == 3
    assert r"q\_3" in latex


def test_items_that_say_little_are_noted(tmp_path: Path) -> None:
    matrix, _ = simulated(6, 5)
    matrix[:, 1] = 1
    matrix[:, 2] = np.nan
    notes = " ".join(json.loads(chorale("irt", write(tmp_path / "t.csv", matrix), "--json").stdout)["notes"])
    assert "1 item has no answers. Its estimates" in notes
    assert "answered correctly by everybody" in notes
    single = write(tmp_path / "one.csv", np.ones((1, 1)))
    notes = " ".join(json.loads(chorale("irt", single, "--json").stdout)["notes"])
    assert "only one responder" in notes
    assert "only one item" in notes


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", "", "is empty"),
        ("userid\n", ":1", "has no items"),
        ("userid,a\n", "", "has no responders"),
        ("userid,a,a\nx,1,0\n", ":1", "the same item twice"),
        ("userid,a,\nx,1,0\n", ":1", "no name for column 3"),
        ("userid,a,b\nx,1,2\n", ":2", "an answer to item 'b' that is not 0 or 1 (found '2')"),
        ("userid,a\nx,NaN\n", ":2", "not 0 or 1 (found 'NaN')"),
        ("userid,a\nx,0.5\n", ":2", "not 0 or 1"),
        ("userid,a\nx,1\n\nx,0\n", ":4", "repeats a responder (found 'x')"),
        ("userid,a\n,1\n", ":2", "has no responder"),
        ("userid,a,b\nx,1\n", ":2", "does not have 3 cells"),
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
    assert "not 0 or 1 in at least 50 rows" in told


def test_a_file_of_another_kind_is_one_problem(tmp_path: Path) -> None:
    file = tmp_path / "judgments.csv"
    file.write_text("task,worker,label\n" + "".join(f"t{number},ann,yes\n" for number in range(9)), "utf-8")
    told = chorale("irt", file, code=2).output
    assert told.count("judgments.csv:") == 1
    assert "judgments.csv:2: is not a table of responses" in told and "(found 'yes')" in told


def test_an_item_of_two_files_and_a_file_that_is_not_text_are_refused(answers: Path, tmp_path: Path) -> None:
    assert "repeats an item" in chorale("irt", answers, answers, code=2).output
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
