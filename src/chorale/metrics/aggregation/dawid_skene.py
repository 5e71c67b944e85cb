"""Dawid and Skene (1979): estimates workers' confusion matrices and the true labels.

Every worker w has a confusion matrix e, where e[k, c] is the probability of answering k when c is true, and labels have
the probabilities p. Expectation-maximisation alternates between

    P(task i is c)  ∝  p[c] · Π over judgments (w, k) of i: e_w[k, c]
    e_w[k, c]       ∝  Σ over judgments (w, k) of tasks i: P(i is c),     p[c] = mean over i of P(i is c)

starting with the shares of votes, until the bound on the likelihood, per judgment, grows by less than the tolerance.

A. P. Dawid and A. M. Skene. Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
Statistics 28 (1979), 20–28.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.expectation import EPSILON, accuracy_of, fixed_by, maximise
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Index, Votes
from chorale.metrics.judgments import Judgments

_ENOUGH_PER_LABEL = 10
"""Minimum mean number of judgments per worker and label for a reliable confusion matrix."""


@dataclass(frozen=True, slots=True, eq=False)
class InitialErrors:
    """Initial confusion matrices of workers, as counts or probabilities.

    A row for a label that the worker did not use still counts in the worker's sums; its code is -1.
    """

    workers: Index
    labels: Index
    """The given label of each row, as codes of the judgments."""
    values: FloatArray
    """One row per worker and label, one column per true label."""
    replaces: bool
    """Whether these replace the estimate from the initial shares of votes, or are added to it."""


def dawid_skene(
    judgments: Judgments,
    *,
    iterations: int = 100,
    tolerance: float = 1e-5,
    known: Mapping[str, str] | None = None,
    initial: InitialErrors | None = None,
    progress: Progress | None = None,
) -> Aggregation:
    """Estimates labels, their probabilities, and the errors of every worker.

    `initial` is prior knowledge about workers for the first iteration (single-label tasks only). `known` are fixed true
    labels of some tasks; a label that nobody gave raises ValueError. The result's details are `priors` (one per label),
    `errors` (a row per worker and label they used, a column per true label), and the worker and label of each row, as
    codes (`error_workers`, `error_labels`). A worker's accuracy is the mean probability of their labels.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> dawid_skene(votes).labels
    {'1': 'x', '2': 'y'}
    """
    check_limits(iterations, tolerance)
    result = aggregated(
        judgments, lambda each, report: _fitted(each, iterations, tolerance, known, initial, report), progress
    )
    each = len(judgments) / len(result.workers)
    # Options of a set are separate questions with the labels yes and no.
    if each >= _ENOUGH_PER_LABEL * (2 if result.multiple else len(result.options)):
        return result
    note = (
        f"Workers judged only {each:.1f} tasks each on average. The Dawid–Skene model learns a confusion matrix per "
        "worker. With so few judgments, its probabilities may be far too high. Consider wawa or majority."
    )
    return replace(result, notes=(*result.notes, note))


def _fitted(
    judgments: Judgments,
    iterations: int,
    tolerance: float,
    known: Mapping[str, str] | None,
    initial: InitialErrors | None,
    progress: Progress | None,
) -> Aggregation:
    votes = Votes.of(judgments)
    model = _Confusion(votes, initial)
    fit = maximise(votes, model, iterations, tolerance, fixed_by(judgments, known), progress)
    return fit.result(
        judgments,
        {"accuracy": accuracy_of(votes, fit.beliefs)},
        errors=np.ascontiguousarray(np.exp(model.log_errors.T)),
        error_workers=votes.pair_worker,
        error_labels=votes.pair_label,
    )


class _Confusion:
    """Confusion matrices of workers: rows of used labels, one array per true label."""

    def __init__(self, votes: Votes, initial: InitialErrors | None = None) -> None:
        self._votes = votes
        self._given = None if initial is None else _InitialCounts.of(votes, initial)
        self._task_by_pair = votes.task[votes.by_pair]
        self.log_errors: FloatArray = np.empty((votes.labels, len(votes.pair_starts)))

    def learn(self, beliefs: FloatArray) -> float:
        """Updates the errors from beliefs (labels × tasks) and returns the expected log-likelihood of the votes."""
        votes, total = self._votes, 0.0
        given, self._given = self._given, None
        for label, belief in enumerate(beliefs):
            counts = np.add.reduceat(belief.take(self._task_by_pair), votes.pair_starts)
            if given is not None:
                counts = given.of_pairs[:, label] + (0.0 if given.replaces else counts)
            floored = np.maximum(counts, EPSILON)
            sums = np.add.reduceat(floored, votes.worker_starts)
            sums += 0.0 if given is None else given.of_others[:, label]
            self.log_errors[label] = np.log(floored / sums[votes.pair_worker])
            total += float((counts * self.log_errors[label]).sum())
        return total

    def log_likelihoods(self) -> FloatArray:
        """Log-likelihood of the votes of each task for each true label: labels × tasks."""
        votes = self._votes
        return np.stack([np.add.reduceat(row.take(votes.pair), votes.task_starts) for row in self.log_errors])


@dataclass(frozen=True, slots=True, eq=False)
class _InitialCounts:
    """Initial errors in the layout of the votes."""

    of_pairs: FloatArray
    of_others: FloatArray
    """For every worker, the sums over unused labels."""
    replaces: bool

    @classmethod
    def of(cls, votes: Votes, initial: InitialErrors) -> Self:
        place = {pair: number for number, pair in enumerate(zip(votes.pair_worker, votes.pair_label, strict=True))}
        of_pairs = np.zeros((len(place), votes.labels))
        of_others = np.zeros((votes.workers, votes.labels))
        filled = np.zeros(len(place), dtype=np.bool_)
        for worker, label, row in zip(initial.workers, initial.labels, initial.values, strict=True):
            number = place.get((worker, label))
            if number is None:
                of_others[worker] += np.maximum(row, EPSILON)
            else:
                of_pairs[number] += row
                filled[number] = True
        if initial.replaces and not filled.all():
            raise ValueError("initial errors that replace the estimate must have a row for every worker and used label")
        return cls(of_pairs, of_others, initial.replaces)
