"""Simulated workers fitted to real judgments with Dawid and Skene's model, including item difficulty."""

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
"""The candidate spreads."""
_WORTH = 2.0
"""Minimum gain in log-likelihood over no spread: smaller gains may be random."""
_PLACES = 15
"""The quadrature points of the normal distribution."""
_MOST_TASKS = 20_000
_NEVER = 1e-3
CAUTION = 5.0
"""Pseudo-count of the whole crowd's judgments added to each worker's own, since a few judgments are little evidence."""


def fit_workers(judgments: Judgments, like: WorkerModel) -> list[WorkerModel]:
    """A model for every worker, with fitted accuracy and confusions; everything else as in `like`.

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
    """The spread of difficulty among the tasks of real judgments, given the fitted worker models.

    It is the maximum-likelihood spread, over all possible true labels; 0 if it is not significant, or if labels are
    sets.
    """
    if judgments.sets is not None or len(judgments.options) < 2:
        return 0.0
    pairs = _Pairs.of(judgments, models)
    likely = [pairs.likelihood(float(spread)) for spread in _STEPS]
    best = int(np.argmax(likely))
    return float(_STEPS[best]) if likely[best] - likely[0] > _WORTH else 0.0


class _Pairs(NamedTuple):
    """Every judgment paired with every possible true label of its task: those that anybody gave."""

    place: Codes
    """The index of the pair's task and label, from 0."""
    right: NDArray[np.bool_]
    """Whether the judgment would be correct."""
    accuracy: FloatArray
    """The worker's accuracy if this is the true label."""
    mistaken: FloatArray
    """The log-probability of this error, given an error."""
    starts: Codes
    """By task: the first index of its labels, as in `place`."""

    @classmethod
    def of(cls, judgments: Judgments, models: list[WorkerModel]) -> "_Pairs":
        width = len(judgments.options)
        labels_of = judgments.options
        errors = np.array([[[one.confusion[true][got] for got in labels_of] for true in labels_of] for one in models])
        errors = np.clip(errors, _NEVER, 1 - _NEVER)
        # A subsample is enough for very many tasks: every n-th by name.
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
        """The log-likelihood of the judgments for a spread of difficulty."""
        places, weights = np.polynomial.hermite_e.hermegauss(_PLACES)
        odds = stretch(spread) * np.log(self.accuracy / (1 - self.accuracy))
        likelihoods = np.empty((int(self.place.max()) + 1, _PLACES))
        for number, (at, weight) in enumerate(zip(places, weights / weights.sum(), strict=True)):
            moved = odds + spread * at
            each = np.where(self.right, -np.logaddexp(0, -moved), self.mistaken - np.logaddexp(0, moved))
            likelihoods[:, number] = np.bincount(self.place, each, len(likelihoods)) + log(weight)
        by_label = np.logaddexp.reduce(likelihoods, axis=1)
        return float(np.logaddexp.reduceat(by_label, self.starts).sum())
