"""Item response theory on the published responses of 90 models."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.metrics.irt import SIGMA_ALPHAS, fit_irt
from chorale.metrics.reading.responses import read_responses

SHARED = Path(__file__).parents[2] / "shared"
pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the reference data, which is not part of the project"
)
TESTS = SHARED / "data" / "irt"


def test_all_published_tests_are_read() -> None:
    table = read_responses(sorted(TESTS.glob("*.csv")))
    sizes = [table.tests.count(number) for number in range(3)]
    assert len(table.responders) == 90
    assert sizes == [1172, 1493, 139]
    assert not np.isnan(table.matrix).any()
    assert table.items[:3] == ("arc_challenge_0", "arc_challenge_1", "arc_challenge_2")


def test_the_best_trained_models_are_the_ablest() -> None:
    command = ["irt", str(TESTS / "rte_irt_all_coded.csv"), "--method", "variational", "--json"]
    found = json.loads(CliRunner().invoke(app, command).stdout)
    ability = {name: one["ability"] for name, one in found["responders"].items()}
    assert max(ability, key=lambda name: ability[name]).startswith("roberta-large")
    assert found["converged"]
    assert found["sigma_alpha"] in SIGMA_ALPHAS
    solved = [item["right"] for item in found["items"].values()]
    difficulty = [item["difficulty"] for item in found["items"].values()]
    assert np.corrcoef(solved, difficulty)[0, 1] < -0.8


@pytest.mark.slow
def test_items_of_three_tests_of_unequal_size_are_fitted_together() -> None:
    """139 items of one test and 1,172 of another: every answer counts once, and no discrimination runs away."""
    table = read_responses([TESTS / "rte_irt_all_coded.csv", TESTS / "arc-challenge_irt_all_coded.csv"])
    fit = fit_irt(table.matrix, model="2pl")
    assert fit.converged
    assert fit.discrimination.max() < 10
    assert np.corrcoef(fit.ability.mean, table.matrix.mean(axis=1))[0, 1] > 0.9


@pytest.mark.slow
def test_a_large_published_test_is_fitted() -> None:
    matrix = read_responses([TESTS / "cosmosqa_irt_all_coded.csv"]).matrix
    fit = fit_irt(matrix)
    assert np.corrcoef(fit.ability.mean, matrix.mean(axis=1))[0, 1] > 0.9
    assert np.corrcoef(fit.difficulty.mean, matrix.mean(axis=0))[0, 1] < -0.85
