"""What the report says of a trial's arms, computed once more from the exported files alone."""

import csv
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from chorale.cli import app

DRAWS = 20_000
Sums = Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]


@dataclass(frozen=True)
class Trial:
    settings: dict[str, Any]
    report: dict[str, Any]
    questions: list[dict[str, Any]]
    answers: list[dict[str, Any]]
    ledger: list[dict[str, str]]
    arms: dict[str, str]

    @property
    def names(self) -> list[str]:
        return list(self.settings["arms"]["names"])

    def last_stage(self, arm: str) -> str:
        return str([stage["name"] for stage in self.settings["stage"] if stage.get("arms") == [arm]][-1])


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The template, simulated with enough people that every arm has results."""
    place = tmp_path_factory.mktemp("trial")
    study = place / "study"
    run("new", place / "template", "--template", "mcq-trial")
    run("rehearse", place / "template", "--seeds", 1, "--workers", 200, "--processes", 1, "--keep", study)
    report = json.loads(run("report", study, "--arms", "--json", "--out", place / "report.html"))
    files = {name: place / name for name in ("jsonl", "mcq-validation", "ledger", "arms")}
    for name, path in files.items():
        run("export", study, "--format", name, "--out", path)
    answers, questions = (
        [json.loads(line) for line in files[name].read_text("utf-8").splitlines()]
        for name in ("jsonl", "mcq-validation")
    )
    ledger, arms = (list(csv.DictReader(files[name].read_text("utf-8").splitlines())) for name in ("ledger", "arms"))
    settings = tomllib.loads((study / "study.toml").read_text("utf-8"))
    return Trial(settings, report, questions, answers, ledger, {row["worker"]: row["arm"] for row in arms})


def votes_of(question: Mapping[str, Any]) -> list[str]:
    return ["invalid" if one["unanswerable"] else one["worker_answer"] for one in question["validation_data"]]


def majority(question: Mapping[str, Any]) -> str | None:
    """The answer of more than half of the validators and the writer; None if the question is discarded."""
    votes = [*votes_of(question), question["gold_answer"]]
    [(most, times), *_] = Counter(votes).most_common()
    return most if 2 * times > len(votes) and most != "invalid" else None


def sums_by_arm(trial: Trial, outcome: str) -> Sums:
    """For every arm a row for each worker: the sum of the outcome, and how often it was observed."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def add(worker: str, value: float) -> None:
        sums[worker][0] += value
        sums[worker][1] += 1

    if outcome == "retained":
        worked = {(row["worker"], row["stage"]) for row in trial.answers}
        for worker, arm in trial.arms.items():
            add(worker, (worker, trial.last_stage(arm)) in worked)
    for question in trial.questions if outcome != "retained" else ():
        most, votes = majority(question), votes_of(question)
        if outcome == "kept":
            add(question["worker_id"], most is not None)
        elif most is not None:
            add(question["worker_id"], votes.count(most) / len(votes))
    return {arm: np.array([sums[one] for one in sums if trial.arms[one] == arm]).reshape(-1, 2) for arm in trial.names}


def mean(rows: Any) -> Any:
    """Sum over count; `rows` may have several resamples."""
    total = rows.sum(axis=-2)
    return total[..., 0] / total[..., 1]


@pytest.mark.parametrize("outcome", ["agreement", "kept", "retained"])
def test_means_intervals_and_p_values_of_arms(trial: Trial, outcome: str) -> None:
    found, sides = trial.report["analysis"]["outcomes"][outcome], sums_by_arm(trial, outcome)
    rng = np.random.default_rng(5)
    for arm, rows in sides.items():
        assert found["units"][arm] == len(rows) > 4
        assert found["means"][arm] == pytest.approx(mean(rows))
    first = sides[trial.names[0]]
    for test in found["tests"]:
        rows = sides[test["arm"]]
        observed = mean(rows) - mean(first)
        assert (test["against"], test["difference"]) == (trial.names[0], pytest.approx(observed))
        everybody = np.vstack([rows, first])
        dealt = everybody[rng.random((DRAWS, len(everybody))).argsort(axis=1)]
        differences = mean(dealt[:, : len(rows)]) - mean(dealt[:, len(rows) :])
        p = (1 + np.sum(np.abs(differences) >= abs(observed) - 1e-12)) / (1 + DRAWS)
        assert test["p"] == pytest.approx(p, abs=0.002 + 4 * np.sqrt(p * (1 - p) / 1000))
        ours, theirs = (mean(side[rng.integers(0, len(side), (DRAWS, len(side)))]) for side in (rows, first))
        low, high = np.percentile(ours - theirs, [2.5, 97.5])
        if test["ci"] is not None:  # wider than the percentiles of the bootstrap by a correction for few people
            assert test["ci"] == [
                pytest.approx(low, abs=0.3 * (high - low)),
                pytest.approx(high, abs=0.3 * (high - low)),
            ]
            assert test["ci"][1] - test["ci"][0] > 0.9 * (high - low)
    raw = sorted((test["p"], test["p_holm"]) for test in found["tests"])
    steps = [min(1, (len(raw) - place) * p) for place, (p, _) in enumerate(raw)]
    assert [adjusted for _, adjusted in raw] == pytest.approx(list(np.maximum.accumulate(steps)))


def test_costs_and_results_of_arms(trial: Trial) -> None:
    """An arm pays for its stages, also for the grading of its work. In stages of two arms, each pays its people."""
    stages = {stage["name"]: stage for stage in trial.settings["stage"]}
    cost, training, shared, earned_there = (Counter[str]() for _ in range(4))
    for row in trial.ledger:
        stage, arm, amount = stages[row["stage"]], trial.arms.get(row["worker"], ""), int(row["amount"])
        if row["stage"] in ("validators", "validation"):
            shared[row["stage"]] += amount
            earned_there[arm] += amount
            continue
        arms = stage.get("arms") or stages[stage["items"]["from"]]["arms"]
        [payer] = arms if len(arms) == 1 else [arm]
        cost[payer] += amount
        training[payer] += amount if row["stage"] != trial.last_stage(payer) else 0
    kept = Counter(question["protocol"] for question in trial.questions if majority(question))
    for arm, found in trial.report["costs"]["arms"].items():
        assert (found["cost"], found["training"], found["results"]) == (cost[arm], training[arm], kept[arm])
        assert found["per_result"] == pytest.approx(cost[arm] / kept[arm])
        assert found["per_result_without_training"] == pytest.approx((cost[arm] - training[arm]) / kept[arm])
    assert set(trial.report["costs"]["arms"]) == set(cost) == set(trial.names)
    assert trial.report["costs"]["shared"]["stages"] == shared
    assert trial.report["costs"]["shared"]["by_arm"] == {arm: earned_there[arm] for arm in trial.names}
    assert trial.report["costs"]["spent"] == sum(cost.values()) + sum(shared.values())
