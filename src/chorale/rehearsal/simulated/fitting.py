"""Simulated workers who err as real ones did, by Dawid and Skene's model, on items as hard: fitted to judgments."""

from dataclasses import replace
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dawid_skene import dawid_skene
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.judgments import Judgments
from chorale.rehearsal.simulated.models import WorkerModel, stretch

Codes = NDArray[np.int64]

_STEPS = np.arange(0.0, 3.01, 0.25)
"""The spreads that are tried."""
_WORTH = 2.0
"""How much more likely, as a logarithm, a spread must make the judgments than none: below this it may be chance."""
_PLACES = 15
"""Where the normal distribution is looked at."""
_MOST_TASKS = 20_000
_NEVER = 1e-3
CAUTION = 5.0
"""How many judgments of the whole crowd are added to everybody's own: three of somebody's own are little evidence."""


def fit_workers(judgments: Judgments, like: WorkerModel) -> list[WorkerModel]:
    """A model for every worker: `like` in everything but how often they are right, and what they mistake for what.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2, 2], ["a", "b", "c"] * 2, ["x", "x", "y", "y", "y", "y"])
    >>> [model.accuracy > 0.8 for model in fit_workers(votes, WorkerModel("fitted"))]
    [True, True, False]
    """
    aggregation = dawid_skene(judgments)
    given = aggregation.quality["judgments"]
    mean = float(np.average(aggregation.quality["accuracy"], weights=given))
    accuracies = (aggregation.quality["accuracy"] * given + mean * CAUTION) / (given + CAUTION)
    confusions = [{} for _ in aggregation.workers] if aggregation.multiple else _confusions(aggregation, given)
    return [
        replace(like, accuracy=float(accuracy), confusion=confusion, share=float(count))
        for accuracy, confusion, count in zip(accuracies, confusions, given, strict=True)
    ]


def _confusions(aggregation: Aggregation, given: FloatArray) -> list[dict[str, dict[str, float]]]:
    labels = aggregation.options
    errors = np.zeros((len(aggregation.workers), len(labels), len(labels)))
    errors[aggregation.details["error_workers"], aggregation.details["error_labels"]] = aggregation.details["errors"]
    crowd = np.average(errors, axis=0, weights=given)
    mixed = (errors * given[:, None, None] + crowd * CAUTION) / (given + CAUTION)[:, None, None]
    return [
        {
            true: {given_label: float(worker_errors[row, column]) for row, given_label in enumerate(labels)}
            for column, true in enumerate(labels)
        }
        for worker_errors in mixed
    ]


def fit_spread(judgments: Judgments, models: list[WorkerModel]) -> float:
    """How much the tasks of real judgments differ in how hard they are, given the models fitted to their workers.

    The spread that makes the judgments most likely, whatever the truth of each task is; 0 where that does not differ
    from chance, and where labels are sets.
    """
    if judgments.sets is not None or len(judgments.options) < 2:
        return 0.0
    pairs = _Pairs.of(judgments, models)
    likely = [pairs.likelihood(float(spread)) for spread in _STEPS]
    best = int(np.argmax(likely))
    return float(_STEPS[best]) if likely[best] - likely[0] > _WORTH else 0.0


class _Pairs(NamedTuple):
    """Every judgment beside every label that its task may have in truth: those that anybody gave it."""

    place: Codes
    """Of the pair's task and label, from 0."""
    right: NDArray[np.bool_]
    """Whether the judgment would be right."""
    accuracy: FloatArray
    """How often its worker is right where that is the truth."""
    mistaken: FloatArray
    """The logarithm of how often a mistake of theirs is this one."""
    starts: Codes
    """By task: the first of its places."""

    @classmethod
    def of(cls, judgments: Judgments, models: list[WorkerModel]) -> "_Pairs":
        width = len(judgments.options)
        labels_of = judgments.options
        errors = np.array([[[one.confusion[true][got] for got in labels_of] for true in labels_of] for one in models])
        errors = np.clip(errors, _NEVER, 1 - _NEVER)
        # Of very many tasks some will do, every so manieth by name.
        every = -(-len(judgments.task_names) // _MOST_TASKS)
        used = judgments.tasks % every == 0
        tasks, workers, labels = judgments.tasks[used], judgments.workers[used], judgments.labels[used]
        candidates = np.unique(tasks.astype(np.int64) * width + labels)
        task_of = candidates // width
        first = np.searchsorted(task_of, tasks)
        count = np.searchsorted(task_of, tasks, side="right") - first
        whose = np.repeat(np.arange(len(tasks)), count)
        place = np.arange(len(whose)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        true, given, who = candidates[place] % width, labels[whose], workers[whose]
        accuracy = errors[who, true, true]
        mistaken = np.log(errors[who, true, given] / (1 - accuracy))
        starts = np.flatnonzero(np.r_[True, task_of[1:] != task_of[:-1]])
        return cls(place, true == given, accuracy, mistaken, starts)

    def likelihood(self, spread: float) -> float:
        """The logarithm of how likely the judgments are, where tasks differ by so much."""
        places, weights = np.polynomial.hermite_e.hermegauss(_PLACES)
        odds = stretch(spread) * np.log(self.accuracy / (1 - self.accuracy))
        likelihoods = np.empty((int(self.place.max()) + 1, _PLACES))
        for number, (at, weight) in enumerate(zip(places, weights / weights.sum(), strict=True)):
            moved = odds + spread * at
            each = np.where(self.right, -np.logaddexp(0, -moved), self.mistaken - np.logaddexp(0, moved))
            likelihoods[:, number] = np.bincount(self.place, each, len(likelihoods)) + log(weight)
        by_label = np.logaddexp.reduce(likelihoods, axis=1)
        return float(np.logaddexp.reduceat(by_label, self.starts).sum())
