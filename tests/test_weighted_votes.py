"""M-MSR, KOS and zero-based skill: against crowd-kit, on small and odd data, and by simulation."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import chorale
from chorale.cli import app
from chorale.metrics.aggregation import aggregate
from chorale.metrics.aggregation.kos import kos
from chorale.metrics.aggregation.mmsr import mmsr
from chorale.metrics.judgments import Judgments

peers = pytest.importorskip("crowdkit.aggregation")
METHODS = ("mmsr", "zero-based-skill", "kos")


def crowd(
    tasks: int, workers: int, labels: int, each: int, seed: int, *, ragged: bool = False
) -> tuple[pd.DataFrame, Any]:
    """Workers of accuracy 0.3 to 0.95 who otherwise guess; where ragged, 2 to `each` judge a task."""
    rng = np.random.default_rng(seed)
    truth, accuracy = rng.integers(labels, size=tasks), rng.uniform(0.3, 0.95, workers)
    rows = []
    for task in range(tasks):
        for worker in rng.choice(workers, size=rng.integers(2, each + 1) if ragged else each, replace=False):
            said = truth[task] if rng.random() < accuracy[worker] else rng.integers(labels)
            rows.append((f"t{task:03}", f"w{worker:02}", f"l{said}"))
    return pd.DataFrame(rows, columns=["task", "worker", "label"]).sort_values(["worker", "task"]), truth


def judged(table: pd.DataFrame) -> Judgments:
    return Judgments.from_columns(table["task"], table["worker"], table["label"])


def quietly(call: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return call(*arguments)


@pytest.mark.parametrize(("labels", "each", "ragged"), [(2, 8, False), (3, 8, False), (4, 9, True)])
def test_mmsr_is_crowd_kits(labels: int, each: int, ragged: bool) -> None:
    """To the last digit, where all workers have tasks in common: crowd-kit takes the others for adversaries."""
    for seed in range(2):
        table, _ = crowd(50, 10, labels, each, seed, ragged=ragged)
        theirs = quietly(peers.MMSR().fit, table)
        assert (theirs._n_common_tasks + np.eye(10) > 0).all()
        ours = chorale.aggregate.MMSR().fit(table)
        np.testing.assert_allclose(ours.skills_, theirs.skills_.sort_index(), rtol=1e-9, atol=1e-9)
        scores = quietly(theirs.predict_score, table)
        upright = scores.sort_index().ge(0).all(axis=1)  # a negative sum turns crowd-kit's scores around
        said = quietly(theirs.predict, table).sort_index()
        assert upright.sum() > 10
        assert (ours.labels_[upright] == said[upright]).all()


@pytest.mark.parametrize("ragged", [False, True])
def test_zero_based_skill_is_crowd_kits(ragged: bool) -> None:
    for seed in range(2):
        table, _ = crowd(30, 7, 3, 5, seed, ragged=ragged)
        theirs = quietly(peers.ZeroBasedSkill(n_iter=8, lr_steps_to_reduce=3).fit, table)
        ours = chorale.aggregate.ZeroBasedSkill(n_iter=8, lr_steps_to_reduce=3, ties="first").fit(table)
        np.testing.assert_allclose(ours.skills_, theirs.skills_.sort_index(), atol=1e-12)
        shares = quietly(peers.MajorityVote().fit_predict_proba, table, theirs.skills_).sort_index()
        np.testing.assert_allclose(ours.probas_, shares, atol=1e-12)


@pytest.mark.parametrize("ragged", [False, True])
def test_kos_is_crowd_kits(ragged: bool) -> None:
    for seed in range(4):
        table, _ = crowd(60, 9, 2, 6, seed, ragged=ragged)
        ordered = table.sort_values(["task", "label", "worker"]).reset_index(drop=True)
        theirs = quietly(peers.KOS(n_iter=30, random_state=seed).fit_predict, ordered).sort_index()
        ours = chorale.aggregate.KOS(n_iter=30, random_state=seed).fit(table).labels_
        assert (ours == theirs).all()


def test_kos_says_where_its_messages_never_settle() -> None:
    """Five workers who judged all of four tasks: crowd-kit's labels mean as little, and nothing says so."""
    said = ["xxxxy", "yyyyx", "xxxyy", "yyyxy"]
    judgments = Judgments.from_columns([task for task in "1234" for _ in "abcde"], list("abcde" * 4), "".join(said))
    assert not kos(judgments).converged
    assert kos(judged(crowd(60, 9, 2, 6, 0)[0])).converged


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("rows", "label"),
    [
        ([("t", "a", "x")], "x"),
        ([("t", "a", "x"), ("t", "b", "x"), ("u", "a", "x"), ("u", "b", "x")], "x"),
        ([("t", "a", "y"), ("t", "b", "y"), ("t", "c", "x")], "y"),
        ([("t", "a", "y"), ("u", "a", "x")], "y"),
        ([("t", "a", "y"), ("t", "b", "x")], "x"),
    ],
    ids=["one judgment", "unanimous", "one task", "one worker", "a tie"],
)
def test_small_and_odd_data_have_labels(method: str, rows: list[tuple[str, str, str]], label: str) -> None:
    result = aggregate(Judgments.from_columns(*map(list, zip(*rows, strict=True))), method)
    assert result.labels["t"] == label
    assert np.isfinite(result.probabilities).all()
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1)


