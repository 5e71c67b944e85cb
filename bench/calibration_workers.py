"""Simulations of worker quality, and of the results by arm in the console."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.simulations import COVERAGE, FEWEST, Outcome, Simulation, covers
from chorale.metrics import Interval
from chorale.metrics.aggregation.methods import aggregate
from chorale.metrics.aggregation.worker_evidence import gold_evidence, worker_evidence
from chorale.metrics.judgments import Judgments
from chorale.monitor.arm_outcomes import IntervalEstimate, mean_estimate, share_of_people


def _crowd(tasks: int, workers: int, each: int, rng: np.random.Generator) -> tuple[Judgments, list[str], list[float]]:
    """Judgments by workers who are right 60 to 95% of the time, the true labels, and how often each is right."""
    truth, accuracy = rng.integers(2, size=tasks), rng.uniform(0.6, 0.95, size=workers)
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([rng.permutation(workers)[:each] for _ in range(tasks)])
    label = np.where(rng.random(len(task)) < accuracy[worker], truth[task], 1 - truth[task])
    judgments = Judgments.from_columns(
        [f"t{one:05}" for one in task], [f"w{one:03}" for one in worker], map(str, label)
    )
    return judgments, list(map(str, truth)), accuracy.tolist()


def _knowing_crowd(tasks: int, workers: int, each: int, rng: np.random.Generator) -> tuple[Judgments, list[float]]:
    """Judgments by workers who know 30 to 95% of the answers and otherwise say anything; and how much each knows."""
    truth, competence = rng.integers(2, size=tasks), rng.uniform(0.3, 0.95, size=workers)
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([rng.permutation(workers)[:each] for _ in range(tasks)])
    label = np.where(rng.random(len(task)) < competence[worker], truth[task], rng.integers(2, size=len(task)))
    names = [f"t{one:05}" for one in task], [f"w{one:03}" for one in worker]
    return Judgments.from_columns(*names, map(str, label)), competence.tolist()


def _of_method(method: str, tasks: int, workers: int, each: int, rng: np.random.Generator) -> Iterator[Outcome]:
    if method == "mace":
        judgments, accuracy = _knowing_crowd(tasks, workers, each, rng)
    else:
        judgments, _, accuracy = _crowd(tasks, workers, each, rng)
    result = aggregate(judgments, method)
    evidence = worker_evidence(judgments, method, result)
    if evidence is None:
        raise ValueError(f"{method} has no evidence of workers")
    values = next(iter(result.quality.values()))
    for place, name in enumerate(result.workers):
        yield covers(evidence.interval(place, float(values[place]), resamples=200), accuracy[int(name[1:])])


def _on_gold(tasks: int, rng: np.random.Generator) -> Iterator[Outcome]:
    judgments, truth, accuracy = _crowd(tasks, 10, 5, rng)
    evidence = gold_evidence(judgments, {f"t{place:05}": label for place, label in enumerate(truth)}, 0.0)
    for place, name in enumerate(judgments.worker_names):
        rows = evidence.rows(place)
        if len(rows):
            value = float(rows[:, 0].mean())
            yield covers(evidence.interval(place, value, resamples=200), accuracy[int(name[1:])])


def intervals_of_workers() -> Iterator[Simulation]:
    for gold in (4, 10, 40, 200):
        of = f"about {gold // 2} gold answers each"
        yield Simulation(
            "gold accuracy of a worker", of, "coverage", partial(_on_gold, gold), (0.90, 0.995), gold == 10
        )
    for method in ("dawid-skene", "one-coin", "mace"):
        for tasks, workers, each in ((100, 10, 5), (200, 40, 5), (1000, 40, 3)):
            of = f"{tasks:,} tasks × {each} judgments, {workers} workers"
            run, is_quick = partial(_of_method, method, tasks, workers, each), tasks == 100 and method != "mace"
            most = FEWEST if method == "mace" else None
            yield Simulation(f"worker quality, {method}", of, "coverage", run, (0.91, 0.985), is_quick, most)


def _held(estimate: IntervalEstimate | None, truth: float) -> Outcome:
    return None if estimate is None else covers(Interval(estimate.low, estimate.high), truth)


def _gold_of_arm(people: int, rng: np.random.Generator) -> list[Outcome]:
    right = rng.binomial(10, rng.beta(8, 2, size=people))
    return [_held(share_of_people(right.tolist(), [10] * people), 0.8)]


def _grade_of_arm(people: int, rng: np.random.Generator) -> list[Outcome]:
    return [_held(mean_estimate(rng.beta(6, 3, size=people).tolist()), 6 / 9)]


def intervals_of_arms() -> Iterator[Simulation]:
    for people in (5, 10, 40):
        band, of = (0.91, 0.99), f"{people} people"
        yield Simulation(
            "gold accuracy of an arm",
            f"{of}, 10 gold answers each",
            "coverage",
            partial(_gold_of_arm, people),
            band,
            True,
        )
        yield Simulation("mean grade of an arm", of, "coverage", partial(_grade_of_arm, people), COVERAGE, True)
