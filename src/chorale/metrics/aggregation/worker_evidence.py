"""Evidence for the quality of a worker, judgment by judgment, given the aggregated answers.

A quality that is a mean over the worker's judgments can be bootstrapped over them. The answers are fixed, because one
worker among many changes them little. MACE's competence follows from a worker's accuracy and the accuracy of guessing.
GLAD's ability has no interval, because its scale is that of a prior.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, ratio, row_intervals
from chorale.metrics.aggregation.mace import competence_of
from chorale.metrics.aggregation.majority import agreeing, majority
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.trust import held_against
from chorale.metrics.aggregation.votes import Index, present
from chorale.metrics.judgments import Judgments
from chorale.metrics.sampling import TAIL
from chorale.metrics.student import t_bound, wilson


@dataclass(frozen=True, slots=True, eq=False)
class WorkerEvidence:
    """Judgments in the order of workers, with their evidence."""

    name: str
    """Name of the quality, such as `skill`."""
    metric: Metric
    """Its only score is `quality`, computed from two sums per worker: the expected number of correct judgments (for
    MACE, of those where the worker knew the label), and the number of judgments."""
    _rows: FloatArray
    _edges: Index
    _believed: FloatArray | None = None
    """Probability that each judgment is correct; None if known, as for gold."""
    _is_competence: bool = False
    """Whether the quality is MACE's."""

    def rows(self, worker: int) -> FloatArray:
        """Values of each judgment of the worker; empty if nothing is known, e.g. without gold."""
        return self._rows[self._edges[worker] : self._edges[worker + 1]]

    def interval(self, worker: int, value: float, *, resamples: int = 1000, seed: int = 1) -> Interval:
        """Interval of a worker's quality over their judgments.

        It is unknown which judgments are correct, and an uncertain judgment carries less information about its worker.
        So the number of judgments is replaced by their information.
        """
        rows, part = self.rows(worker), slice(self._edges[worker], self._edges[worker + 1])
        around = row_intervals(rows, self.metric, resamples=resamples, seed=seed)["quality"]
        if self._believed is None:
            return around
        size = max(float(_information(self._believed[part]).sum()), _LEAST)
        bound = t_bound(TAIL, max(size - 1, 1.0))
        if not self._is_competence:
            return Interval(*wilson(value, size, bound))
        right = float(self._believed[part].mean())
        return _competence_between(value, right, *wilson(right, size, bound))


def _information(believed: FloatArray) -> FloatArray:
    """How much information each judgment has about its worker's accuracy, given the probability that it is correct.

    The information is 1 for a judgment known to be correct or wrong. Otherwise it is the expected information about an
    accuracy, given the belief about the task without the worker's own judgment.
    """
    accuracy = float(np.clip(believed.mean(), _NEARLY_NEVER, 1 - _NEARLY_NEVER))
    sure = np.clip(believed, _NEARLY_NEVER**2, 1 - _NEARLY_NEVER**2)
    odds = sure / (1 - sure) * (1 - accuracy) / accuracy
    by_others = odds / (1 + odds)
    likely = by_others * accuracy + (1 - by_others) * (1 - accuracy)
    information = accuracy * (1 - accuracy) * (2 * by_others - 1) ** 2 / (likely * (1 - likely))
    return np.asarray(np.minimum(information, 1.0))


def _competence_between(competence: float, right: float, low: float, high: float) -> Interval:
    """The interval of a competence, from the interval of the worker's accuracy.

    accuracy = competence + (1 − competence) · accuracy of guessing.
    """
    luck = float(np.clip((right - competence) / max(1 - competence, _NEARLY_NEVER), 0.0, _MOST_LUCK))
    least, most = ((accuracy - luck) / (1 - luck) for accuracy in (low, high))
    return Interval(max(0.0, min(least, competence)), min(1.0, max(most, competence)))


_MOST_LUCK = 0.95
_NEARLY_NEVER = 1e-6
_LEAST = 0.5
"""Minimum number of judgments assumed for an interval."""


def worker_evidence(judgments: Judgments, method: str, result: Aggregation) -> WorkerEvidence | None:
    """Evidence of a single-label result; None if the quality does not come from judgments, e.g. a given trust."""
    judgments = present(judgments)
    if result.multiple or judgments.sets is not None:
        return None
    made = _rows(judgments, method, result)
    if made is None:
        return None
    rows, metric = made
    order = np.argsort(judgments.workers, kind="stable")
    edges = np.searchsorted(judgments.workers[order], np.arange(len(judgments.worker_names) + 1))
    believed = result.probabilities[judgments.tasks, judgments.labels][order]
    return WorkerEvidence(next(iter(result.quality)), metric, rows[order], edges, believed, method == "mace")


def gold_evidence(judgments: Judgments, gold: Mapping[str, str], smoothing: float) -> WorkerEvidence:
    """Evidence of trust as accuracy on gold: the worker's gold judgments, with the added correct and wrong ones."""
    judgments = present(judgments)
    on_gold, right = held_against(judgments, gold)
    workers, right = judgments.workers[on_gold], right[on_gold]
    order = np.argsort(workers, kind="stable")
    edges = np.searchsorted(workers[order], np.arange(len(judgments.worker_names) + 1))
    rows = np.column_stack([right, np.ones(len(right))])[order]
    smoothed = Metric(
        lambda sums: {"quality": ratio(sums[..., 0] + smoothing, sums[..., 1] + 2 * smoothing)},
        wholes=lambda sums: {"quality": sums[..., 1]},
    )
    return WorkerEvidence("trust", smoothed, rows, edges)


def _rows(judgments: Judgments, method: str, result: Aggregation) -> tuple[FloatArray, Metric] | None:
    believed = result.probabilities[judgments.tasks, judgments.labels]
    each = np.ones(len(judgments))
    if method in ("majority", "wawa"):
        right = agreeing(judgments, majority(judgments).probabilities, result.tie_rule)
        return np.column_stack([right, each]), _MEAN
    if method == "zero-based-skill":
        right = (result.leading[judgments.tasks] == judgments.labels).astype(np.float64)
        return np.column_stack([right, each]), _MEAN
    if method in ("dawid-skene", "one-coin"):
        return np.column_stack([believed, each]), _MEAN
    if method == "mace":
        knew = believed * result.details["knowing"][judgments.workers, judgments.labels]
        return np.column_stack([knew, each]), _COMPETENCE
    return None


_MEAN = Metric(
    lambda sums: {"quality": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"quality": sums[..., 1]}
)
_COMPETENCE = Metric(lambda sums: {"quality": competence_of(sums[..., 0], sums[..., 1])})
