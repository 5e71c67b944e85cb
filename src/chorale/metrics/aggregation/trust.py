"""Trust-weighted confidence for a whole file of judgments.

    confidence(item, a) = Σ trust(w) [w answered a] / Σ trust(w)

Gives the same result as `trust_weighted_share`, which decides one item at a time while a study runs. Zeichner, Berant
and Dagan (2012) accepted results with a confidence of 0.7 or more.
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
    """Computes labels and their trust-weighted shares.

    `trust` has one number per judgment. By default the judgments' own trust is used; without any, all votes count
    equally. If the workers of a task have no trust, their votes count equally. The quality of a worker is the mean
    trust of their judgments.

    >>> votes = Judgments.from_columns(["t", "t", "t"], ["ann", "bob", "eve"], ["yes", "no", "yes"])
    >>> confidence(votes, trust=np.array([0.5, 1.5, 0.5])).probabilities.tolist()
    [[0.6, 0.4]]
    """
    weights = judgments.trust if trust is None else np.asarray(trust, dtype=np.float64)
    if weights is None:
        weights = np.ones(len(judgments))
    if len(weights) != len(judgments):
        raise ValueError(f"trust must have one value per judgment: expected {len(judgments)}, found {len(weights)}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("trust must be a number of at least 0")
    return aggregated(judgments, lambda each, _: _weighted(each, weights), progress)


def _weighted(judgments: Judgments, weights: FloatArray) -> Aggregation:
    tasks, labels = len(judgments.task_names), len(judgments.label_names)
    cells = judgments.tasks.astype(np.intp) * labels + judgments.labels
    # Sums of the same numbers in another order differ in the last digit, so the order is fixed.
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
    """For every judgment, whether its task is in the gold, and whether it agrees with it."""
    place = {name: code for code, name in enumerate(judgments.label_names)}
    true = np.array([place.get(gold[name], -2) if name in gold else -1 for name in judgments.task_names], dtype=np.intp)
    of_each = true[judgments.tasks] if len(judgments) else true
    return of_each != -1, of_each == judgments.labels


def trust_from_gold(judgments: Judgments, gold: Mapping[str, str], *, smoothing: float = 0.0) -> FloatArray:
    """Trust of each judgment's worker: their accuracy on the tasks in `gold`.

    With smoothing n, n correct and n wrong answers are added for every worker, which moves trust towards one half,
    especially for workers with few gold answers. Without smoothing, a worker without gold answers gets the mean trust
    of the others (1 if there are none).
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
