"""GLAD: estimates worker ability and task difficulty.

A worker of ability α is correct on a task of ease e^b with a probability that grows with both; wrong labels are equally
likely:

    P(w answers k | c is true) = σ(α_w e^{b_i}) if k = c, else (1 − σ(α_w e^{b_i})) / (K − 1)

The default priors are uniform for labels and N(1, 1) for α and b.
Expectation-maximisation converges to the maximum of the probability of votes and parameters, marginalised over true
labels. Here it is maximised directly: the expectation step gives the gradient, and L-BFGS needs tens of steps instead
of hundreds.

J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma and J. Movellan. Whose vote should count more: optimal integration of labels
from labelers of unknown expertise. NIPS 2009.
"""

from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.ascent import climb, dot
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments

_PRIOR = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class GladPriors:
    """Priors. None is the default: uniform labels, and means of 1."""

    labels: FloatArray | None = None
    """The probability of each label."""
    abilities: FloatArray | None = None
    """The mean of each worker's α."""
    eases: FloatArray | None = None
    """The mean of each task's b."""


def glad(
    judgments: Judgments,
    *,
    iterations: int = 500,
    tolerance: float = 1e-9,
    priors: GladPriors | None = None,
    progress: Progress | None = None,
) -> Aggregation:
    """Estimates labels, their probabilities, and the ability of every worker. Custom priors are only for single-label
    tasks.

    `tolerance` applies to the objective per judgment. The details of the result are `ease` (b of every task) and
    `log_posterior`. A worker of negative ability is wrong more often than right.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> glad(votes).labels
    {'1': 'x', '2': 'y'}
    """
    check_limits(iterations, tolerance)
    return aggregated(judgments, lambda each, report: _fitted(each, iterations, tolerance, priors, report), progress)


def _fitted(
    judgments: Judgments, iterations: int, tolerance: float, priors: GladPriors | None, progress: Progress | None
) -> Aggregation:
    votes = Votes.of(judgments)
    posterior = _Posterior(votes, priors)
    summit = climb(
        posterior,
        np.full(votes.workers + votes.tasks, _PRIOR),
        steps=iterations,
        gain=tolerance * len(votes),
        each=(lambda done: progress(done, iterations)) if progress else None,
    )
    ability, ease = summit.point[: votes.workers], summit.point[votes.workers :]
    return Aggregation.of(
        judgments,
        posterior.beliefs(summit.point).T,
        {"ability": ability},
        details={"ease": ease, "log_posterior": summit.value},
        iterations=summit.steps,
        converged=summit.steps < iterations,
    )


class _Posterior:
    """Log probability of votes and parameters, and its gradient."""

    def __init__(self, votes: Votes, priors: GladPriors | None = None) -> None:
        self._votes = votes
        priors = priors or GladPriors()
        labels = np.full(votes.labels, 1 / votes.labels) if priors.labels is None else priors.labels
        self._log_labels = np.log(labels)
        abilities = np.full(votes.workers, _PRIOR) if priors.abilities is None else priors.abilities
        eases = np.full(votes.tasks, _PRIOR) if priors.eases is None else priors.eases
        self._means = np.concatenate([abilities, eases])
        self._others = np.log(max(1, votes.labels - 1))
        self._per_cell = np.diff(np.r_[votes.cell_starts, len(votes)])
        self._per_task = votes.per_task
        self._repeat = self._per_task.astype(np.intp)
        self._cell_place = votes.cell_label * votes.tasks + votes.cell_task

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        votes = self._votes
        ability, ease = point[: votes.workers], point[votes.workers :]
        # Steps that are too long overflow; the line search then takes a shorter one.
        with np.errstate(over="ignore", invalid="ignore"):
            factor = np.repeat(np.exp(ease), self._repeat)
            strength = ability.take(votes.worker) * factor
            decay = np.exp(-np.abs(strength))
            beliefs, log_likelihood = self._expected(strength, decay)
            right = np.where(strength >= 0, 1.0, decay) / (1 + decay)
            surprise = np.repeat(beliefs.reshape(-1)[self._cell_place], self._per_cell) - right
            by_ability = np.bincount(votes.worker, surprise * factor, minlength=votes.workers)
            by_ease = np.add.reduceat(surprise * strength, votes.task_starts)
            away = point - self._means
            value = log_likelihood - 0.5 * dot(away, away)
        return value, np.concatenate([by_ability, by_ease]) - away

    def beliefs(self, point: FloatArray) -> FloatArray:
        votes = self._votes
        factor = np.exp(point[votes.workers :]).take(votes.task)
        strength = point[: votes.workers].take(votes.worker) * factor
        return self._expected(strength, np.exp(-np.abs(strength)))[0]

    def _expected(self, strength: FloatArray, decay: FloatArray) -> tuple[FloatArray, float]:
        """Beliefs, labels × tasks, and the log-likelihood of all votes."""
        votes = self._votes
        # log(1 − σ(s)) = −log(1 + e^s), in a form that never overflows.
        log_wrong = -(np.maximum(strength, 0) + np.log1p(decay)) - self._others
        logs = np.repeat(self._log_labels[:, None], votes.tasks, axis=1)
        gained = np.add.reduceat(strength, votes.cell_starts) + self._per_cell * self._others
        logs.reshape(-1)[self._cell_place] += gained
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        sums = shares.sum(axis=0)
        shares /= sums
        each = np.add.reduceat(log_wrong, votes.task_starts) + top + np.log(sums)
        return shares, float(each.sum())
