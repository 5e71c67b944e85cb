"""Answers that are vectors, or have them: the one closest to what the workers of a task say together.

RASA: a task's vector is the mean of its answers', weighted by workers' reliability; a worker's reliability is a
quantile of the chi-square distribution of their number of answers, over the sum of squared distances of their answers
to the tasks' vectors. Both are repeated until the vectors have settled. HRRASA also weighs every answer by how much it
is like the task's other answers, as a vector and as a text.

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
"""The least sum of squared distances: a worker who is always right is not infinitely reliable."""
_TINY = 1e-10
_SAME = 1e-9
"""Distances closer than this are the same number computed in another order."""

Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, eq=False)
class VectorAnswers:
    """Answers in the order of task, answer, worker."""

    tasks: Index
    workers: Index
    answers: Index
    """Codes of what was answered; of equally close answers the first is taken."""
    vectors: FloatArray
    """A row per answer."""
    starts: Index
    """Where each task's answers begin."""
    task_count: int
    worker_count: int
    order: Index
    """Where each answer stood in the data."""

    @classmethod
    def of(cls, tasks: Index, workers: Index, answers: Index, vectors: FloatArray) -> Self:
        """From codes; every task and worker must have an answer."""
        if not len(tasks):
            raise ValueError("there are no answers to aggregate")
        if vectors.ndim != 2 or len(vectors) != len(tasks) or not np.isfinite(vectors).all():
            raise ValueError("every answer needs a vector of finite numbers, and all vectors the same length")
        order = np.lexsort((workers, answers, tasks))
        tasks, workers = tasks[order], workers[order]
        starts = np.flatnonzero(np.r_[True, tasks[1:] != tasks[:-1]])
        counts = int(tasks.max()) + 1, int(workers.max()) + 1
        return cls(tasks, workers, answers[order], vectors[order], starts, *counts, order)

    @property
    def sizes(self) -> Index:
        """How many answers each task has."""
        return np.asarray(np.diff(np.r_[self.starts, len(self.tasks)]))


@dataclass(frozen=True, slots=True, eq=False)
class Closest:
    """Which answer was chosen for each task, and how far each is from its task's vector."""

    chosen: Index
    """Of each task, the place of the answer among the answers as they were given."""
    distances: FloatArray
    """Of each answer as it was given."""
    vectors: FloatArray
    """Tasks × dimensions: what the workers say together."""
    reliability: FloatArray | None = None
    """Of each worker; NaN of those who met nobody else at any task."""
    weights: FloatArray | None = None
    """Of each answer as it was given, where every answer has its own."""
    iterations: int | None = None
    converged: bool = True


def closest_to_average(
    given: VectorAnswers,
    *,
    known: Mapping[int, FloatArray] | None = None,
    distance: Callable[[FloatArray, FloatArray], float] | None = None,
) -> Closest:
    """The answer closest to the mean of the task's vectors; `known` are true vectors of some tasks, by code.

    The distance is the cosine's, 1 − cos, unless a function of an answer's and a task's vector is given.
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
    """See the module. The tolerance is of the squared change of the tasks' vectors, as a share of their squares."""
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
    """See the module. `texts` are what the codes of answers stand for, which `similarity` compares two by two.

    A task with one answer has that answer, and says nothing about its worker.
    """
    _check(iterations, tolerance, alpha)
    alike = weight_of_vectors * _vector_likeness(given)
    if weight_of_texts and similarity is not None and texts is not None:
        alike = alike + weight_of_texts * _text_likeness(given, texts, similarity)
    return _settled(given, alike, iterations, tolerance, alpha, known, progress)


def ranks(given: VectorAnswers, result: Closest) -> FloatArray:
    """How good HRRASA takes every answer to be, in the order of the data: reliability of the worker and of the answer.

    NaN where a task has one answer.
    """
    if result.reliability is None or result.weights is None:
        raise ValueError("only hrrasa ranks answers")
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
    """Of every task's vectors, weighted; what is known stays what it is."""
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
    """The first place of each task that is chosen: ties go to the answer that sorts first."""
    places = np.where(chosen, np.arange(len(chosen)), len(chosen))
    return np.asarray(np.minimum.reduceat(places, starts))


def _vector_likeness(given: VectorAnswers) -> FloatArray:
    """Of every answer, the mean of exp(−|a − b|² / |a|²|b|²) over the task's other workers' answers b."""
    likeness = np.zeros(len(given.tasks))
    for size in np.unique(given.sizes[given.sizes > 1]).tolist():
        places = given.starts[given.sizes == size][:, None] + np.arange(size)
        vectors = given.vectors[places]
        squares = (vectors**2).sum(axis=2)
        products = vectors @ vectors.transpose(0, 2, 1)
        apart = np.maximum(squares[:, :, None] + squares[:, None, :] - 2 * products, 0.0)
        both = squares[:, :, None] * squares[:, None, :]
        # A vector of zeros is like another of zeros only.
        ratio = np.divide(apart, both, out=np.where(apart > 0, np.inf, 0.0), where=both > 0)
        others = given.workers[places][:, :, None] != given.workers[places][:, None, :]
        likeness[places] = np.where(others, np.exp(-ratio), 0.0).sum(axis=2) / (size - 1)
    return likeness


def _text_likeness(given: VectorAnswers, texts: tuple[str, ...], similarity: Similarity) -> FloatArray:
    """Of every answer, its mean similarity to the task's other workers' answers."""
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
