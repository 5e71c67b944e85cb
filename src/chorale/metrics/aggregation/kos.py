"""KOS: messages between tasks and workers, for two labels.

With A = 1 for one label and −1 for the other, a task sends each of its workers the votes of the others, and a worker
sends each of their tasks their agreement on other tasks:

    x(i → w) = Σ over other workers v of i: A_iv y(v → i),     y(w → i) = Σ over other tasks j of w: A_jw x(j → w)

The label of a task is the sign of Σ A y. Only relative sizes of messages matter, so they are scaled in every round.

D. R. Karger, S. Oh and D. Shah. Budget-optimal task allocation for reliable crowdsourcing systems. Operations Research
62 (2014), 1–24.

The method is designed for many tasks with few judgments each. If a few workers judged nearly all of a few tasks,
messages may oscillate; the result is then marked as not converged.
"""

import numpy as np

from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments

_TWO = 2
_STILL = 1e-6
"""Convergence threshold for messages, of which the largest is 1."""


def kos(judgments: Judgments, *, iterations: int = 100, seed: int = 0, progress: Progress | None = None) -> Aggregation:
    """Estimates labels, their share of message weight, and the reliability of every worker. Raises ValueError for more
    than two labels.

    The share is not a probability. Messages start at random values, sampled with the seed in the order of names. A
    worker's reliability is the mean of their messages, scaled to a maximum of 1; it is negative for misleading workers.
    A task whose messages are all 0 uses its votes.

    >>> votes = Judgments.from_columns(list("111222333444"), list("abcd" * 3), list("xxxyyyxxxyyy"))
    >>> kos(votes).labels
    {'1': 'x', '2': 'y', '3': 'x', '4': 'y'}
    """
    check_limits(iterations, 0.0)
    return aggregated(judgments, lambda each, report: _fitted(each, iterations, seed, report), progress)


def _fitted(judgments: Judgments, iterations: int, seed: int, progress: Progress | None) -> Aggregation:
    if len(judgments.label_names) > _TWO:
        raise ValueError(f"kos supports only two labels, not {len(judgments.label_names)}. Use another method")
    votes = Votes.of(judgments)
    sign = np.where(votes.label == 0, 1.0, -1.0)
    # The same generator and order as crowd-kit for a sorted table, so that both start equally.
    message = np.random.RandomState(seed).normal(1.0, 1.0, len(votes))
    done, settled = 0, False
    for done in range(1, iterations + 1):
        before = message
        weighted = sign * message
        about_task = sign * (np.add.reduceat(weighted, votes.task_starts)[votes.task] - weighted)
        message = np.bincount(votes.worker, about_task, minlength=votes.workers)[votes.worker] - about_task
        largest = float(np.abs(message).max())
        if progress:
            progress(done, iterations)
        if largest == 0:
            settled = True
            break
        message /= largest
        settled = bool(np.abs(message - before).max() < _STILL)
    total = np.add.reduceat(np.abs(message), votes.task_starts)
    margin = np.add.reduceat(np.where((total > 0)[votes.task], sign * message, sign), votes.task_starts)
    first = 0.5 + 0.5 * margin / np.where(total > 0, total, votes.per_task)
    shares = np.column_stack([first, 1 - first]) if votes.labels == _TWO else np.ones((votes.tasks, 1))
    mean = np.bincount(votes.worker, message, minlength=votes.workers) / votes.per_worker
    return Aggregation.of(
        judgments, shares, {"reliability": mean / (np.abs(mean).max() or 1.0)}, iterations=done, converged=settled
    )
