"""Chance-corrected agreement between two groups on the same items: κx of Wong, Paritosh and Aroyo (2021).

κx is 1 − d/e: d is the mean distance between the two groups' labels of an item, e between their labels of any items.
Every item has the same weight. For two raters with one label each, it is Cohen's κ.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray, Metric, Statistics
from chorale.metrics.judgments import Codes, Judgments
from chorale.metrics.replacing.closeness import Closeness

_MOST_NUMBERS = 2**25
"""Maximum size of a table with one row per resampled item."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """Labels of one rater and of a group on their common items."""

    items: tuple[str, ...]
    distances: FloatArray
    """Mean distance of the rater's label to the group's labels, per item."""
    first: Codes
    """The rater's labels."""
    shares: tuple[Codes, Codes, FloatArray]
    """Labels of the group: item, label, and its share of the item's labels."""
    labels: int
    near: Closeness

    @property
    def value(self) -> float | None:
        expected = float(self.near.expected(*self._at_large()))
        return 1 - float(self.distances.mean()) / expected if len(self.items) and expected > 0 else None

    def statistics(self) -> tuple[Statistics, Metric] | None:
        """Statistics for resampling items, or None if there are too many labels."""
        width = self.labels
        if len(self.items) * (2 * width + 1) > _MOST_NUMBERS:
            return None
        rows = np.zeros((len(self.items), 2 * width + 1))
        rows[:, 0] = self.distances
        rows[np.arange(len(self.items)), 1 + self.first] = 1
        items, labels, weights = self.shares
        rows[items, 1 + width + labels] = weights

        def formula(sums: FloatArray) -> Mapping[str, FloatArray]:
            parts = [sums[..., 1 : 1 + width], sums[..., 1 + width :]]
            count = parts[0].sum(axis=-1)
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = [part / count[..., None] for part in parts]
                return {"value": 1 - sums[..., 0] / count / self.near.expected(*shares)}

        return Statistics(self.items, rows), Metric(formula)

    def _at_large(self) -> tuple[FloatArray, FloatArray]:
        _, labels, weights = self.shares
        count = max(1, len(self.items))
        first = np.bincount(self.first, minlength=self.labels) / count
        return first, np.bincount(labels, weights, minlength=self.labels) / count


def crossed(group: Judgments, labels: Codes, near: Closeness) -> Crossed:
    """Compares a rater's labels (−1 for none) with a group's judgments."""
    tasks = len(group.task_names)
    sizes = np.bincount(group.tasks, minlength=tasks)
    common = np.flatnonzero((sizes > 0) & (labels >= 0)).astype(np.int32)
    place = np.full(tasks, -1)
    place[common] = np.arange(len(common))
    width = len(group.label_names)
    inside = group.tasks[place[group.tasks] >= 0], group.labels[place[group.tasks] >= 0]
    keys, counts = np.unique(inside[0].astype(np.int64) * width + inside[1], return_counts=True)
    items = place[keys // width] if width else keys
    distances = near.sums(common, labels[common]) / np.maximum(1, sizes[common])
    shares = (items, keys % max(1, width), counts / sizes[keys // max(1, width)])
    return Crossed(tuple(group.task_names[task] for task in common), distances, labels[common], shares, width, near)


def confusions(group: Judgments, labels: Codes) -> list[tuple[str, str, int]]:
    """Confusions: label of people, label of the rater, count."""
    theirs = labels[group.tasks]
    kept = theirs >= 0
    width = max(1, len(group.label_names))
    keys, counts = np.unique(group.labels[kept].astype(np.int64) * width + theirs[kept], return_counts=True)
    names = group.label_names
    confused = [(names[key // width], names[key % width], int(count)) for key, count in zip(keys, counts, strict=True)]
    return sorted(confused, key=lambda row: (-row[2], row[0], row[1]))
