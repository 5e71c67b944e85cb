"""Distances of labels to people's labels of the same items, summed over people, for many labels at once.

Two labels are compared with the same people, so sums can replace means, and sums of integers are exact: ties between
labels decide the test and must not depend on rounding.
"""

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.agreement.distances import DISTANCES, Distance, distances_between, labels_as_sets
from chorale.metrics.agreement.scales import numbers_of
from chorale.metrics.judgments import Codes, Judgments

CloseBy = Literal["accuracy", "rmse", "jaccard", "masi", "span", "ua-f1"]
"""Measures of closeness: equality, numerical difference, or a distance between sets or spans."""
_AT_ONCE = 2**20
"""Maximum number of pairs of judgments in memory."""


class Closeness(Protocol):
    """Distances to the labels of some people's judgments."""

    def sums(self, tasks: Codes, labels: Codes) -> FloatArray:
        """Sum of distances to all people's labels of each task, for each label."""
        ...

    def between(self, first: Codes, second: Codes) -> FloatArray:
        """Elementwise distance of two arrays of labels."""
        ...

    def expected(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Expected distance of two labels sampled independently with these probabilities, along the last axis."""
        ...


def closeness(people: Judgments, by: str | Distance) -> Closeness:
    """Distances to these people's labels. Raises `UnfitLabelError` for labels that do not fit."""
    if by == "accuracy":
        return _Same(people)
    if by == "rmse":
        return _Squared(people)
    if isinstance(by, str) and by not in DISTANCES:
        raise ValueError(f"closeness must be accuracy, rmse, {', '.join(DISTANCES)} or a function, not {by!r}")
    return _Tabled(people, distances_between(labels_as_sets(people), by))


class _Same:
    """0 if two labels are equal, otherwise 1."""

    def __init__(self, people: Judgments) -> None:
        self._width = max(1, len(people.label_names))
        self._keys, self._counts = np.unique(self._key(people.tasks, people.labels), return_counts=True)
        self._sizes = np.bincount(people.tasks, minlength=len(people.task_names))

    def sums(self, tasks: Codes, labels: Codes) -> FloatArray:
        keys = self._key(tasks, labels)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        same = np.where(self._keys[places] == keys, self._counts[places], 0)
        different: FloatArray = np.asarray(self._sizes[tasks] - same, dtype=np.float64)
        return different

    def between(self, first: Codes, second: Codes) -> FloatArray:
        return np.asarray(first != second, dtype=np.float64)

    def expected(self, first: FloatArray, second: FloatArray) -> FloatArray:
        return np.asarray(1 - (first * second).sum(axis=-1))

    def _key(self, tasks: Codes, labels: Codes) -> NDArray[np.int64]:
        return tasks.astype(np.int64) * self._width + labels


class _Squared:
    """Squared difference of two numbers. The sum gives the same order as the root mean square."""

    def __init__(self, people: Judgments) -> None:
        self._numbers = numbers_of(people.label_names, level="interval")
        said, tasks = self._numbers[people.labels], len(people.task_names)
        self._sizes = np.bincount(people.tasks, minlength=tasks)
        self._sums = np.bincount(people.tasks, said, minlength=tasks)
        self._squares = np.bincount(people.tasks, said * said, minlength=tasks)

    def sums(self, tasks: Codes, labels: Codes) -> FloatArray:
        number = self._numbers[labels]
        squared: FloatArray = (
            self._sizes[tasks] * number * number - 2 * number * self._sums[tasks] + self._squares[tasks]
        )
        return squared

    def between(self, first: Codes, second: Codes) -> FloatArray:
        difference = self._numbers[first] - self._numbers[second]
        return difference * difference

    def expected(self, first: FloatArray, second: FloatArray) -> FloatArray:
        numbers, squares = self._numbers, self._numbers**2
        return np.asarray(first @ squares + second @ squares - 2 * (first @ numbers) * (second @ numbers))


class _Tabled:
    """A table of distances between all labels."""

    def __init__(self, people: Judgments, table: FloatArray) -> None:
        order = np.argsort(people.tasks, kind="stable")
        self._table, self._labels = table, people.labels[order]
        self._starts = np.searchsorted(people.tasks[order], np.arange(len(people.task_names) + 1))

    def sums(self, tasks: Codes, labels: Codes) -> FloatArray:
        sizes = self._starts[tasks + 1] - self._starts[tasks]
        ends = np.cumsum(sizes)
        summed, first = np.zeros(len(tasks)), 0
        while first < len(tasks):
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
            part = slice(first, last)
            rows = np.repeat(np.arange(last - first), sizes[part])
            within = np.arange(len(rows)) - np.repeat(ends[part] - sizes[part] - before, sizes[part])
            others = self._labels[np.repeat(self._starts[tasks[part]], sizes[part]) + within]
            summed[part] = np.bincount(rows, self._table[labels[part][rows], others], minlength=last - first)
            first = last
        return summed

    def between(self, first: Codes, second: Codes) -> FloatArray:
        distances: FloatArray = self._table[first, second]
        return distances

    def expected(self, first: FloatArray, second: FloatArray) -> FloatArray:
        return np.asarray(((first @ self._table) * second).sum(axis=-1))
