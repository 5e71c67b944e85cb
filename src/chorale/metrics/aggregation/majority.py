"""Majority vote: the label most workers gave.

The probability of a label is the share of the task's judgments that have it.
"""

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress, judgments_of, leading
from chorale.metrics.judgments import Judgments


def majority(judgments: Judgments, *, progress: Progress | None = None) -> Aggregation:
    """The most frequent label of each task; of equals the one whose name sorts first.

    Of a multi-label task, every option that more than half of the task's workers chose. Of each worker it says how
    often they agree with the result.

    >>> votes = Judgments.from_columns(["t", "t", "t"], ["ann", "bob", "eve"], ["yes", "no", "yes"])
    >>> majority(votes).labels
    {'t': 'yes'}
    """
    return aggregated(judgments, lambda each, _: _majority(each), progress)


def _majority(judgments: Judgments) -> Aggregation:
    tasks, labels = len(judgments.task_names), len(judgments.label_names)
    cells = judgments.tasks.astype(np.intp) * labels + judgments.labels
    counts = np.bincount(cells, minlength=tasks * labels).reshape(tasks, labels).astype(np.float64)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Aggregation.of(judgments, shares, {"agreement": agreement(judgments, shares)})


def agreement(judgments: Judgments, probabilities: FloatArray) -> FloatArray:
    """How often each worker said what came out."""
    right = leading(probabilities)[judgments.tasks] == judgments.labels
    return np.bincount(judgments.workers[right], minlength=len(judgments.worker_names)) / judgments_of(judgments)
