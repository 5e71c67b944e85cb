"""Frame disambiguation with ambiguity: scores of a system against those of the crowd (Dumitrache, Aroyo and Welty,
2019).

Per sentence, over its candidates, where frames without a system score have 0:

    τ_b = (concordant − discordant) / √((n₀ − ties in one)·(n₀ − ties in the other)),   n₀ = n(n−1)/2
    cos = Σ crowd·system / √(Σ crowd² · Σ system²)

Over the corpus: the area under the curve of the values in descending order (trapezoidal rule, divided by the number of
sentences), and their mean weighted by sentence quality (SQS).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.frames.files.scores import FrameScores
from chorale.metrics import FloatArray, Metric, Statistics
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Constant = Literal["zero", "skip"]
"""Value of τ if all candidates have the same score: 0, or undefined."""

_AT_ONCE = 2**21
_TAU, _COSINE, _QUALITY = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class FrameAgreement:
    """Agreement of a system with the crowd, for each sentence."""

    sentences: tuple[str, ...]
    tau: FloatArray
    """NaN where undefined."""
    cosine: FloatArray
    quality: FloatArray | None
    candidates: NDArray[np.intp]
    """Number of candidates of each sentence."""
    constant: NDArray[np.bool_]
    """Whether all candidates of the sentence have the same score from the crowd or from the system."""
    without_score: int
    """Number of sentences where no candidate has a system score."""
    outside: int
    """Number of system scores for frames that are not candidates of the sentence."""
    unknown: int
    """Number of system sentences that the crowd has not annotated."""

    def __repr__(self) -> str:
        scores = (f"{name} {value:.4f}" for name, value in self.metric().scores(self.statistics()).items())
        return brief_repr("FrameAgreement", plural(len(self.sentences), "sentence", "sentences"), *scores)

    def statistics(self) -> Statistics:
        weights = np.zeros(len(self.tau)) if self.quality is None else self.quality
        return Statistics(self.sentences, np.column_stack([self.tau, self.cosine, weights]))

    def metric(self) -> Metric:
        """Scores over sentences. The weighted mean requires sentence quality."""
        kinds = {"tau": _TAU, "cosine": _COSINE}
        weighted = self.quality is not None

        def formula(rows: FloatArray) -> dict[str, float]:
            scores = {}
            for name, column in kinds.items():
                defined = rows[~np.isnan(rows[:, column])]
                values = defined[:, column]
                scores[f"{name}_auc"] = area(values)
                scores[f"{name}_mean"] = float(values.mean()) if len(values) else 0.0
                if weighted:
                    whole = defined[:, _QUALITY].sum()
                    scores[f"{name}_w_avg"] = float(values @ defined[:, _QUALITY] / whole) if whole else 0.0
            return scores

        return Metric(formula, additive=False)


def frame_agreement(
    gold: FrameScores, system: FrameScores, *, top: bool = False, constant: Constant = "zero"
) -> FrameAgreement:
    """Compares the scores of a system with those of the crowd, over the crowd's sentences.

    With `top`, only the system's highest frame counts, with score 1 (for ties, the first in alphabetical order). The
    crowd's own scores with `top` are the upper bound for systems with one frame per sentence.

    >>> crowd = FrameScores.from_columns(["s", "s", "s"], ["a", "b", "none"], [0.9, 0.6, 0.0])
    >>> agreement = frame_agreement(crowd, FrameScores.from_columns(["s"], ["a"]))
    >>> round(float(agreement.tau[0]), 4), round(float(agreement.cosine[0]), 4)
    (0.8165, 0.8321)
    """
    scores = _one_hot(system) if top else system
    given, outside, unknown = _over_candidates(gold, scores)
    edges = np.searchsorted(gold.sentence, np.arange(len(gold.sentences) + 1))
    many = np.diff(edges)
    tau, cosine = np.zeros(len(many)), np.zeros(len(many))
    constant_there = np.zeros(len(many), dtype=np.bool_)
    for size in np.unique(many).tolist():
        rows = np.flatnonzero(many == size)
        for some in np.array_split(rows, max(1, len(rows) * size**2 // _AT_ONCE)):
            place = edges[some][:, None] + np.arange(size)
            crowd, system_scores = gold.score[place], given[place]
            cosine[some] = cosines(crowd, system_scores)
            tau[some] = kendall_tau_b(crowd, system_scores)
            constant_there[some] = np.isnan(tau[some])
    tau[constant_there] = 0.0 if constant == "zero" else np.nan
    has_score = np.bincount(gold.sentence, weights=given, minlength=len(many)) > 0
    return FrameAgreement(
        sentences=gold.sentences,
        tau=tau,
        cosine=cosine,
        quality=gold.quality,
        candidates=many,
        constant=constant_there,
        without_score=int((~has_score).sum()),
        outside=outside,
        unknown=unknown,
    )


def kendall_tau_b(first: FloatArray, second: FloatArray) -> FloatArray:
    """τ_b between corresponding rows; NaN if a row is constant.

    >>> kendall_tau_b(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])).round(4).tolist()
    [0.3333]
    """
    left, right = np.triu_indices(first.shape[1], 1)
    signs = np.sign(first[:, left] - first[:, right]), np.sign(second[:, left] - second[:, right])
    agreed = (signs[0] * signs[1]).sum(axis=1)
    apart = np.sqrt(np.abs(signs[0]).sum(axis=1)) * np.sqrt(np.abs(signs[1]).sum(axis=1))
    tau = np.full(len(first), np.nan)
    np.divide(agreed, apart, out=tau, where=apart > 0)
    np.clip(tau, -1.0, 1.0, out=tau)
    return tau


def cosines(first: FloatArray, second: FloatArray) -> FloatArray:
    """Cosine of corresponding rows; 0 if a row is all 0."""
    # Scaled first, so that squares of very small and very large numbers are representable.
    first, second = (each / np.maximum(np.abs(each).max(axis=1, keepdims=True), 1e-300) for each in (first, second))
    product = (first * second).sum(axis=1)
    length = np.sqrt((first**2).sum(axis=1)) * np.sqrt((second**2).sum(axis=1))
    cosine = np.zeros(len(first))
    np.divide(product, length, out=cosine, where=length > 0)
    np.clip(cosine, -1.0, 1.0, out=cosine)
    return cosine


def area(values: FloatArray) -> float:
    """Area under the curve of the values in descending order (trapezoidal rule), divided by their number.

    For a single value, the value itself; for no values, 0.

    >>> round(area(np.array([0.2, 1.0, 0.6])), 3)
    0.4
    """
    if len(values) < 2:
        return float(values.sum())
    # Every value contributes half to two trapezoids, except the first and the last.
    return float((values.sum() - (values.max() + values.min()) / 2) / len(values))


def _one_hot(scores: FrameScores) -> FrameScores:
    order = np.lexsort((scores.frame, -scores.score, scores.sentence))
    first = order[np.r_[True, np.diff(scores.sentence[order]) != 0]]
    first = first[scores.score[first] > 0]
    return FrameScores(
        scores.sentences, scores.frames, scores.sentence[first], scores.frame[first], np.ones(len(first))
    )


def _over_candidates(gold: FrameScores, system: FrameScores) -> tuple[FloatArray, int, int]:
    """The system's score of every candidate, and the number of scores and sentences that match no candidate."""
    sentence = _places(system.sentences, gold.sentences)[system.sentence]
    frame = _places(system.frames, gold.frames)[system.frame]
    width = len(gold.frames)
    candidates = gold.sentence * width + gold.frame
    named = np.flatnonzero((sentence >= 0) & (frame >= 0))
    key = sentence[named] * width + frame[named]
    place = np.minimum(np.searchsorted(candidates, key), len(candidates) - 1)
    fits = candidates[place] == key
    given = np.zeros(len(candidates))
    given[place[fits]] = system.score[named[fits]]
    of_known = (sentence >= 0) & (system.score > 0)
    placed = np.count_nonzero(system.score[named[fits]] > 0)
    unknown = len(np.unique(system.sentence[sentence < 0]))
    return given, int(np.count_nonzero(of_known) - placed), unknown


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> NDArray[np.intp]:
    """Index of each name among the others, or −1."""
    place = {name: number for number, name in enumerate(among)}
    return np.fromiter((place.get(name, -1) for name in names), dtype=np.intp, count=len(names))
