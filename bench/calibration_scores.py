"""Simulations of scores, of two systems on the same items, and of arms with different items."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.simulations import COVERAGE, RESAMPLES, SIZE, Outcome, Simulation, any_seed, covers, rejects
from chorale.metrics import (
    Clusters,
    FloatArray,
    Metric,
    Statistics,
    compare,
    compare_apart,
    counts_metric,
    intervals,
    median_interval,
    ratio,
)
from chorale.metrics.adjustment import holm

ACCURACY = Metric(
    lambda sums: {"accuracy": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"accuracy": sums[..., 1]}
)
MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])})
MEAN_OF_ROWS = Metric(lambda rows: {"mean": float(rows[:, 0].mean())}, additive=False)
_PER_WRITER = 20


def named(rows: FloatArray) -> Statistics:
    return Statistics(tuple(f"i{number:06}" for number in range(len(rows))), rows)


def answers(right: FloatArray | NDArray[np.bool_]) -> Statistics:
    return named(np.column_stack([right, np.ones(len(right))]).astype(np.float64))


def by_writer(writers: int, before: str = "w") -> Clusters:
    """Twenty items of each writer."""
    items = range(writers * _PER_WRITER)
    return Clusters(("writer",), ({f"i{item:06}": f"{before}{item // _PER_WRITER:04}" for item in items},))


def written(writers: int, rng: np.random.Generator) -> Statistics:
    """Right answers to items whose writers differ much: on average half are right."""
    easy = rng.beta(2, 2, size=writers)
    return answers(rng.random(writers * _PER_WRITER) < np.repeat(easy, _PER_WRITER))


def _accuracy(items: int, share: float, rng: np.random.Generator) -> list[Outcome]:
    found = intervals(answers(rng.random(items) < share), ACCURACY, resamples=RESAMPLES, seed=any_seed(rng))
    return [covers(found["accuracy"], share)]


def _f1(items: int, rng: np.random.Generator) -> list[Outcome]:
    """Of 1.5 gold arguments an item 70% are found, and 0.6 that are none: F1 is 2.1 / 3.15."""
    gold = rng.poisson(1.5, items)
    tp = rng.binomial(gold, 0.7)
    rows = named(np.column_stack([tp, rng.poisson(0.6, items), gold - tp]).astype(np.float64))
    found = intervals(rows, counts_metric(), resamples=RESAMPLES, seed=any_seed(rng))
    return [covers(found["f1"], 2 * 1.05 / (2 * 1.05 + 0.6 + 0.45))]


def _mean(items: int, metric: Metric, rng: np.random.Generator) -> list[Outcome]:
    rows = answers(rng.lognormal(0, 0.5, size=items))
    return [covers(intervals(rows, metric, resamples=RESAMPLES, seed=any_seed(rng))["mean"], float(np.exp(0.125)))]


def _median(items: int, rng: np.random.Generator) -> list[Outcome]:
    return [covers(median_interval(rng.lognormal(0, 1, size=items)), 1.0)]


def _clustered(writers: int, rng: np.random.Generator) -> list[Outcome]:
    found = intervals(
        written(writers, rng), ACCURACY, clusters=by_writer(writers), resamples=RESAMPLES, seed=any_seed(rng)
    )
    return [covers(found["accuracy"], 0.5)]


def _two_way(writers: int, passages: int, rng: np.random.Generator) -> list[Outcome]:
    """Every writer on every passage; both matter."""
    shift = 0.6 * rng.normal(size=writers)[:, None] + 0.6 * rng.normal(size=passages)
    values = (shift + rng.normal(size=shift.shape)).reshape(-1)
    items = [f"i{number:06}" for number in range(len(values))]
    of_writer = {item: f"w{number // passages}" for number, item in enumerate(items)}
    of_passage = {item: f"p{number % passages}" for number, item in enumerate(items)}
    clusters = Clusters(("writer", "passage"), (of_writer, of_passage))
    return [
        covers(
            intervals(answers(values), MEAN, clusters=clusters, resamples=RESAMPLES, seed=any_seed(rng))["mean"], 0.0
        )
    ]


def intervals_of_scores() -> Iterator[Simulation]:
    for items in (1, 3, 10, 30, 100, 1000):
        for share in (0.5, 0.9, 0.98):
            of = f"{items:,} {'item' if items == 1 else 'items'}, {share:.0%} right"
            # Counts are whole: no interval of a share covers equally often for all shares.
            band = (0.88, 1.0) if items < 1000 else COVERAGE
            yield Simulation("accuracy", of, "coverage", partial(_accuracy, items, share), band, items <= 10)
    for items in (5, 10, 30, 100, 1000):
        yield Simulation("F1", f"{items:,} items", "coverage", partial(_f1, items), (0.92, 0.99), items == 30)
        what, band = "mean of skewed values", (0.90, 0.985)
        yield Simulation(what, f"{items:,} items", "coverage", partial(_mean, items, MEAN), band, items == 10)
        yield Simulation("median", f"{items:,} values", "coverage", partial(_median, items), (0.91, 0.995), items == 10)
    run = partial(_mean, 50, MEAN_OF_ROWS)
    yield Simulation("mean, from rows instead of sums", "50 items", "coverage", run, (0.91, 0.985))
    for writers in (6, 10, 25, 100):
        of = f"{writers} writers, 20 items each"
        yield Simulation(
            "accuracy, --cluster", of, "coverage", partial(_clustered, writers), (0.92, 0.99), writers == 10
        )
    for writers, passages in ((10, 10), (25, 40)):
        of, run = f"{writers} writers × {passages} passages", partial(_two_way, writers, passages)
        yield Simulation("mean, --cluster twice", of, "coverage", run, (0.92, 0.995))


def _paired(items: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Two systems that are as good, and mostly right on the same items."""
    hard = rng.random(items)
    ours, theirs = (answers(rng.random(items) < 0.4 + 0.6 * hard) for _ in range(2))
    found = compare(ours, theirs, ACCURACY, resamples=RESAMPLES, seed=any_seed(rng))["accuracy"]
    return [(found.p_bootstrap, found.p_randomisation)]


