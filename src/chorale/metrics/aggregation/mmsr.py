"""M-MSR: worker accuracies from the agreement of pairs of workers, robust to adversaries.

With M labels and workers i and j of accuracies p, M/(M−1)·agreement − 1/(M−1) equals s_i s_j, where s = (M p − 1)/(M −
1). So s is a rank-one factor of the observed part of that matrix. It is found by alternating between two copies of s:
each entry is the mean of its ratios to the other copy. Up to F of the largest ratios above its present value are left
out, and up to F of the smallest ratios below. F is half of n, minus 1, where every worker shares
tasks with at least n others. Signs come from agreement above or below chance. The vote weights every worker by
log((M−1) p/(1−p)).

Q. Ma and A. Olshevsky. Adversarial crowdsourcing through robust rank-one matrix completion. NeurIPS 2020.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.expectation import softmax
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Index, Votes
from chorale.metrics.judgments import Judgments

_AT_ONCE = 2**22
"""Maximum number of pairs of judgments in memory."""
_MOST_WORKERS = 5_000
"""Maximum number of workers, because tables of workers × workers must fit into memory."""
_CLOSE = 1e-12
_FEW = 100
"""Maximum number of workers for which computing all eigenvectors is as fast as Lanczos's method."""
_KRYLOV, _RESTARTS, _ROUNDING = 40, 20, 1e-11
_STEPS = 50


