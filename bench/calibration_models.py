"""Simulations of results about models: the alternative annotator test, κx, and estimates."""

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from bench.simulations import COVERAGE, RESAMPLES, Outcome, Simulation, covers
from chorale.metrics import FloatArray, intervals
from chorale.metrics.judgments import Judgments
from chorale.metrics.replacing.alternative import alternative_annotator_test, p_value, split
from chorale.metrics.replacing.auditing import audited_share
from chorale.metrics.replacing.closeness import closeness
from chorale.metrics.replacing.cross import crossed
from chorale.metrics.replacing.estimates import Sample, estimate, unsure_first

_PEOPLE = 4
_EPSILON = 0.1
_LARGE = 60_000


def _judged(items: int, rng: np.random.Generator) -> Judgments:
    """Four people who are right in 70 of 100 items, and a model that is in 80, about three labels."""
    truth = rng.integers(3, size=items)
    right = rng.random((items, _PEOPLE + 1)) < [0.7] * _PEOPLE + [0.8]
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, size=right.shape)) % 3)
    tasks = np.repeat(np.arange(items), _PEOPLE + 1)
    workers = np.tile([*(f"w{person}" for person in range(_PEOPLE)), "model"], items)
    return Judgments.from_columns(tasks, workers, said.reshape(-1))


@cache
def _truths() -> tuple[float, float]:
    """The advantage probability and κx, from so many items that little is left to luck."""
    judgments = _judged(_LARGE, np.random.default_rng(0))
    probability = alternative_annotator_test(judgments, ["model"])[0].advantage_probability
    people, models = split(judgments, ["model"])
    agreement = crossed(people, models["model"], closeness(people, "accuracy")).value
    if probability is None or agreement is None:
        raise ValueError("nothing to compare with")
    return probability, agreement


def _advantage(items: int, rng: np.random.Generator) -> list[Outcome]:
    return [covers(alternative_annotator_test(_judged(items, rng), ["model"])[0].interval, _truths()[0])]


def _agreement(items: int, rng: np.random.Generator) -> list[Outcome]:
    people, models = split(_judged(items, rng), ["model"])
    statistics = crossed(people, models["model"], closeness(people, "accuracy")).statistics()
    if statistics is None:
        return [None]
    return [covers(intervals(*statistics, resamples=RESAMPLES)["value"], _truths()[1])]


def _at_the_edge(items: int, equal: float, rng: np.random.Generator) -> list[Outcome]:
    """The person is closer in exactly ε more of the items: the model should win in 5 of 100 studies."""
    person = (1 - equal + _EPSILON) / 2
    counts = rng.multinomial(items, [1 - equal - person, equal, person])
    return [p_value(int(counts[0]), int(counts[1]), int(counts[2]), _EPSILON) <= 0.05]


def _studied(items: int, kind: str, good: float, rng: np.random.Generator) -> tuple[FloatArray, ...]:
    """Design, truth, the model's labels and its confidence; what is to be estimated is in `_TRUE`."""
    confidence = good + (1 - good) * rng.random(items)
    group = (rng.random(items) < 0.5).astype(np.float64)
    if kind == "slope":
        covariate = rng.normal(size=items)
        truth = 0.5 * covariate + rng.normal(size=items) * (1 + 0.5 * np.abs(covariate))
        model = 0.8 * truth + 3 * (1 - good) * rng.normal(size=items)
        return np.stack([np.ones(items), covariate], axis=1), truth, model, confidence
    truth = (rng.random(items) < 0.2 + 0.2 * group).astype(np.float64)
    model = np.where(rng.random(items) < confidence, truth, 1 - truth)
    columns = [np.ones(items), group] if kind == "difference" else [np.ones(items)]
    return np.stack(columns, axis=1), truth, model, confidence


_TRUE = {"share": 0.3, "difference": 0.2, "slope": 0.5}


def _estimated(kind: str, items: int, asked: int, good: float, unsure: bool, rng: np.random.Generator) -> list[Outcome]:
    design, truth, model, confidence = _studied(items, kind, good, rng)
    if unsure:
        probability = unsure_first(confidence, asked)
        people = np.where(rng.random(items) < probability, truth, np.nan)
        sample = Sample(design, model, people, probability)
    else:
        chosen = rng.permutation(items) < asked
        sample = Sample.at_random(design, model, np.where(chosen, truth, np.nan))
    return [covers(estimate(sample, design.shape[1] - 1).interval, _TRUE[kind])]


def _audited(items: int, audit: float, right: float, rng: np.random.Generator) -> list[Outcome]:
    """A model that is sure of all items and right in some of them, and people who see a random sample."""
    agrees = rng.random(items) < right
    chosen = rng.random(items) < audit
    found = audited_share(agrees[chosen].tolist(), [audit] * int(chosen.sum()), items)
    return [covers(found.interval, float(agrees.mean()))]


def _first(items: int, audit: float, below: float, rng: np.random.Generator) -> list[Outcome]:
    """The share of a label where people see all items that the model is unsure of, and a sample of the others."""
    design, truth, model, confidence = _studied(items, "share", 0.6, rng)
    probability = np.where(confidence < below, 1.0, audit)
    people = np.where(rng.random(items) < probability, truth, np.nan)
    return [covers(estimate(Sample(design, model, people, probability), 0).interval, _TRUE["share"])]


def intervals_of_models() -> Iterator[Simulation]:
    for items, audit in ((300, 0.1), (2_000, 0.05), (2_000, 0.2)):
        for right in (0.7, 0.9, 0.97):
            of = f"{items:,} items, {audit:.0%} audited, model right in {right:.0%}"
            run = partial(_audited, items, audit, right)
            quick = audit == 0.2 and right == 0.9
            yield Simulation("accuracy of a model, from an audit", of, "coverage", run, (0.92, 0.995), quick)
        for below in (0.7, 0.9):
            of = f"{items:,} items; people annotate those below {below:g} and {audit:.0%} of the others"
            run = partial(_first, items, audit, below)
            yield Simulation("prevalence, if a model answers first", of, "coverage", run, (0.9, 0.985), audit == 0.2)
    for items in (50, 200, 1000):
        of = f"{items:,} items, {_PEOPLE} people"
        quick = items == 200
        yield Simulation("advantage probability", of, "coverage", partial(_advantage, items), COVERAGE, quick)
        yield Simulation("κx of a model and people", of, "coverage", partial(_agreement, items), COVERAGE, quick)
    for kind in _TRUE:
        for items, asked in ((500, 50), (2_000, 100), (2_000, 400)):
            for good in (0.5, 0.9):
                for unsure in (False, True) if kind != "slope" else (False,):
                    of = f"{kind}, {items:,} items, {asked} by people, model right in {(1 + good) / 2:.0%}"
                    of += ", unsure items first" if unsure else ""
                    run = partial(_estimated, kind, items, asked, good, unsure)
                    quick = asked == 100 and good == 0.5
                    band = COVERAGE if kind != "slope" else (0.91, 0.985)
                    yield Simulation("estimate with a model's labels", of, "coverage", run, band, quick)


def tests_of_models() -> Iterator[Simulation]:
    for items in (15, 30, 100, 1000):
        for equal in (0.2, 0.6):
            of = f"{items:,} items of a person, {equal:.0%} equally close, ε = {_EPSILON}"
            run = partial(_at_the_edge, items, equal)
            yield Simulation("a model against a person", of, "size", run, (0.0, 0.075), items in (30, 100))
