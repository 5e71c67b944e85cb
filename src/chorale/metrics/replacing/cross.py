"""Agreement across two groups that judged the same items, beyond chance: κx of Wong, Paritosh and Aroyo (2021).

κx is 1 − d/e: d is the mean distance of the two groups' labels of an item, e that of their labels at large. Every item
weighs the same. Of two raters with one label each it is Cohen's κ.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray, Metric, Statistics
from chorale.metrics.judgments import Codes, Judgments
from chorale.metrics.replacing.closeness import Closeness

_MOST_NUMBERS = 2**25
"""Of a table with a row per item that is resampled."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """One rater's labels, and those of a group, on the items that both have."""

    items: tuple[str, ...]
    distances: FloatArray
    """Of the rater's label from the group's, item by item: the mean over the group."""
    first: Codes
    """The rater's labels."""
    shares: tuple[Codes, Codes, FloatArray]
    """The group's: item, label, and its share of the item's labels."""
    labels: int
    near: Closeness

    @property
    def value(self) -> float | None:
        expected = float(self.near.expected(*self._at_large()))
        return 1 - float(self.distances.mean()) / expected if len(self.items) and expected > 0 else None

    def statistics(self) -> tuple[Statistics, Metric] | None:
        """To resample items; None if there are too many labels for a table of them."""
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
    """A rater's label of every task (−1 for none) beside a group's judgments, to whose labels distances are."""
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
    """How often people gave a label where the rater gave another: label of the people, of the rater, count."""
    theirs = labels[group.tasks]
    kept = theirs >= 0
    width = max(1, len(group.label_names))
    keys, counts = np.unique(group.labels[kept].astype(np.int64) * width + theirs[kept], return_counts=True)
    names = group.label_names
    confused = [(names[key // width], names[key % width], int(count)) for key, count in zip(keys, counts, strict=True)]
    return sorted(confused, key=lambda row: (-row[2], row[0], row[1]))
