"""How sure is the answer to one task? Intervals over the task's own judgments."""

import csv
import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.metrics import FloatArray
from chorale.metrics.aggregation import aggregate
from chorale.metrics.aggregation.methods import METHODS, MethodOptions
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.task_evidence import task_evidence
from chorale.metrics.judgments import Judgments
from chorale.metrics.sampling import Narrowness

LABELS = ("x", "y", "z")


def crowd(tasks: int = 40, seed: int = 0) -> list[tuple[str, str, str]]:
    """Twelve workers of different quality, five or six to a task, and a task with one judgment."""
    rng = np.random.default_rng(seed)
    rows = [("alone", "w0", "x")]
    for task in range(tasks):
        true = int(rng.integers(3))
        for worker in sorted(rng.permutation(12)[: 5 + task % 2].tolist()):
            said = true if rng.random() < 0.4 + worker / 24 else int(rng.integers(3))
            rows.append((f"t{task:02}", f"w{worker}", LABELS[said]))
    return rows


def likelihood(result: Aggregation, method: str, task: int, worker: int, said: int) -> FloatArray:
    """Of what a worker said, for every true label, as the method's model has it."""
    wrong = len(LABELS) - 1
    if method == "dawid-skene":
        of = result.details
        return np.asarray(of["errors"][(of["error_workers"] == worker) & (of["error_labels"] == said)][0])
    if method == "mace":
        competence, habit = result.quality["competence"][worker], result.details["habits"][worker, said]
        return np.asarray(competence * (np.arange(3) == said) + (1 - competence) * habit)
    if method == "one-coin":
        right = float(result.quality["skill"][worker])
    else:
        right = float(1 / (1 + np.exp(-result.quality["ability"][worker] * np.exp(result.details["ease"][task]))))
    return np.where(np.arange(3) == said, right, (1 - right) / wrong)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace", "glad"])
def test_draws_change_the_answer_as_the_model_has_it(method: str) -> None:
    """Of drawn judgments, compared with the product of their likelihoods and the labels' probabilities."""
    judgments = Judgments.from_columns(*zip(*crowd(), strict=True))
    result = aggregate(judgments, method)
    evidence = task_evidence(judgments, method, result)
    assert evidence is not None
    priors = result.details.get("priors", np.ones(3))
    for task in (1, 7, 20):
        places = np.flatnonzero(judgments.tasks == task)
        places = places[np.argsort(judgments.workers[places])]
        size = len(places)
        drawn = np.array([np.ones(size), [2, 0] + [1] * (size - 2), [0] * (size - 1) + [size]])
        for times, got in zip(drawn, evidence._drawn(np.array([task]), size, drawn)[0], strict=True):
            each = [likelihood(result, method, task, judgments.workers[at], judgments.labels[at]) for at in places]
            expected = priors * np.prod([one**count for one, count in zip(each, times, strict=True)], axis=0)
            answer = int(result.leading[task])
            # MACE's workers are described by their posterior, not by one competence.
            assert got == pytest.approx(expected[answer] / expected.sum(), abs=0.06 if method == "mace" else 1e-9)


@pytest.mark.parametrize("method", ["majority", "confidence", "wawa"])
def test_shares_are_those_of_what_was_drawn(method: str) -> None:
    judgments = Judgments.from_columns(*zip(*crowd(), strict=True))
    trust = np.linspace(0.1, 1.0, len(judgments)) if method == "confidence" else None
    result = aggregate(judgments, method, MethodOptions(trust=trust))
    evidence = task_evidence(judgments, method, result, trust=trust)
    assert evidence is not None
    places = np.flatnonzero(judgments.tasks == 3)
    places = places[np.argsort(judgments.workers[places])]
    weights = {"majority": np.ones(len(places)), "confidence": trust if trust is None else trust[places]}.get(method)
    if weights is None:
        weights = result.quality["skill"][judgments.workers[places]]
    times = np.arange(len(places), dtype=float)[::-1]
    given = times * weights
    expected = given[judgments.labels[places] == result.leading[3]].sum() / given.sum()
    assert evidence._drawn(np.array([3]), len(places), times[None])[0, 0] == pytest.approx(expected)


def test_a_majority_of_four_in_five_is_a_binomial() -> None:
    judgments = Judgments.from_columns(["t"] * 5, list("abcde"), ["x"] * 4 + ["y"])
    evidence = task_evidence(judgments, "majority", aggregate(judgments, "majority"))
    assert evidence is not None
    low, high = evidence.intervals([0], resamples=20_000)[:, 0]
    at_most = np.cumsum([comb(5, k) * 0.8**k * 0.2 ** (5 - k) for k in range(6)])
    # The bootstrap of five is too narrow, and its percentiles are wider to make up for that.
    assert low == np.searchsorted(at_most, Narrowness.of_units(5).tail) / 5
    assert high == 1.0


def test_nobody_with_any_weight_leaves_the_answer_as_it_was() -> None:
    judgments = Judgments.from_columns(["t"] * 2, ["a", "b"], ["x", "y"])
    trust = np.array([1.0, 0.0])
    result = aggregate(judgments, "confidence", MethodOptions(trust=trust))
    evidence = task_evidence(judgments, "confidence", result, trust=trust)
    assert evidence is not None
    assert evidence._drawn(np.array([0]), 2, np.array([[0.0, 2.0]]))[0, 0] == 1
    assert np.isnan(evidence.intervals([0])).all()


def scored(rows: list[tuple[str, str, str]], folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "judgments.csv"
    with file.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target).writerows([("task", "worker", "label"), *rows])
    result = CliRunner().invoke(app, ["aggregate", str(file), "--ci", "--json", "--resamples", "200", *options])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_every_task_has_an_interval_whatever_the_order_of_rows(method: str, tmp_path: Path) -> None:
    rows = crowd(12)
    found = scored(rows, tmp_path, "--method", method)
    around = found["ci"]["certainty"]
    assert list(around) == list(found["labels"])
    assert around["alone"] is None
    known = {task: ends for task, ends in around.items() if ends is not None}
    for task, (low, high) in known.items():
        assert 0 <= low <= high <= 1
        assert low <= found["probabilities"][task][found["labels"][task]] + 1e-9
    assert any(high - low > 0.05 for low, high in known.values())
    assert scored(rows[::-1], tmp_path, "--method", method)["ci"] == found["ci"]
    assert scored(rows, tmp_path, "--method", method, "--seed", "2")["ci"]["certainty"] != around


def test_where_all_would_take_hours_the_least_certain_have_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorale.metrics.scoring.aggregation_intervals._MOST_DRAWN", 1000)
    found = scored(crowd(), tmp_path, "--method", "majority")
    assert len(found["ci"]["certainty"]) == 10
    assert any("Only the 10 least certain" in note for note in found["notes"])


def test_people_see_the_least_certain_tasks(tmp_path: Path) -> None:
    scored(crowd(), tmp_path)
    shown = CliRunner().invoke(app, ["aggregate", str(tmp_path / "judgments.csv"), "--method", "wawa", "--ci"])
    assert shown.stdout.count("certainty of t") == 10
    assert "its judgments" in shown.stdout
    sets = CliRunner().invoke(app, ["aggregate", str(tmp_path / "judgments.csv"), "--sep", ";", "--ci"])
    assert "certainty of" not in sets.stdout and "sets of options" in sets.stderr
