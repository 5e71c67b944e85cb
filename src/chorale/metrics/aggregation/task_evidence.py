"""Evidence for the answer to a task, judgment by judgment, given estimates about workers.

Every method weights the judgments of a task by its estimates of workers. Either the share of a label is the weight of
its workers, or each judgment multiplies the probability of every label. So the certainty of a task can be bootstrapped
over its own judgments, which are sampled with replacement while the estimates of workers stay fixed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.expectation import EPSILON
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.ties import leaders
from chorale.metrics.aggregation.votes import Index, present
from chorale.metrics.judgments import Judgments
from chorale.metrics.sampling import Narrowness, ends_of, times_each_taken
from chorale.metrics.support import FEWEST

_AT_ONCE = 2**21
"""Maximum number of values in memory while sampling."""
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class TaskEvidence:
    """Judgments in the order of tasks and workers, with their evidence."""

    _probabilities: FloatArray
    _order: Index
    """Positions of judgments, task by task."""
    _edges: Index
    _rows: Callable[[Index], FloatArray]
    """Evidence of judgments: a number for every label."""
    _log_priors: FloatArray | None
    """Log priors of the labels, if the numbers are log likelihoods; None if they are weights."""

    def intervals(
        self,
        tasks: Sequence[int],
        *,
        resamples: int = 1000,
        seed: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> FloatArray:
        """Intervals of the probability of the answer for these tasks: 2 × tasks.

        Tasks with equal numbers of judgments share their samples.
        """
        wanted = np.asarray(tasks, dtype=np.intp)
        sizes = np.diff(self._edges)[wanted]
        ends = np.empty((2, len(wanted)))
        done = 0
        for size in np.unique(sizes).tolist():
            drawn = times_each_taken(size, resamples, np.random.default_rng([seed, size]))
            places = np.flatnonzero(sizes == size)
            width = max(1, _AT_ONCE // (resamples * self._probabilities.shape[1]))
            for start in range(0, len(places), width):
                some = places[start : start + width]
                certain = self._drawn(wanted[some], size, drawn)
                ends[:, some] = ends_of(certain, 1, Narrowness.of_units(size).tail) if size >= FEWEST else np.nan
                done += len(some)
                if progress:
                    progress(done, len(wanted))
        return ends

    def _drawn(self, tasks: Index, size: int, drawn: FloatArray) -> FloatArray:
        """The probability of the answer in every resample: tasks × resamples."""
        judgments = self._order[self._edges[tasks][:, None] + np.arange(size)]
        rows = self._rows(judgments.reshape(-1)).reshape(len(tasks), size, -1)
        now = self._probabilities[tasks]
        # Tied labels are equally probable, so any of them can be used.
        answer = leaders(now).argmax(axis=1)[:, None, None]
        if self._log_priors is not None:
            logs = self._log_priors + drawn @ rows
            logs -= np.take_along_axis(logs, answer, axis=2)
            return np.asarray(1 / np.exp(np.minimum(logs, 700.0)).sum(axis=2))
        sums = drawn @ rows
        total = sums.sum(axis=2)
        # If no sampled worker has any weight, the previous probability is kept.
        given = np.take_along_axis(sums, answer, axis=2)[..., 0]
        before = np.broadcast_to(np.take_along_axis(now[:, None], answer, axis=2)[..., 0], total.shape)
        return np.asarray(np.divide(given, total, out=before.copy(), where=total > 0))


def task_evidence(
    judgments: Judgments, method: str, result: Aggregation, *, trust: FloatArray | None = None
) -> TaskEvidence | None:
    """Evidence of a single-label result; None for multi-label results, whose answers are sets, and for KOS, whose
    messages depend on the task.
    """
    if result.multiple or judgments.sets is not None or method == "kos":
        return None
    judgments = present(judgments)
    order = np.lexsort((judgments.workers, judgments.tasks))
    edges = np.searchsorted(judgments.tasks[order], np.arange(len(judgments.task_names) + 1))
    rows = _errors(judgments, result) if method == "dawid-skene" else _gains_of_labels(judgments, method, result, trust)
    return TaskEvidence(result.probabilities, order, edges, rows, _log_priors(method, result))


def _log_priors(method: str, result: Aggregation) -> FloatArray | None:
    if method in ("mace", "glad", "mmsr"):
        return np.zeros(len(result.options))
    return np.log(np.maximum(result.details["priors"], _TINY)) if method in ("dawid-skene", "one-coin") else None


def _errors(judgments: Judgments, result: Aggregation) -> Callable[[Index], FloatArray]:
    """Log probability of the given label for every true label."""
    labels = len(result.options)
    logs = np.log(np.maximum(result.details["errors"], _TINY))
    pairs = result.details["error_workers"].astype(np.int64) * labels + result.details["error_labels"]
    keys = judgments.workers.astype(np.int64) * labels + judgments.labels
    place = np.searchsorted(pairs, keys)
    return lambda some: np.asarray(logs[place[some]])


def _gains_of_labels(
    judgments: Judgments, method: str, result: Aggregation, trust: FloatArray | None
) -> Callable[[Index], FloatArray]:
    """Gain of the given label; other labels gain nothing."""
    gains = _gains(judgments, method, result, trust)

    def rows(some: Index) -> FloatArray:
        table = np.zeros((len(some), len(result.options)))
        table[np.arange(len(some)), judgments.labels[some]] = gains[some]
        return table

    return rows


def _gains(judgments: Judgments, method: str, result: Aggregation, trust: FloatArray | None) -> FloatArray:
    others = max(1, len(result.options) - 1)
    if method == "one-coin":
        skill = result.quality["skill"]
        right, wrong = (np.log(np.clip(each, EPSILON, 1 - EPSILON)) for each in (skill, (1 - skill) / others))
        return np.asarray(right - wrong)[judgments.workers]
    if method == "mace":
        knowing = result.details["knowing"][judgments.workers, judgments.labels]
        return np.asarray(-np.log(np.maximum(1 - knowing, EPSILON)))
    if method == "glad":
        ease = np.exp(result.details["ease"])[judgments.tasks]
        return np.asarray(result.quality["ability"][judgments.workers] * ease + np.log(others))
    if method == "mmsr":
        return np.asarray(result.details["weights"][judgments.workers])
    if method in ("wawa", "zero-based-skill"):
        return np.asarray(result.quality["skill"][judgments.workers], dtype=np.float64)
    return np.ones(len(judgments)) if trust is None else np.asarray(trust, dtype=np.float64)
