"""Accuracy of a frame classifier on FrameNet's annotated targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.kits.frames.baselines.classifier import FrameClassifier
from chorale.kits.frames.baselines.fulltext import TargetSentence, targets_in
from chorale.metrics import FloatArray, Metric, Statistics, ratio


@dataclass(frozen=True, slots=True, eq=False)
class FrameAccuracy:
    """Results for every target. A target whose frame is not among its candidates counts as wrong."""

    ids: tuple[str, ...]
    right: NDArray[np.bool_]
    usual: NDArray[np.bool_]
    """Whether the most frequent frame of the lexical unit would be correct."""
    several: NDArray[np.bool_]
    """Whether the lexical unit has more than one candidate."""

    @property
    def accuracy(self) -> float:
        return float(self.right.mean()) if len(self.right) else 0.0

    @property
    def ambiguous(self) -> int:
        return int(self.several.sum())

    def statistics(self) -> Statistics:
        columns = [self.right, np.ones(len(self.ids)), self.right & self.several, self.several]
        columns += [self.usual, self.usual & self.several]
        return Statistics(self.ids, np.column_stack(columns).astype(np.float64))

    @staticmethod
    def metric() -> Metric:
        def formula(sums: FloatArray) -> dict[str, FloatArray]:
            right, every, right_open, open_, usual, usual_open = np.moveaxis(sums, -1, 0)
            return {
                "accuracy": ratio(right, every),
                "ambiguous_accuracy": ratio(right_open, open_),
                "most_frequent": ratio(usual, every),
                "ambiguous_most_frequent": ratio(usual_open, open_),
            }

        return Metric(formula)


def measure(
    classifier: FrameClassifier, sentences: Sequence[TargetSentence], usual: Mapping[str, str] | None = None
) -> FrameAccuracy:
    """Accuracy on annotated sentences. `usual` maps each lexical unit to its most frequent frame."""
    ids, rows = [], []
    for (name, target), v in zip(targets_in(sentences), classifier.scores(sentences), strict=True):
        candidates = classifier.lexicon.candidates(target.unit)
        right = bool(candidates) and candidates[int(v.argmax())] == target.frame
        ids.append(name)
        rows.append((right, (usual or {}).get(target.unit) == target.frame, len(candidates) > 1))
    return FrameAccuracy(tuple(ids), *np.asarray(rows, dtype=np.bool_).reshape(-1, 3).T)
