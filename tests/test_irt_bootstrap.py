"""Intervals of item response models by drawing responders and items again."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chorale.metrics import FloatArray
from chorale.metrics.irt import IrtFit, IrtModel, fit_irt, irt_bootstrap
from test_irt import chorale, simulated


def steps_one_by_one(fit: IrtFit, matrix: FloatArray, drawn: FloatArray, item: int) -> FloatArray:
    """The step of an item's parameters in every resample, from the probabilities alone: derivatives by differences."""
    free = {"1pl": 1, "2pl": 2, "3pl": 3}[fit.model]
    at = np.array([fit.difficulty.mean[item], fit.log_discrimination.mean[item], fit.logit_guessing.mean[item]])

    def chance(parameters: FloatArray) -> FloatArray:
        beta, log_alpha, logit_gamma = parameters
        gamma = 1 / (1 + np.exp(-logit_gamma)) if free == 3 else 0.0
        knows = 1 / (1 + np.exp(-np.exp(log_alpha) * (fit.ability.mean - beta)))
        return np.asarray(gamma + (1 - gamma) * knows)

    answered = ~np.isnan(matrix[:, item])
    right, p = matrix[answered, item], chance(at)[answered]
    moved = [(chance(at + one) - chance(at - one))[answered] / 2e-5 for one in 1e-5 * np.eye(3)[:free]]
    spreads = [1.0, fit.sigma_alpha or 1.0, fit.guessing_spread or 1.0][:free]
    steps = []
    for times in drawn[:, answered]:
        slope = [((times - 1) * (right - p) / (p * (1 - p)) * one).sum() for one in moved]
        known = [[(times * one * other / (p * (1 - p))).sum() for other in moved] for one in moved]
        steps.append(np.linalg.solve(np.array(known) + np.diag(1 / np.square(spreads)), slope))
    return np.array(steps)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_an_item_takes_a_step_of_newtons_in_every_resample(model: IrtModel) -> None:
    matrix, _ = simulated(40, 12, seed=3)
    matrix[5, :4] = np.nan
    fit = fit_irt(matrix, model=model)
    found = irt_bootstrap(fit, matrix, resamples=150, seed=7)
    drawn = np.random.default_rng([7, 0]).multinomial(40, np.full(40, 1 / 40), size=150).astype(float)
    for item in (0, 7):
        steps = steps_one_by_one(fit, matrix, drawn, item)
        ends = np.quantile(steps, (0.025, 0.975), axis=0)
        assert found.difficulty[:, item] - fit.difficulty.mean[item] == pytest.approx(ends[:, 0], rel=1e-4)
        if model != "1pl":
            assert np.log(found.discrimination[:, item] / fit.discrimination[item]) == pytest.approx(
                ends[:, 1], rel=1e-3
            )
    assert (found.discrimination == 1).all() == (model == "1pl")
    assert (found.guessing == 0).all() == (model != "3pl")


def test_intervals_hold_most_true_values() -> None:
    held: dict[str, list[bool]] = {"ability": [], "difficulty": []}
    for seed in range(3):
        matrix, truth = simulated(60, 90, seed=seed, guessing=0.0)
        fit = fit_irt(matrix, model="2pl")
        found = irt_bootstrap(fit, matrix, seed=seed)
        scale, shift = np.polyfit(fit.ability.mean, truth["ability"], 1)
        for name in held:
            low, high = getattr(found, name)
            true = (truth[name] - shift) / scale
            held[name] += ((low <= true) & (true <= high)).tolist()
    assert {name: 0.87 < np.mean(values) < 0.99 for name, values in held.items()} == dict.fromkeys(held, True)


def test_a_hundred_times_the_answers_make_intervals_of_a_tenth() -> None:
    """With the same share of right answers at every ability: how much is known is all that differs."""
    matrix, _ = simulated(50, 10, seed=2, guessing=0.0)
    fit = fit_irt(matrix, model="1pl")
    wide = irt_bootstrap(fit, matrix)
    many = IrtFit(**{name: getattr(fit, name) for name in fit.__slots__} | {"ability": _repeated(fit.ability, 100)})
    narrow = irt_bootstrap(many, np.repeat(matrix, 100, axis=0))
    ratio = np.ptp(wide.difficulty, axis=0) / np.ptp(narrow.difficulty, axis=0)
    assert np.median(ratio) == pytest.approx(10, rel=0.15)


def _repeated(one: Any, times: int) -> Any:
    return type(one)(np.repeat(one.mean, times), np.repeat(one.sd, times))


def test_the_command_bootstraps_by_the_seed_whatever_the_order_of_rows(tmp_path: Path) -> None:
    matrix, _ = simulated(20, 9)
    rows = [["who", *(f"q{number}" for number in range(9))]]
    rows += [[f"r{number}", *map(str, row.astype(int))] for number, row in enumerate(matrix)]

    def found(*options: str, of: list[list[str]] = rows) -> dict[str, Any]:
        file = tmp_path / "answers.csv"
        with file.open("w", encoding="utf-8", newline="") as target:
            csv.writer(target).writerows(of)
        result = chorale("irt", file, "--model", "2pl", "--ci", "--json", *options)
        return {**json.loads(result.stdout), "signature": json.loads(result.stdout)["signature"].split("|file")[0]}

    drawn = found("--interval", "bootstrap")
    assert drawn["signature"] == "irt-2pl|starts:1|seed:1|ci:bootstrap|resamples:1000"
    assert any("over the responders" in note for note in drawn["notes"])
    assert drawn == found("--interval", "bootstrap")
    backwards = [rows[0], *reversed(rows[1:])]
    assert drawn == found("--interval", "bootstrap", of=backwards)
    other = found("--interval", "bootstrap", "--seed", "2")
    assert other["items"]["q0"]["ci"] != drawn["items"]["q0"]["ci"]
    assert other["items"]["q0"]["difficulty"] == drawn["items"]["q0"]["difficulty"]
    assert found()["items"]["q0"]["ci"] != drawn["items"]["q0"]["ci"]
    for one in drawn["items"].values():
        assert one["ci"]["difficulty"][0] < one["difficulty"] < one["ci"]["difficulty"][1]


def test_a_kind_of_interval_without_intervals_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("who,q\na,1\nb,0\n", "utf-8")
    assert "--ci" in chorale("irt", file, "--interval", "bootstrap", code=2).stderr
    told = chorale("irt", file, "--ci", "--interval", "bootstrap", "--resamples", "100000", code=2).stderr
    assert "10,000" in told