def test_mmsr_recognises_workers_who_always_say_the_opposite() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=200)
    right = np.array([0.9, 0.8, 0.85, 0.75, 0.9, 0.8, 0.1])
    said = np.where(rng.random((200, 7)) < right, truth[:, None], 1 - truth[:, None])
    task, worker = np.divmod(np.arange(said.size), 7)
    result = mmsr(Judgments.from_columns(task, worker, said.reshape(-1)))
    np.testing.assert_allclose(result.quality["accuracy"], right, atol=0.12)
    reliability = kos(Judgments.from_columns(task, worker, said.reshape(-1))).quality["reliability"]
    assert (reliability[:6] > 0).all() and reliability[6] < 0


def test_groups_of_workers_without_a_common_task_are_solved_apart() -> None:
    first, _ = crowd(40, 6, 2, 5, 1)
    second, _ = crowd(40, 6, 2, 5, 2)
    both = pd.concat([first, second.assign(task="u" + second["task"], worker="x" + second["worker"])])
    apart, together = mmsr(judged(first)), mmsr(judged(both))
    # The number of tasks bounds accuracies; what is found within these bounds is the same.
    inside = (apart.quality["accuracy"] > 0.15) & (apart.quality["accuracy"] < 0.85)
    assert inside.sum() >= 2
    np.testing.assert_allclose(together.quality["accuracy"][:6][inside], apart.quality["accuracy"][inside], atol=1e-12)


@pytest.mark.slow
def test_probabilities_of_mmsr_are_as_often_right_as_they_say() -> None:
    """Of workers as the method takes them to be, equally often right about all labels, with 333 judgments each."""
    said, right = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        truth, accuracy = rng.integers(3, size=1000), rng.uniform(0.4, 0.8, 15)
        task, worker = np.divmod(np.arange(1000 * 5), 5)
        worker = (worker * 3 + rng.integers(15, size=1000)[task]) % 15
        wrong = (truth[task] + rng.integers(1, 3, size=len(task))) % 3
        label = np.where(rng.random(len(task)) < accuracy[worker], truth[task], wrong)
        result = mmsr(Judgments.from_columns([f"{one:04}" for one in task], worker, label))
        said.append(result.probabilities.max(axis=1))
        right.append(result.leading == truth)
    certainty, hit = np.concatenate(said), np.concatenate(right)
    for low, high in ((0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.0)):
        inside = (certainty >= low) & (certainty < high)
        assert abs(certainty[inside].mean() - hit[inside].mean()) < 0.05


def test_the_command_has_them(tmp_path: Path) -> None:
    table, truth = crowd(60, 9, 2, 6, 0)
    file = tmp_path / "judgments.csv"
    table.to_csv(file, index=False)
    for method in METHODS:
        done = CliRunner().invoke(app, ["aggregate", str(file), "--method", method, "--json"])
        assert done.exit_code == 0, done.output
        labels = json.loads(done.stdout)["labels"]
        assert np.mean([labels[f"t{task:03}"] == f"l{true}" for task, true in enumerate(truth)]) > 0.85
    crowd(20, 9, 3, 6, 0)[0].to_csv(file, index=False)
    done = CliRunner().invoke(app, ["aggregate", str(file), "--method", "kos"])
    assert done.exit_code == 2
    assert "more than two labels, which kos does not support" in done.stderr
    done = CliRunner().invoke(app, ["aggregate", str(file), "--method", "kos", "--tolerance", "1"])
    assert "--tolerance only applies to" in done.stderr
