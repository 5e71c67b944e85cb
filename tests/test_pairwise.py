"""Scores of items from pairwise comparisons: against crowd-kit and SciPy, and on small and odd data."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize

import chorale
from chorale.metrics.aggregation.pairwise import NOT_CONNECTED, Comparisons, bradley_terry, noisy_bradley_terry

peers = pytest.importorskip("crowdkit.aggregation")


def comparisons(items: int, workers: int, size: int, seed: int) -> tuple[pd.DataFrame, Any, Any]:
    """Workers who look with a probability between 0.4 and 1, and otherwise prefer a side."""
    rng = np.random.default_rng(seed)
    strength, skill, bias = rng.normal(size=items), rng.uniform(0.4, 1, workers), rng.uniform(0.2, 0.8, workers)
    worker, left = rng.integers(workers, size=size), rng.integers(items, size=size)
    right = (left + rng.integers(1, items, size=size)) % items
    by_items = 1 / (1 + np.exp(strength[right] - strength[left]))
    takes_left = rng.random(size) < skill[worker] * by_items + (1 - skill[worker]) * bias[worker]
    columns = {"worker": worker, "left": left, "right": right, "label": np.where(takes_left, left, right)}
    named = {
        name: [f"{'w' if name == 'worker' else 'i'}{code:02}" for code in codes] for name, codes in columns.items()
    }
    return pd.DataFrame(named), strength, skill


def quietly(call: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return call(*arguments)


@pytest.mark.parametrize(("items", "size"), [(8, 400), (15, 90), (2, 9)])
def test_bradley_terry_is_crowd_kits_once_that_goes_on(items: int, size: int) -> None:
    """With a tolerance of 0: with any other crowd-kit stops after two iterations, since it compares with itself."""
    for seed in range(3):
        table, _, _ = comparisons(items, 5, size, seed)
        iterations = 500
        theirs = quietly(peers.BradleyTerry(n_iter=iterations, tol=0).fit_predict, table)
        ours = chorale.aggregate.BradleyTerry(n_iter=iterations, tol=0).fit_predict(table)
        np.testing.assert_allclose(ours, theirs.sort_index(), atol=1e-12)
        settled = chorale.aggregate.BradleyTerry().fit(table)
        if not settled.result_.notes:
            np.testing.assert_allclose(settled.scores_, theirs.sort_index(), atol=1e-6)


def test_noisy_bradley_terry_climbs_higher_than_crowd_kit_and_as_high_as_scipy() -> None:
    """By crowd-kit's own likelihood; its gradient is wrong, so it stops elsewhere."""
    table, strength, skill = comparisons(8, 5, 600, 0)
    ours = chorale.aggregate.NoisyBradleyTerry().fit(table)
    items, coded = np.unique(table[["left", "right", "label"]].to_numpy(), return_inverse=True)
    coded = coded.reshape(-1, 3) + 1
    workers, of_rows = np.unique(table["worker"], return_inverse=True)
    sizes = len(items), len(workers)

    def lost(point: Any) -> float:
        # Crowd-kit subtracts the prior where it should add it: its weight is negative here.
        return float(peers.NoisyBradleyTerry._compute_log_likelihood(point, coded, of_rows, *sizes, -1e-5))

    start = np.r_[np.zeros(1 + sizes[0] + sizes[1]), np.ones(sizes[1])]
    best = minimize(lost, start, method="L-BFGS-B", options={"maxiter": 500, "maxfun": 10**6})
    theirs = quietly(peers.NoisyBradleyTerry().fit, table)
    point = np.concatenate([[0.5], *(np.asarray(each) for each in (theirs.scores_, theirs.biases_, theirs.skills_))])
    reached = lost(np.log(point / (1 - point)))
    assert -ours.result_.log_likelihood == pytest.approx(best.fun, abs=0.02)
    assert -ours.result_.log_likelihood < reached - 1
    assert np.corrcoef(ours.scores_, strength)[0, 1] > 0.9
    assert np.corrcoef(ours.skills_, skill)[0, 1] > 0.7


def test_scores_do_not_depend_on_the_order_of_rows() -> None:
    table, _, _ = comparisons(6, 4, 80, 3)
    for estimator in (chorale.aggregate.BradleyTerry, chorale.aggregate.NoisyBradleyTerry):
        one = estimator().fit_predict(table)
        other = estimator().fit_predict(table[::-1])
        np.testing.assert_allclose(one, other, atol=1e-9)
        of_polars = estimator().fit_predict(pl.DataFrame(table.to_dict("list")))
        assert of_polars.columns == ["label", "score"]
        np.testing.assert_allclose(of_polars["score"], one, atol=1e-12)


def test_items_that_never_won_or_lost() -> None:
    compared = Comparisons.of("abc", ["x", "x", "y"], ["y", "z", "z"], ["x", "x", "y"])
    result = bradley_terry(compared, iterations=200)
    assert result.notes == (NOT_CONNECTED,)
    assert result.scores.argmax() == 0 and result.scores[2] == 0
    assert result.in_line == 1
    circle = Comparisons.of("abc", ["x", "y", "z"], ["y", "z", "x"], ["x", "y", "z"])
    np.testing.assert_allclose(bradley_terry(circle).scores, 1 / 3)
    assert bradley_terry(circle).notes == ()
    np.testing.assert_allclose(noisy_bradley_terry(circle).scores, 0.5, atol=1e-6)
    one = noisy_bradley_terry(Comparisons.of("a", ["x"], ["y"], ["x"]))
    assert one.scores[0] > one.scores[1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("a", ["x"], ["y"], ["z"]), "comparison 1 is between 'x' and 'y', but the preferred item is 'z'"),
        (("a", ["x"], ["x"], ["x"]), "compares 'x' with itself"),
        (("ab", ["x"], ["y"], ["x"]), "the same length"),
        (([None], ["x"], ["y"], ["x"]), "1 row has no worker"),
    ],
)
def test_comparisons_that_mean_nothing_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Comparisons.of(*rows)
    with pytest.raises(ValueError, match="no comparisons"):
        bradley_terry(Comparisons.of([], [], [], []))
