"""Confidence over a whole file of judgments: every vote weighs as much as its worker is trusted.

    confidence(item, a) = Σ trust(w) [w answered a] / Σ trust(w)

The same as `trust_weighted_share`, which decides one item at a time while a study runs. Zeichner, Berant and Dagan
(2012) accepted results with a confidence of 0.7 or more.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress, judgments_of
from chorale.metrics.judgments import Judgments


def confidence(
    judgments: Judgments, *, trust: FloatArray | None = None, progress: Progress | None = None
) -> Aggregation:
    """Labels and their trust-weighted shares.

    `trust` has one number per judgment; without it the judgments' own trust counts, and if they have none, all votes
    count the same. A task whose workers are not trusted at all counts them all the same. Of each worker it says the
    mean trust their judgments had.

    >>> votes = Judgments.from_columns(["t", "t", "t"], ["ann", "bob", "eve"], ["yes", "no", "yes"])
    >>> confidence(votes, trust=np.array([0.5, 1.5, 0.5])).probabilities.tolist()
    [[0.6, 0.4]]
    """
    weights = judgments.trust if trust is None else np.asarray(trust, dtype=np.float64)
    if weights is None:
        weights = np.ones(len(judgments))
    if len(weights) != len(judgments):
        raise ValueError(f"{len(judgments)} judgments need as many values of trust, not {len(weights)}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("trust must be a number of at least 0")
    return aggregated(judgments, lambda each, _: _weighted(each, weights), progress)


def _weighted(judgments: Judgments, weights: FloatArray) -> Aggregation:
    tasks, labels = len(judgments.task_names), len(judgments.label_names)
    cells = judgments.tasks.astype(np.intp) * labels + judgments.labels
    # Sums of the same numbers in another order differ in the last digit, so the order is made one.
    order = np.lexsort((weights, judgments.workers, cells))
    sums = np.bincount(cells[order], weights[order], minlength=tasks * labels).reshape(tasks, labels)
    totals = sums.sum(axis=1, keepdims=True)
    untrusted = totals[:, 0] <= 0
    if untrusted.any():
        counts = np.bincount(cells, minlength=tasks * labels).reshape(tasks, labels)
        sums[untrusted] = counts[untrusted]
        totals = sums.sum(axis=1, keepdims=True)
    made = judgments_of(judgments)
    mean = np.bincount(judgments.workers[order], weights[order], minlength=len(made)) / made
    return Aggregation.of(judgments, sums / totals, {"trust": mean})


def held_against(judgments: Judgments, gold: Mapping[str, str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of every judgment whether its task is in the gold, and whether it says the same."""
    place = {name: code for code, name in enumerate(judgments.label_names)}
    true = np.array([place.get(gold[name], -2) if name in gold else -1 for name in judgments.task_names], dtype=np.intp)
    of_each = true[judgments.tasks] if len(judgments) else true
    return of_each != -1, of_each == judgments.labels


def trust_from_gold(judgments: Judgments, gold: Mapping[str, str], *, smoothing: float = 0.0) -> FloatArray:
    """The trust of the worker of every judgment: their accuracy on the tasks in `gold`.

    With smoothing n, n right and n wrong answers are added to everybody's: trust moves towards one half, the more so
    the less gold they answered. Without it, a worker who answered no gold is trusted like the mean of the others (1 if
    there are none).
    """
    if smoothing < 0:
        raise ValueError("smoothing must be at least 0")
    on_gold, is_right = held_against(judgments, gold)
    size = len(judgments.worker_names)
    answered = np.bincount(judgments.workers[on_gold], minlength=size).astype(np.float64)
    right = np.bincount(judgments.workers[is_right], minlength=size)
    proven = answered > 0
    answered += 2 * smoothing
    trust = np.divide(right + smoothing, answered, out=np.ones(size), where=answered > 0)
    if not smoothing and proven.any():
        trust[~proven] = trust[proven].mean()
    return np.asarray(trust[judgments.workers], dtype=np.float64)
