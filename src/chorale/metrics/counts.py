"""Precision, recall and F1 from counts, with a consistent definition of 0/0."""

from dataclasses import dataclass

import numpy as np

from chorale.metrics.statistics import FloatArray, Metric


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """`part / whole`, or 0 if the whole is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole != 0)


def f1_of(precision: FloatArray, recall: FloatArray) -> FloatArray:
    """The harmonic mean of precision and recall; 0 if both are 0."""
    return ratio(2 * np.asarray(precision) * recall, np.asarray(precision) + recall)


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives."""

    tp: int
    fp: int
    fn: int

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn) if self.tp else 0.0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    def as_dict(self) -> dict[str, float]:
        """Counts and fractions under the names that `--json` prints."""
        return {name: getattr(self, name) for name in ("tp", "fp", "fn", "precision", "recall", "f1")}


def counts_metric() -> Metric:
    """Precision, recall and F1 over three columns: true positives, false positives, false negatives."""
    return Metric(of_counts, wholes=wholes_of_counts)


def of_counts(sums: FloatArray) -> dict[str, FloatArray]:
    """Precision, recall and F1 from sums of true positives, false positives and false negatives."""
    tp, fp, fn = sums[..., 0], sums[..., 1], sums[..., 2]
    return {"precision": ratio(tp, tp + fp), "recall": ratio(tp, tp + fn), "f1": ratio(2 * tp, 2 * tp + fp + fn)}


def wholes_of_counts(sums: FloatArray) -> dict[str, FloatArray]:
    """Denominators of precision, recall and F1."""
    tp, fp, fn = sums[..., 0], sums[..., 1], sums[..., 2]
    return {"precision": tp + fp, "recall": tp + fn, "f1": 2 * tp + fp + fn}
