"""Majority vote: the most frequent label.

The probability of a label is the share of the task's judgments that have it.
"""

from dataclasses import replace

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress, judgments_of
from chorale.metrics.aggregation.ties import TieRule, leaders
from chorale.metrics.judgments import Judgments


def majority(judgments: Judgments, *, ties: TieRule = "random", progress: Progress | None = None) -> Aggregation:
    """The most frequent label of each task. `ties` resolves ties, see `Aggregation.tie_rule`.

    For multi-label tasks, every option that more than half of the task's workers chose. The quality of a worker is
    their agreement rate with the result.

    >>> votes = Judgments.from_columns(["t", "t", "t"], ["ann", "bob", "eve"], ["yes", "no", "yes"])
    >>> majority(votes).labels
    {'t': 'yes'}
    """
    return replace(aggregated(judgments, lambda each, _: _majority(each, ties), progress), tie_rule=ties)


def _majority(judgments: Judgments, ties: TieRule) -> Aggregation:
    tasks, labels = len(judgments.task_names), len(judgments.label_names)
    cells = judgments.tasks.astype(np.intp) * labels + judgments.labels
    counts = np.bincount(cells, minlength=tasks * labels).reshape(tasks, labels).astype(np.float64)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Aggregation.of(judgments, shares, {"agreement": agreement(judgments, shares, ties)})


def agreement(judgments: Judgments, probabilities: FloatArray, ties: TieRule = "random") -> FloatArray:
    """Agreement rate of each worker with the result."""
    right, workers = agreeing(judgments, probabilities, ties), len(judgments.worker_names)
    agreed = np.bincount(judgments.workers[right == 1], minlength=workers).astype(np.float64)
    in_part = np.flatnonzero((right > 0) & (right < 1))
    # Equal parts are counted and multiplied, because a sum of single values would depend on the order of rows.
    for part in np.unique(right[in_part]).tolist():
        agreed += part * np.bincount(judgments.workers[in_part[right[in_part] == part]], minlength=workers)
    return np.asarray(agreed / judgments_of(judgments))


def agreeing(judgments: Judgments, probabilities: FloatArray, ties: TieRule = "random") -> FloatArray:
    """For every judgment, whether it agrees with the result: 1 or 0.

    Each of k tied labels counts as 1/k, the average if one is chosen randomly; if the first is taken, only that one
    counts.
    """
    if ties == "first":
        first = leaders(probabilities).argmax(axis=1)
        return np.asarray(first[judgments.tasks] == judgments.labels, dtype=np.float64)
    at_top = leaders(probabilities)
    said = at_top[judgments.tasks, judgments.labels]
    return np.asarray(said / at_top.sum(axis=1)[judgments.tasks])
