"""Expectation-maximisation for the Dawid–Skene models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments

EPSILON = 1e-10
"""Minimum probability, because unobserved events are not impossible."""


class Model(Protocol):
    """Model of the workers."""

    def learn(self, beliefs: FloatArray) -> float:
        """Updates the model from beliefs about tasks (labels × tasks), and returns the expected log-likelihood of the
        votes.
        """

    def log_likelihoods(self) -> FloatArray:
        """Log-likelihood of each task's votes for each true label: labels × tasks."""


@dataclass(frozen=True, slots=True)
class Fit:
    beliefs: FloatArray
    """Labels × tasks."""
    priors: FloatArray
    bounds: list[float]
    """Bound on the log-likelihood per judgment after each iteration."""
    converged: bool

    def result(self, judgments: Judgments, quality: Mapping[str, FloatArray], **details: Any) -> Aggregation:
        return Aggregation.of(
            judgments,
            self.beliefs.T,
            quality,
            details={"priors": self.priors, "bounds": self.bounds, **details},
            iterations=len(self.bounds),
            converged=self.converged,
        )


def maximise(
    votes: Votes,
    model: Model,
    iterations: int,
    tolerance: float,
    fix: Callable[[FloatArray], FloatArray] | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Iterates from the shares of votes until the bound grows by less than the tolerance.

    Like crowd-kit, this counts the prior in the bound with every judgment instead of once per task. So both stop at the
    same iteration.
    """
    beliefs = votes.shares()
    beliefs = fix(beliefs) if fix else beliefs
    priors = beliefs.mean(axis=1)
    model.learn(beliefs)
    per_task, bound = votes.per_task, -np.inf
    bounds: list[float] = []
    converged = False
    while len(bounds) < iterations and not converged:
        beliefs = softmax(model.log_likelihoods() + np.log(np.maximum(priors, EPSILON))[:, None])
        beliefs = fix(beliefs) if fix else beliefs
        priors = beliefs.mean(axis=1)
        expected = model.learn(beliefs) + float(
            np.einsum("ct,t,c->", beliefs, per_task, np.log(np.maximum(priors, EPSILON)))
        )
        floored = np.maximum(beliefs, EPSILON)
        bounds.append((expected - float((floored * np.log(floored)).sum())) / len(votes))
        if progress:
            progress(len(bounds), iterations)
        converged, bound = bounds[-1] - bound < tolerance, bounds[-1]
    return Fit(beliefs, priors, bounds, converged)


def softmax(logs: FloatArray) -> FloatArray:
    """Converts logarithms to probabilities that sum to 1 in every column. Overwrites its argument."""
    logs -= logs.max(axis=0)
    shares = np.exp(logs, out=logs)
    shares /= shares.sum(axis=0)
    return shares


def fixed_by(judgments: Judgments, known: Mapping[str, str] | None) -> Callable[[FloatArray], FloatArray] | None:
    """A function that fixes the beliefs about tasks with known labels, or None."""
    if not known:
        return None
    place = {name: code for code, name in enumerate(judgments.label_names)}
    given = [(code, known[name]) for code, name in enumerate(judgments.task_names) if name in known]
    strange = sorted({label for _, label in given if label not in place})
    if strange:
        raise ValueError(f"nobody gave the true label {strange[0]!r}. Remove the tasks that have it")
    pairs = [(code, place[label]) for code, label in given]
    tasks, labels = np.array(pairs, dtype=np.intp).reshape(-1, 2).T

    def fix(beliefs: FloatArray) -> FloatArray:
        beliefs[:, tasks] = 0.0
        beliefs[labels, tasks] = 1.0
        return beliefs

    return fix


def accuracy_of(votes: Votes, beliefs: FloatArray) -> FloatArray:
    """Mean probability of each worker's labels being true."""
    in_cells = beliefs[votes.cell_label, votes.cell_task]
    probability = np.repeat(in_cells, np.diff(np.r_[votes.cell_starts, len(votes)]))
    return np.asarray(np.bincount(votes.worker, probability, minlength=votes.workers) / votes.per_worker)
