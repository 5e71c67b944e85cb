"""Aggregates answers with vectors: selects the answer closest to the aggregated vector of its task.

RASA: the vector of a task is the mean of its answers, weighted by worker reliability. The reliability of a worker is a
chi-square quantile for their number of answers, divided by the sum of squared distances of their answers to the task
vectors. Both steps are repeated until convergence. HRRASA also weights every answer by its similarity to the task's
other answers, as a vector and as a text.

J. Li and F. Fukumoto. A dataset of crowdsourced word sequences: collections and answer aggregation for ground truth
creation. AnnoNLP 2019. J. Li. Crowdsourced text sequence aggregation based on hybrid reliability and representation.
SIGIR 2020.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.chi_square import upper_quantile
from chorale.metrics.aggregation.limits import check_limits, check_number
from chorale.metrics.aggregation.result import Progress
from chorale.metrics.aggregation.votes import Index

_NEAREST = 1e-5
"""Minimum sum of squared distances, so that reliability stays finite."""
_TINY = 1e-10
_SAME = 1e-9
"""Distances closer than this count as equal, because they may differ by rounding."""

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, eq=False)
class VectorAnswers:
    """Answers in the order of task, answer, worker."""

    tasks: Index
    workers: Index
    answers: Index
    """Codes of the answers. Of equally close answers, the first is selected."""
    vectors: FloatArray
    """One row per answer."""
    starts: Index
    """Start of each task's answers."""
    task_count: int
    worker_count: int
    order: Index
    """Position of each answer in the data."""

    @classmethod
    def of(cls, tasks: Index, workers: Index, answers: Index, vectors: FloatArray) -> Self:
        """Builds answers from codes. Every task and worker must have an answer."""
        if not len(tasks):
            raise ValueError("there are no answers to aggregate")
        if vectors.ndim != 2 or len(vectors) != len(tasks) or not np.isfinite(vectors).all():
            raise ValueError("every answer must have a vector of finite numbers, all of the same length")
        order = np.lexsort((workers, answers, tasks))
        tasks, workers = tasks[order], workers[order]
        starts = np.flatnonzero(np.r_[True, tasks[1:] != tasks[:-1]])
        counts = int(tasks.max()) + 1, int(workers.max()) + 1
        return cls(tasks, workers, answers[order], vectors[order], starts, *counts, order)

    @property
    def sizes(self) -> Index:
        """Number of answers per task."""
        return np.asarray(np.diff(np.r_[self.starts, len(self.tasks)]))


@dataclass(frozen=True, slots=True, eq=False)
class Closest:
    """The selected answer of each task, and the distance of each answer to its task's vector."""

    chosen: Index
    """Index of the selected answer of each task in the input order."""
    distances: FloatArray
    """Distance of each answer, in input order."""
    vectors: FloatArray
    """Tasks × dimensions: the aggregated vectors."""
    reliability: FloatArray | None = None
    """Reliability of each worker; NaN for workers who share no task with others."""
    weights: FloatArray | None = None
    """Weight of each answer in input order, if answers have their own weights."""
    iterations: int | None = None
    converged: bool = True


def closest_to_average(
    given: VectorAnswers,
    *,
    known: Mapping[int, FloatArray] | None = None,
    distance: Callable[[FloatArray, FloatArray], float] | None = None,
) -> Closest:
    """The answer closest to the mean of the task's vectors; `known` are true vectors of some tasks, by code.

    The default distance is 1 − cosine. It can be any function of an answer's and a task's vector.
    """
    means = _means(given, np.ones(len(given.tasks)), known)
    return _closest(given, means, distance)


def rasa(
    given: VectorAnswers,
    *,
    iterations: int = 100,
    tolerance: float = 1e-9,
    alpha: float = 0.05,
    known: Mapping[int, FloatArray] | None = None,
    progress: Progress | None = None,
) -> Closest:
    """Aggregates answers with RASA.

    The tolerance applies to the squared change of the task vectors relative to their squares.
    """
    _check(iterations, tolerance, alpha)
    return _settled(given, np.ones(len(given.tasks)), iterations, tolerance, alpha, known, progress)


