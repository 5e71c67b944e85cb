"""Intervals cover the truth, agree with drawing items one by one, and depend on nothing but seed and items."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.metrics import (
    Counts,
    FloatArray,
    Metric,
    Statistics,
    compare,
    counts_metric,
    f1_of,
    intervals,
    median_interval,
    ratio,
    row_intervals,
    signature,
)
from chorale.metrics.score_table import shown_interval
from chorale.metrics.signatures import Setting

ACCURACY = Metric(
    lambda sums: {"accuracy": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"accuracy": sums[..., 1]}
)
BY_ITEMS = Metric(lambda rows: {"accuracy": float(rows[:, 0].sum() / rows[:, 1].sum())}, additive=False)
ROWS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=12)


def statistics(rows: Any) -> Statistics:
    array = np.asarray(rows, dtype=np.float64)
    return Statistics(tuple(f"item {number}" for number in range(len(array))), array)


def answers(share: float, count: int, seed: int) -> Statistics:
    right = np.random.default_rng(seed).random(count) < share
    return statistics(np.column_stack([right, np.ones(count)]))


def brute_force(items: Statistics, score: Callable[[FloatArray], float], resamples: int) -> "tuple[float, float]":
    rng = np.random.default_rng(99)
    count = len(items.items)
    scores = [score(items.rows[rng.integers(count, size=count)]) for _ in range(resamples)]
    return float(np.quantile(scores, 0.025)), float(np.quantile(scores, 0.975))


# Scores


@given(rows=ROWS)
def test_scores_follow_from_sums(rows: list[tuple[int, int, int]]) -> None:
    tp, fp, fn = (sum(column) for column in zip(*rows, strict=True))
    counts = Counts(tp, fp, fn)
    found = counts_metric().scores(statistics(rows))
    assert found["precision"] == pytest.approx(counts.precision)
    assert found["recall"] == pytest.approx(counts.recall)
    assert found["f1"] == pytest.approx(counts.f1)
    assert found["f1"] == pytest.approx(float(f1_of(np.array(counts.precision), np.array(counts.recall))))


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3) + Counts(3, 2, 1) == Counts(4, 4, 4)
    assert Counts(2, 2, 6).as_dict() == {"tp": 2, "fp": 2, "fn": 6, "precision": 0.5, "recall": 0.25, "f1": 1 / 3}
    assert Counts(0, 0, 0).as_dict() == {"tp": 0, "fp": 0, "fn": 0, "precision": 0, "recall": 0, "f1": 0}


def test_nothing_over_nothing_is_nothing() -> None:
    assert ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist() == [0.5, 0.0]


def test_rows_and_items_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="expected 2 rows"):
        Statistics(("a", "b"), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="one row per item"):
        Statistics(("a",), np.zeros(1))


# Intervals


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(300):
        interval = intervals(answers(0.7, 120, seed), ACCURACY, resamples=300, seed=seed)["accuracy"]
        covered += interval.low <= 0.7 <= interval.high
    # 95% of 300 is 285; fewer than 270 or more than 297 has a probability of about one in a thousand.
    assert 270 <= covered <= 297


@pytest.mark.parametrize("metric", [ACCURACY, BY_ITEMS], ids=["by sums", "by items"])
def test_intervals_agree_with_drawing_one_by_one(metric: Metric) -> None:
    items = answers(0.8, 150, seed=5)
    low, high = brute_force(items, lambda rows: rows[:, 0].mean(), 4000)
    found = intervals(items, metric, resamples=4000)["accuracy"]
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_intervals_of_f1_agree_with_drawing_one_by_one() -> None:
    rng = np.random.default_rng(1)
    items = statistics(np.column_stack([rng.poisson(3, 80), rng.poisson(1, 80), rng.poisson(2, 80)]))

    def f1(rows: FloatArray) -> float:
        return Counts(*(int(value) for value in rows.sum(axis=0))).f1

    low, high = brute_force(items, f1, 3000)
    found = intervals(items, counts_metric(), resamples=3000)["f1"]
    assert found.as_list() == pytest.approx([low, high], abs=0.008)


@settings(deadline=None, max_examples=30)
@given(rows=ROWS, order=st.randoms(use_true_random=False), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("additive", [True, False])
def test_intervals_depend_on_seed_and_items_alone(
    additive: bool, rows: list[tuple[int, int, int]], order: Any, seed: int
) -> None:
    formula = counts_metric().formula
    metric = Metric(formula) if additive else Metric(lambda each: formula(each.sum(axis=0)), additive=False)
    shuffled = rows.copy()
    order.shuffle(shuffled)
    first = intervals(statistics(rows), metric, resamples=100, seed=seed)
    assert first == intervals(statistics(shuffled), metric, resamples=100, seed=seed)


def test_another_seed_draws_something_else() -> None:
    items = answers(0.7, 997, seed=1)
    found = {intervals(items, BY_ITEMS, resamples=100, seed=seed)["accuracy"] for seed in range(5)}
    assert len(found) > 1


@pytest.mark.parametrize("count", [7, 40])
def test_intervals_of_medians_agree_with_drawing_one_by_one(count: int) -> None:
    rng = np.random.default_rng(count)
    values = rng.random(count).round(3)
    drawn = np.median(values[rng.integers(count, size=(20_000, count))], axis=1)
    found = median_interval(values, resamples=20_000, seed=2)
    spread = np.sort(values)
    for end, share in zip((found.low, found.high), (0.025, 0.975), strict=True):
        # Values are few, so an end may be the neighbour of the other's.
        place = int(np.searchsorted(spread, np.quantile(drawn, share)))
        assert spread[max(place - 2, 0)] <= end <= spread[min(place + 2, count - 1)]
    assert found == median_interval(values[::-1].copy(), resamples=20_000, seed=2)
    with pytest.raises(ValueError, match="no items"):
        median_interval(np.zeros(0))
    assert not median_interval(values[:4]).is_known


@pytest.mark.parametrize("digits", [15, 1], ids=["all different", "many alike"])
def test_intervals_of_rows_agree_with_drawing_one_by_one(digits: int) -> None:
    rows = np.random.default_rng(4).random((150, 1)).round(digits)
    mean = Metric(lambda sums: {"mean": sums[..., 0] / len(rows)})
    low, high = brute_force(statistics(rows), lambda drawn: drawn.mean(), 4000)
    found = row_intervals(rows, mean, resamples=4000)["mean"]
    assert found.as_list() == pytest.approx([low, high], abs=0.004)
    assert found == row_intervals(rows[::-1].copy(), mean, resamples=4000)["mean"]
    assert found != row_intervals(rows, mean, resamples=4000, seed=2)["mean"]
    with pytest.raises(ValueError, match="no items"):
        row_intervals(rows[:0], mean)


def test_of_identical_items_only_fractions_have_an_interval() -> None:
    """Seven of seven tell that the accuracy is high, and nothing tells how far a score may move that is no fraction."""
    assert intervals(statistics([[1, 1]] * 7), ACCURACY)["accuracy"].as_list() == pytest.approx([0.6457, 1], abs=1e-4)
    no_fraction = Metric(ACCURACY.formula)
    found = intervals(statistics([[1, 1]] * 7), no_fraction)["accuracy"]
    assert not found.is_known and found.as_list() is None and shown_interval(found) == "too few to tell"


def test_no_items_raise() -> None:
    with pytest.raises(ValueError, match="no items"):
        intervals(statistics(np.zeros((0, 2))), ACCURACY)
    with pytest.raises(ValueError, match="no items"):
        compare(statistics(np.zeros((0, 2))), statistics(np.zeros((0, 2))), ACCURACY)


# Comparisons


@pytest.mark.parametrize("metric", [ACCURACY, BY_ITEMS], ids=["by sums", "by items"])
def test_a_system_does_not_differ_from_itself(metric: Metric) -> None:
    items = answers(0.7, 60, seed=2)
    found = compare(items, items, metric, resamples=200)["accuracy"]
    assert found.difference == 0
    assert found.p_bootstrap == found.p_randomisation == 1
    assert not found.interval.is_known


@pytest.mark.parametrize("metric", [ACCURACY, BY_ITEMS], ids=["by sums", "by items"])
def test_a_clear_difference_is_clear(metric: Metric) -> None:
    found = compare(answers(0.9, 300, seed=1), answers(0.6, 300, seed=2), metric, resamples=500)["accuracy"]
    assert found.p_randomisation == pytest.approx(1 / 501)
    assert found.p_bootstrap == pytest.approx(1 / 501, rel=0.2)
    assert found.interval.low > 0.2
    assert found.as_dict()["value"] == found.first


def test_luck_is_called_luck_as_often_as_it_should() -> None:
    """Of systems that are alike, one in twenty differs with p ≤ 0.05, and not many more."""
    found = [
        compare(answers(0.7, 100, 2 * seed), answers(0.7, 100, 2 * seed + 1), ACCURACY, resamples=300, seed=seed)
        for seed in range(200)
    ]
    for p in ("p_bootstrap", "p_randomisation"):
        assert sum(getattr(each["accuracy"], p) <= 0.05 for each in found) <= 22


def test_exchanging_the_systems_turns_the_sign() -> None:
    first, second = answers(0.75, 150, seed=1), answers(0.65, 150, seed=2)
    there = compare(first, second, ACCURACY, resamples=4000)["accuracy"]
    back = compare(second, first, ACCURACY, resamples=4000)["accuracy"]
    assert there.difference == -back.difference
    assert there.p_bootstrap == pytest.approx(back.p_bootstrap, abs=0.03)
    assert there.p_randomisation == pytest.approx(back.p_randomisation, abs=0.03)
    assert there.interval.low == pytest.approx(-back.interval.high, abs=0.015)


def test_both_ways_of_drawing_give_the_same_test() -> None:
    first, second = answers(0.75, 150, seed=3), answers(0.66, 150, seed=4)
    by_sums = compare(first, second, ACCURACY, resamples=4000)["accuracy"]
    by_items = compare(first, second, BY_ITEMS, resamples=4000)["accuracy"]
    assert by_sums.p_bootstrap == pytest.approx(by_items.p_bootstrap, abs=0.03)
    assert by_sums.p_randomisation == pytest.approx(by_items.p_randomisation, abs=0.03)
    assert by_sums.interval.as_list() == pytest.approx(by_items.interval.as_list(), abs=0.015)


@settings(deadline=None, max_examples=20)
@given(rows=st.lists(st.tuples(*[st.integers(0, 2)] * 6), min_size=1, max_size=10), order=st.randoms())
def test_comparisons_do_not_depend_on_the_order_of_items(rows: list[tuple[int, ...]], order: Any) -> None:
    array = np.asarray(rows, dtype=np.float64)
    places = list(range(len(rows)))
    order.shuffle(places)
    names = tuple(f"item {place}" for place in range(len(rows)))
    moved = tuple(names[place] for place in places)
    first, second = Statistics(names, array[:, :3]), Statistics(names, array[:, 3:])
    straight = compare(first, second, counts_metric(), resamples=100)
    shuffled = compare(Statistics(moved, array[places, :3]), second, counts_metric(), resamples=100)
    assert straight == shuffled


def test_randomisation_agrees_with_all_exchanges() -> None:
    """Six items have 64 exchanges: few enough to make them all."""
    a = np.array([1, 1, 1, 0, 1, 1.0])
    b = np.array([0, 0, 1, 0, 0, 1.0])
    observed = abs((a - b).sum())
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    exact = np.mean(np.abs(signs @ (a - b)) >= observed)
    ones = np.ones(6)
    found = compare(
        statistics(np.column_stack([a, ones])), statistics(np.column_stack([b, ones])), ACCURACY, resamples=20_000
    )["accuracy"]
    assert found.p_randomisation == pytest.approx(exact, abs=0.015)


def test_systems_on_different_items_are_not_compared() -> None:
    with pytest.raises(ValueError, match="must be scored on the same items"):
        compare(answers(0.7, 5, 1), answers(0.7, 6, 1), ACCURACY)


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    intervals(answers(0.5, 20, 1), BY_ITEMS, resamples=100, progress=lambda *place: told.append(place))
    assert told[-1] == (100, 100)


# Signatures


def test_a_signature_names_what_matters() -> None:
    line = signature("f1", {"level": 0.5, "ci": True, "left out": None, "name": "a|b"}, {"file": "0123abcd"})
    assert line.startswith("f1|level:0.5|ci:yes|name:a%7Cb|file:0123abcd|version:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"sep": "|"}, {"sep": "/"}),
        ({"sep": "|"}, {"sep": "%7C"}),
        ({"iou": 0.5}, {"iou": 0.5000001}),
        ({"options": ("a,b", "c")}, {"options": ("a", "b", "c")}),
        ({"sep": "\n"}, {"sep": " "}),
        ({"a": "b|c:d"}, {"a": "b", "c": "d"}),
    ],
)
def test_settings_that_differ_have_signatures_that_differ(one: dict[str, Setting], other: dict[str, Setting]) -> None:
    lines = [signature("f1", each, {"file": "0123abcd"}) for each in (one, other)]
    assert lines[0] != lines[1]
    assert not any("\n" in line for line in lines)


def test_a_name_in_a_signature_can_not_pass_for_two() -> None:
    assert signature("f1", {}, {"a:1|b": "2"}) != signature("f1", {}, {"a": "1", "b": "2"})