def _paired_by_writer(writers: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    ours, theirs = (written(writers, rng) for _ in range(2))
    found = compare(ours, theirs, ACCURACY, clusters=by_writer(writers), resamples=RESAMPLES, seed=any_seed(rng))[
        "accuracy"
    ]
    return [(found.p_bootstrap, found.p_randomisation)]


def _several(rng: np.random.Generator) -> list[Outcome]:
    """Whether any of ten comparisons is below 0.05 after Holm's adjustment."""
    values = [_paired(60, rng)[0][1] for _ in range(10)]
    return [min(holm(values)) <= 0.05]


def _only(place: int, draw: partial[list[tuple[float, float]]], rng: np.random.Generator) -> list[Outcome]:
    return [rejects(each[place]) for each in draw(rng)]


def tests_of_systems() -> Iterator[Simulation]:
    cases = [(f"{items:,} items", partial(_paired, items), items == 100) for items in (10, 30, 100, 1000)]
    cases += [
        (f"{writers} writers, 20 items each, --cluster", partial(_paired_by_writer, writers), writers == 10)
        for writers in (6, 10, 25)
    ]
    for of, draw, is_quick in cases:
        band = (0.0, 0.07) if "10 items" in of or "6 writers" in of else SIZE
        yield Simulation("p bootstrap, paired", of, "size", partial(_only, 0, draw), (0.0, 0.08), is_quick)
        yield Simulation("p randomisation", of, "size", partial(_only, 1, draw), band, is_quick)
    yield Simulation("any of ten p-values of randomisation, Holm", "60 items", "size", _several, (0.0, 0.06))


def _arms(writers: tuple[int, int], rng: np.random.Generator) -> tuple[Outcome, Outcome, Outcome]:
    """Arms that do not differ; writers do, much."""
    sides = [(written(count, rng), ACCURACY) for count in writers]
    clusters = by_writer(writers[0], "a"), by_writer(writers[1], "b")
    found = compare_apart(sides[0], sides[1], clusters=clusters, resamples=RESAMPLES, seed=any_seed(rng))["accuracy"]
    return rejects(found.p_bootstrap), rejects(found.p_permutation), covers(found.interval, 0.0)


def _of_arms(place: int, writers: tuple[int, int], rng: np.random.Generator) -> list[Outcome]:
    return [_arms(writers, rng)[place]]


def tests_of_arms() -> Iterator[Simulation]:
    for writers in ((4, 4), (7, 8), (12, 13), (10, 40), (50, 50)):
        of, is_quick = f"{writers[0]} and {writers[1]} writers, 20 items each", writers == (7, 8)
        band = (0.0, 0.07) if writers == (4, 4) else SIZE
        yield Simulation("p bootstrap, arms", of, "size", partial(_of_arms, 0, writers), (0.0, 0.08), is_quick)
        yield Simulation("p permutation, arms", of, "size", partial(_of_arms, 1, writers), band, is_quick)
        run = partial(_of_arms, 2, writers)
        yield Simulation("difference between arms", of, "coverage", run, (0.92, 0.99), is_quick)
