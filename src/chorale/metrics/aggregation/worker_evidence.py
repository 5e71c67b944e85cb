"""What a worker's quality rests on, judgment by judgment, given the answers that were found.

A quality that is a mean over the worker's judgments can be bootstrapped over them. The answers stay what they are: one
worker among many moves them little. GLAD's ability and MACE's competence are not means; they take one step of their
method from where it stopped, with the judgments as often as they are drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.aggregation.mace import competence_of
from chorale.metrics.aggregation.majority import majority
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.aggregation.trust import held_against
from chorale.metrics.aggregation.votes import Index, present
from chorale.metrics.judgments import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class WorkerEvidence:
    """Judgments in the order of workers, with what each says of its worker."""

    name: str
    """Of the quality."""
    metric: Metric
    """Its one score is called `quality`; it takes a worker's sums, and the ability they have now in the last column."""
    _rows: FloatArray
    _edges: Index

    def rows(self, worker: int) -> FloatArray:
        """One for each of their judgments; none of somebody of whom nothing is known, as who met no gold."""
        return self._rows[self._edges[worker] : self._edges[worker + 1]]


def worker_evidence(judgments: Judgments, method: str, result: Aggregation) -> WorkerEvidence | None:
    """Of a single-label result; None where the quality does not come from the judgments, as a trust that is given."""
    judgments = present(judgments)
    if result.multiple or judgments.sets is not None:
        return None
    made = _rows(judgments, method, result)
    if made is None:
        return None
    rows, metric = made
    order = np.argsort(judgments.workers, kind="stable")
    edges = np.searchsorted(judgments.workers[order], np.arange(len(judgments.worker_names) + 1))
    return WorkerEvidence(next(iter(result.quality)), metric, rows[order], edges)


def gold_evidence(judgments: Judgments, gold: Mapping[str, str], smoothing: float) -> WorkerEvidence:
    """Of a trust that is accuracy on gold: the worker's judgments of it, with as many right and wrong ones added as
    there were."""
    judgments = present(judgments)
    on_gold, right = held_against(judgments, gold)
    workers, right = judgments.workers[on_gold], right[on_gold]
    order = np.argsort(workers, kind="stable")
    edges = np.searchsorted(workers[order], np.arange(len(judgments.worker_names) + 1))
    rows = np.column_stack([right, np.ones(len(right))])[order]
    smoothed = Metric(lambda sums: {"quality": ratio(sums[..., 0] + smoothing, sums[..., 1] + 2 * smoothing)})
    return WorkerEvidence("trust", smoothed, rows, edges)


def _rows(judgments: Judgments, method: str, result: Aggregation) -> tuple[FloatArray, Metric] | None:
    believed = result.probabilities[judgments.tasks, judgments.labels]
    each = np.ones(len(judgments))
    if method in ("majority", "wawa"):
        right = (majority(judgments).leading[judgments.tasks] == judgments.labels).astype(np.float64)
        return np.column_stack([right, each]), _MEAN
    if method == "zero-based-skill":
        right = (result.leading[judgments.tasks] == judgments.labels).astype(np.float64)
        return np.column_stack([right, each]), _MEAN
    if method in ("dawid-skene", "one-coin"):
        return np.column_stack([believed, each]), _MEAN
    if method == "mace":
        knew = believed * result.details["knowing"][judgments.workers, judgments.labels]
        return np.column_stack([knew, each]), _COMPETENCE
    if method == "glad":
        ease = np.exp(result.details["ease"])[judgments.tasks]
        ability = result.quality["ability"][judgments.workers]
        right = 1 / (1 + np.exp(-np.clip(ability * ease, -500, 500)))
        return np.column_stack([(believed - right) * ease, right * (1 - right) * ease**2, ability, each]), _ABILITY
    return None


_MEAN = Metric(lambda sums: {"quality": ratio(sums[..., 0], sums[..., 1])})
_COMPETENCE = Metric(lambda sums: {"quality": competence_of(sums[..., 0], sums[..., 1])})


def _stepped(sums: FloatArray) -> dict[str, FloatArray]:
    """Newton's step: the slope of the log posterior over its curvature, with the prior N(1, 1)."""
    ability = ratio(sums[..., 2], sums[..., 3])
    return {"quality": ability + (sums[..., 0] - (ability - 1)) / (sums[..., 1] + 1)}


_ABILITY = Metric(_stepped)