def mmsr(
    judgments: Judgments,
    *,
    iterations: int = 10_000,
    tolerance: float = 1e-10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Aggregation:
    """Estimates labels, their probabilities, and the accuracy of every worker. The details of the result are the
    workers' `weights`.

    The probabilities assume workers with these accuracies and independent errors. A task whose workers all have weight
    0, for example because nobody shares tasks, uses its votes.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> mmsr(votes).labels
    {'1': 'x', '2': 'y'}
    """
    check_limits(iterations, tolerance)
    return aggregated(judgments, lambda each, report: _fitted(each, iterations, tolerance, seed, report), progress)


def _fitted(
    judgments: Judgments, iterations: int, tolerance: float, seed: int, progress: Progress | None
) -> Aggregation:
    votes = Votes.of(judgments)
    if votes.workers > _MOST_WORKERS:
        raise ValueError(
            f"it compares all pairs of workers and supports at most {_MOST_WORKERS:,} workers, not {votes.workers:,}"
        )
    labels = max(2, votes.labels)
    common, agreed = _pairs(votes)
    factor = _Factor(common > 0, agreed / np.maximum(common, 1) * labels / (labels - 1) - 1 / (labels - 1))
    strengths = np.zeros(votes.workers)
    done, settled = 0, True
    for members in _components(common > 0):
        part = factor.among(members)
        # The same generator as crowd-kit, so that both start equally.
        start = np.random.RandomState(seed).uniform(size=len(members))
        sizes, taken, close = part.solved(start, votes.tasks, iterations, tolerance, progress)
        strengths[members] = sizes * part.signs()
        done, settled = max(done, taken), settled and close
    margin = 1 / np.sqrt(votes.tasks)
    strengths = np.maximum(np.minimum(strengths, 1 - margin), margin - 1 / (labels - 1))
    accuracy = strengths * (labels - 1) / labels + 1 / labels
    weights = np.log(accuracy * (labels - 1) / (1 - accuracy))
    return Aggregation.of(
        judgments,
        _probabilities(votes, weights).T,
        {"accuracy": accuracy},
        details={"weights": weights},
        iterations=done,
        converged=settled,
    )


def _probabilities(votes: Votes, weights: FloatArray) -> FloatArray:
    """Labels × tasks."""
    of_votes = weights[votes.worker]
    logs = np.zeros((votes.labels, votes.tasks))
    logs[votes.cell_label, votes.cell_task] = np.add.reduceat(of_votes, votes.cell_starts)
    weightless = ~(np.add.reduceat(np.abs(of_votes), votes.task_starts) > 0)
    beliefs = softmax(logs)
    if weightless.any():
        beliefs[:, weightless] = votes.shares()[:, weightless]
    return beliefs


def _pairs(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Workers × workers: number of common tasks, and of tasks with the same label."""
    size = votes.workers
    counts = [np.zeros(size * size), np.zeros(size * size)]
    keys: list[Index] = []
    same: list[NDArray[np.bool_]] = []

    def count() -> None:
        if keys:
            key, agree = np.concatenate(keys), np.concatenate(same)
            counts[0] += np.bincount(key, minlength=size * size)
            counts[1] += np.bincount(key[agree], minlength=size * size)
            keys.clear()
            same.clear()

    places = np.arange(len(votes))
    last = np.r_[votes.task_starts[1:], len(votes)][votes.task] - 1
    waiting = 0
    for distance in range(1, int(votes.per_task.max())):
        places = places[places + distance <= last[places]]
        others = places + distance
        keys.append(votes.worker[places] * size + votes.worker[others])
        same.append(votes.label[places] == votes.label[others])
        waiting += len(places)
        if waiting > _AT_ONCE:
            count()
            waiting = 0
    count()
    common, agreed = (each.reshape(size, size) for each in counts)
    common, agreed = common + common.T, agreed + agreed.T
    np.fill_diagonal(common, 0.0)
    return common, agreed


def _components(linked: NDArray[np.bool_]) -> list[Index]:
    """Groups of workers connected by common tasks. Workers without common tasks are in no group."""
    left = linked.any(axis=0)
    groups = []
    while left.any():
        inside = np.zeros(len(linked), dtype=np.bool_)
        fresh = np.zeros(len(linked), dtype=np.bool_)
        fresh[int(left.argmax())] = True
        while fresh.any():
            inside |= fresh
            fresh = linked[fresh].any(axis=0) & ~inside
        groups.append(np.flatnonzero(inside))
        left &= ~inside
    return groups


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    """The matrix whose rank-one factor is sought."""

    observed: NDArray[np.bool_]
    values: FloatArray

    def among(self, members: Index) -> "_Factor":
        inside = np.ix_(members, members)
        return _Factor(self.observed[inside], self.values[inside])

    def solved(
        self, start: FloatArray, tasks: int, iterations: int, tolerance: float, progress: Progress | None
    ) -> tuple[FloatArray, int, bool]:
        """Absolute values of the factor, number of iterations, and whether it converged."""
        trimmed = max(0, int(self.observed.sum(axis=0).min()) // 2 - 1)
        first, second = start.copy(), start.copy()
        done, close = 0, False
        while done < iterations and not close:
            new_second = self._means(first, second, trimmed, tasks)
            new_first = self._means(new_second, first, trimmed, tasks)
            close = _moved(first, new_first, second, new_second) < tolerance
            first, second, done = new_first, new_second, done + 1
            if progress:
                progress(done, iterations)
        scale = np.sqrt(np.linalg.norm(first) / (np.linalg.norm(second) or 1.0))
        return np.asarray(first / (scale or 1.0)), done, close

    def _means(self, given: FloatArray, now: FloatArray, trimmed: int, tasks: int) -> FloatArray:
        """Computes one copy from the other. The matrix is symmetric, so rows and columns are the same."""
        usable = self.observed & (given > 0)
        ratios = np.divide(np.abs(self.values), given, out=np.full(usable.shape, np.inf), where=usable)
        starts, stops = np.zeros(len(now), dtype=np.intp), usable.sum(axis=1)
        if trimmed:
            starts = np.minimum((usable & (ratios < now[:, None])).sum(axis=1), trimmed)
            stops = stops - np.minimum((usable & (ratios > now[:, None])).sum(axis=1), trimmed)
            ratios.sort(axis=1)
            places = np.arange(len(now))
            usable = (places >= starts[:, None]) & (places < stops[:, None])
        counts = stops - starts
        means = np.where(usable, ratios, 0.0).sum(axis=1) / np.maximum(counts, 1)
        means = np.where((counts == 1) & (means == 0), 1 / np.sqrt(tasks), means)
        return np.asarray(np.where(counts > 0, means, now))

    def signs(self) -> FloatArray:
        """1 for workers who are correct more often than chance, −1 for the others, from the two sides of a graph.

        Workers who disagree are on different sides. Workers who agree are linked through a node of their own, which
        puts them on the same side. Noisy data have no such sides. So the result is the signs of the eigenvector v of
        the random walk's least eigenvalue λ. Nodes between workers are eliminated: with D the degrees, N and P the
        links of those who disagree and agree, and Q = (P + diag of P's sums) / 2, v solves λ² D v = λ N v + Q v.
        """
        signs = np.where(self.observed, np.sign(self.values), 0.0)
        apart, alike = (signs < 0).astype(np.float64), (signs > 0).astype(np.float64)
        # A worker disagrees with themselves, as in crowd-kit, which makes weak signs slightly more accurate.
        np.fill_diagonal(apart, 1.0)
        scale = 1 / np.sqrt(apart.sum(axis=0) + alike.sum(axis=0))
        between = scale[:, None] * apart * scale
        within = scale[:, None] * (alike + np.diag(alike.sum(axis=0))) * scale / 2
        least, vector = -1.0, np.ones(len(signs))
        for _ in range(_STEPS):
            value, vector = _leading(least * between + within, vector)
            slope = float(vector @ between @ vector) - 2 * least
            step = (value - least * least) / slope
            least -= step
            if abs(step) < _CLOSE:
                break
        sides = np.sign(np.where(np.abs(vector) < _CLOSE, 0.0, vector))
        return np.asarray(sides * np.sign(sides.sum()))


def _leading(matrix: FloatArray, start: FloatArray) -> tuple[float, FloatArray]:
    """The largest eigenvalue of a symmetric matrix and its vector, by Lanczos's method from a vector near it.

    A few dozen matrix products replace the computation of all eigenvectors, which would take seconds each time.
    """
    if len(matrix) > _FEW:
        vector = start / np.linalg.norm(start)
        for _ in range(_RESTARTS):
            basis = vector[:, None]
            for _ in range(_KRYLOV):
                fresh = matrix @ basis[:, -1]
                # Twice, because rounding leaves a small remainder the first time.
                for _ in range(2):
                    fresh = fresh - basis @ (basis.T @ fresh)
                length = float(np.linalg.norm(fresh))
                if length < _ROUNDING:
                    break
                basis = np.column_stack([basis, fresh / length])
            values, vectors = np.linalg.eigh(basis.T @ matrix @ basis)
            vector = basis @ vectors[:, -1]
            if np.linalg.norm(matrix @ vector - values[-1] * vector) < _ROUNDING:
                return float(values[-1]), np.asarray(vector / np.linalg.norm(vector))
    values, vectors = np.linalg.eigh(matrix)
    return float(values[-1]), np.asarray(vectors[:, -1])


def _moved(first: FloatArray, new_first: FloatArray, second: FloatArray, new_second: FloatArray) -> float:
    """Change of the product of the two copies, in the Frobenius norm."""
    here, there = new_first - first, new_second - second
    square = here @ here * (new_second @ new_second) + first @ first * (there @ there)
    square += 2 * (here @ first) * (new_second @ there)
    return float(np.sqrt(np.maximum(square, 0.0)))