def hrrasa(
    given: VectorAnswers,
    texts: tuple[str, ...] | None,
    similarity: Similarity | None,
    *,
    iterations: int = 100,
    tolerance: float = 1e-9,
    weight_of_vectors: float = 0.5,
    weight_of_texts: float = 0.5,
    alpha: float = 0.05,
    known: Mapping[int, FloatArray] | None = None,
    progress: Progress | None = None,
) -> Closest:
    """Aggregates answers with HRRASA.

    `texts` are the texts of the answer codes, which `similarity` compares pairwise. A task with one
    answer gets that answer and has no influence on its worker's reliability.
    """
    _check(iterations, tolerance, alpha)
    alike = weight_of_vectors * _vector_likeness(given)
    if weight_of_texts and similarity is not None and texts is not None:
        alike = alike + weight_of_texts * _text_likeness(given, texts, similarity)
    return _settled(given, alike, iterations, tolerance, alpha, known, progress)


def ranks(given: VectorAnswers, result: Closest) -> FloatArray:
    """HRRASA's quality of every answer, in input order: reliability of the worker and of the answer.

    NaN for tasks with one answer.
    """
    if result.reliability is None or result.weights is None:
        raise ValueError("answers can only be ranked with hrrasa")
    task_vectors = result.vectors[given.tasks]
    squares = ((given.vectors - task_vectors) ** 2).sum(axis=1)
    product = (given.vectors**2).sum(axis=1) * (task_vectors**2).sum(axis=1)
    near = np.exp(-np.divide(squares, product, out=np.zeros(len(squares)), where=product > 0))
    own = result.weights[given.order]
    ordered = result.reliability[given.workers] * near + own
    placed = np.empty(len(ordered))
    placed[given.order] = np.where((given.sizes > 1)[given.tasks], ordered, np.nan)
    return placed


def _check(iterations: int, tolerance: float, alpha: float) -> None:
    check_limits(iterations, tolerance)
    check_number("alpha", alpha, least=0.0, above=True)
    if alpha >= 1:
        raise ValueError(f"alpha must be below 1, not {alpha!r}")


def _settled(
    given: VectorAnswers,
    alike: FloatArray,
    iterations: int,
    tolerance: float,
    alpha: float,
    known: Mapping[int, FloatArray] | None,
    progress: Progress | None,
) -> Closest:
    hybrid = not (alike == 1).all()
    learnt = given.sizes > 1 if hybrid else np.ones(given.task_count, dtype=np.bool_)
    counted = learnt[given.tasks]
    answered = np.bincount(given.workers[counted], minlength=given.worker_count)
    quantiles = {count: upper_quantile(alpha / 2, count) for count in np.unique(answered[answered > 0]).tolist()}
    prior = np.array([quantiles.get(count, np.nan) for count in answered.tolist()])
    safe = np.maximum(alike, _TINY)
    reliability = np.ones(given.worker_count)
    vectors = _means(given, np.where(counted, safe, 1.0), known)
    done, close = 0, False
    while done < iterations and not close:
        weights = np.where(counted, reliability[given.workers] * safe, 1.0)
        moved = _means(given, weights, known)
        squares = ((given.vectors - moved[given.tasks]) ** 2).sum(axis=1) / safe
        far = np.bincount(given.workers[counted], squares[counted], minlength=given.worker_count)
        reliability = np.where(answered > 0, prior / np.maximum(far, _NEAREST), 1.0)
        change, size = float(((moved - vectors)[learnt] ** 2).sum()), float((moved[learnt] ** 2).sum())
        close = (bool(done) and change < tolerance * size) or size == 0
        vectors, done = moved, done + 1
        if progress:
            progress(done, iterations)
    closest = _closest(given, vectors, None)
    own = np.empty(len(alike))
    own[given.order] = alike
    return Closest(
        closest.chosen,
        closest.distances,
        vectors,
        np.where(answered > 0, reliability, np.nan),
        own if hybrid else None,
        done,
        close,
    )


