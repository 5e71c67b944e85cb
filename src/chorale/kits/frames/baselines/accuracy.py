"""How often a classifier names the right frame of FrameNet's annotated targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.kits.frames.baselines.classifier import FrameClassifier
from chorale.kits.frames.baselines.fulltext import TargetSentence, targets_in
from chorale.metrics import FloatArray, Metric, Statistics, ratio

_RIGHT, _ALL, _RIGHT_OPEN, _OPEN, _USUAL, _USUAL_OPEN = range(6)


@dataclass(frozen=True, slots=True, eq=False)
class FrameAccuracy:
    """Target by target. A target whose frame is none of its unit's candidates counts, and counts as wrong."""

    ids: tuple[str, ...]
    right: NDArray[np.bool_]
    usual: NDArray[np.bool_]
    """Whether the unit's most frequent frame would be right."""
    several: NDArray[np.bool_]
    """Whether the unit has more than one candidate."""

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
            return {
                "accuracy": ratio(sums[..., _RIGHT], sums[..., _ALL]),
                "ambiguous_accuracy": ratio(sums[..., _RIGHT_OPEN], sums[..., _OPEN]),
                "most_frequent": ratio(sums[..., _USUAL], sums[..., _ALL]),
                "ambiguous_most_frequent": ratio(sums[..., _USUAL_OPEN], sums[..., _OPEN]),
            }

        return Metric(formula)


def measure(
    classifier: FrameClassifier, sentences: Sequence[TargetSentence], usual: Mapping[str, str] | None = None
) -> FrameAccuracy:
    """On annotated sentences; `usual` has the most frequent frame of each lexical unit."""
    named = []
    scores = iter(classifier.scores(sentences))
    targets = list(targets_in(sentences))
    for _, target in targets:
        v = next(scores)
        candidates = classifier.lexicon.candidates(target.unit)
        named.append(candidates[int(v.argmax())] if candidates else None)
    return FrameAccuracy(
        tuple(name for name, _ in targets),
        np.asarray([name == target.frame for name, (_, target) in zip(named, targets, strict=True)], dtype=np.bool_),
        np.asarray([(usual or {}).get(target.unit) == target.frame for _, target in targets], dtype=np.bool_),
        np.asarray([len(classifier.lexicon.candidates(target.unit)) > 1 for _, target in targets], dtype=np.bool_),
    )