def _means(given: VectorAnswers, weights: FloatArray, known: Mapping[int, FloatArray] | None) -> FloatArray:
    """Weighted means of the vectors of each task. Known vectors are fixed."""
    sums = np.add.reduceat(weights[:, None] * given.vectors, given.starts, axis=0)
    means = sums / np.add.reduceat(weights, given.starts)[:, None]
    for task, vector in (known or {}).items():
        means[task] = vector
    return np.asarray(means)


def _closest(
    given: VectorAnswers, vectors: FloatArray, distance: Callable[[FloatArray, FloatArray], float] | None
) -> Closest:
    towards = vectors[given.tasks]
    if distance is None:
        lengths = np.linalg.norm(given.vectors, axis=1) * np.linalg.norm(towards, axis=1)
        products = (given.vectors * towards).sum(axis=1)
        far = np.full(len(lengths), np.inf)
        np.divide(products, lengths, out=far, where=lengths > 0)
        far = np.where(lengths > 0, 1 - far, np.inf)
    else:
        pairs = zip(given.vectors, towards, strict=True)
        far = np.array([distance(one, other) for one, other in pairs], dtype=np.float64)
    least = np.minimum.reduceat(far, given.starts)
    first = _first_of_each(far <= least[given.tasks] + _SAME, given.starts)
    distances = np.empty(len(far))
    distances[given.order] = far
    return Closest(given.order[first], distances, vectors)


def _first_of_each(chosen: NDArray[np.bool_], starts: Index) -> Index:
    """Index of the selected answer of each task. Ties go to the first answer in sort order."""
    places = np.where(chosen, np.arange(len(chosen)), len(chosen))
    return np.asarray(np.minimum.reduceat(places, starts))


def _vector_likeness(given: VectorAnswers) -> FloatArray:
    """For every answer, the mean of exp(−|a − b|² / |a|²|b|²) over the answers b of the task's other workers."""
    likeness = np.zeros(len(given.tasks))
    for size in np.unique(given.sizes[given.sizes > 1]).tolist():
        places = given.starts[given.sizes == size][:, None] + np.arange(size)
        vectors = given.vectors[places]
        squares = (vectors**2).sum(axis=2)
        products = vectors @ vectors.transpose(0, 2, 1)
        apart = np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * products, 0.0)
        both = squares[:, :, None] * squares[:, None, :]
        # A zero vector is only similar to another zero vector.
        ratio = np.divide(apart, both, out=np.where(apart > 0, np.inf, 0.0), where=both > 0)
        others = given.workers[places][:, :, None] != given.workers[places][:, None, :]
        likeness[places] = np.where(others, np.exp(-ratio), 0.0).sum(axis=2) / (size - 1)
    return likeness


def _text_likeness(given: VectorAnswers, texts: tuple[str, ...], similarity: Similarity) -> FloatArray:
    """Mean similarity of every answer to the answers of the task's other workers."""
    likeness = np.zeros(len(given.tasks))
    seen: dict[tuple[int, int], float] = {}
    codes, workers = given.answers.tolist(), given.workers.tolist()
    for start, size in zip(given.starts.tolist(), given.sizes.tolist(), strict=True):
        for answer in range(start, start + size) if size > 1 else ():
            total = 0.0
            for other in range(start, start + size):
                if workers[other] != workers[answer]:
                    pair = codes[answer], codes[other]
                    if pair not in seen:
                        seen[pair] = similarity(texts[pair[0]], texts[pair[1]])
                    total += seen[pair]
            likeness[answer] = total / (size - 1)
        seen.clear()
    return likeness
