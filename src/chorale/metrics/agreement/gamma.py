"""γ of Mathet, Widlöcher and Métivier (2015): agreement on the positions and categories of spans.

    γ = 1 − D_o / D_e

D_o is the disorder of the best alignment of all spans: its cost divided by the mean number of spans per person. D_e is
the disorder of random spans, sampled as in pygamma-agreement by default: numbers, gaps and lengths of spans from normal
distributions with the mean and deviation of the data, categories by their frequency. For several texts, costs and
numbers of spans are summed, and random spans use the means over all texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.aligning import Spans, least_cost
from chorale.metrics.agreement.distances import labelled_span, labels_as_sets
from chorale.metrics.agreement.result import NO_PAIRS, Agreement
from chorale.metrics.judgments import NOTHING, Judgments

_PRECISION = 0.02
"""Precision of the mean disorder of random spans, with 95% confidence."""
_FEWEST_SAMPLES, _MOST_SAMPLES = 30, 1_000
_SHORTEST = 1e-6


def gamma(judgments: Judgments, *, seed: int = 1) -> Agreement:
    """γ of spans, `start:end` or `start:end:category`. `seed` is for the random spans.

    >>> crowd = Judgments.from_columns(["t"] * 2, ["x", "y"], [["0:2:PER", "5:9:LOC"], ["0:2:PER", "5:8:LOC"]])
    >>> gamma(crowd).value > 0.9
    True
    """
    texts = _texts(judgments)
    judged = [(place, people) for place, people in enumerate(texts) if len(people) > 1]
    disagreement = np.full(len(texts), np.nan)
    if not judged:
        return Agreement("gamma", None, judgments, disagreement, undefined=NO_PAIRS)
    likely = _LikelySpans.of([people for _, people in judged])
    if likely is None:
        return Agreement("gamma", None, judgments, disagreement, undefined="nobody marked a span")
    rng = np.random.default_rng(seed)
    expected = {people: likely.disorder(people, rng) for people in sorted({len(people) for _, people in judged})}
    if not any(one.disorder for one in expected.values()):
        alike = "random spans have no disorder, because all spans have one length and begin at 0"
        return Agreement("gamma", None, judgments, disagreement, undefined=alike)
    rows = np.zeros((len(texts), 2))
    for place, people in judged:
        cost, spans = least_cost(people), _mean_spans(people)
        rows[place] = cost, spans * expected[len(people)].disorder
        disagreement[place] = cost / spans if spans else 0.0
    metric = Metric(lambda sums: {"value": 1 - ratio(sums[..., 0], sums[..., 1])})
    total = rows.sum(axis=0)
    samples = max(one.samples for one in expected.values())
    notes = (f"The expected disorder is the mean of {samples} random samples.",)
    value = float(1 - total[0] / total[1])
    return Agreement("gamma", value, judgments, disagreement, notes, _evidence=lambda: (rows, metric))


def _texts(judgments: Judgments) -> list[list[Spans]]:
    """The sorted spans of all annotators of every text."""
    marked = [
        sorted(labelled_span(option) for option in label) if label != {NOTHING} else []
        for label in labels_as_sets(judgments)
    ]
    codes = {name: code for code, name in enumerate(sorted({span[2] for spans in marked for span in spans}))}
    arrays = [
        np.array([(start, end, codes[name]) for start, end, name in spans], dtype=np.float64).reshape(-1, 3)
        for spans in marked
    ]
    texts: list[list[Spans]] = [[] for _ in judgments.task_names]
    for text, label in zip(judgments.tasks.tolist(), judgments.labels.tolist(), strict=True):
        texts[text].append(arrays[label])
    return texts


def _mean_spans(people: Sequence[Spans]) -> float:
    return sum(map(len, people)) / len(people)


@dataclass(frozen=True, slots=True)
class _Expected:
    disorder: float
    samples: int


@dataclass(frozen=True, slots=True)
class _LikelySpans:
    """Distribution of spans: means and deviations of numbers, gaps and lengths, and frequencies of categories."""

    counts: tuple[float, float]
    gaps: tuple[float, float]
    lengths: tuple[float, float]
    categories: FloatArray

    @classmethod
    def of(cls, texts: Sequence[Sequence[Spans]]) -> "_LikelySpans | None":
        people = [spans for text in texts for spans in text]
        spans = np.concatenate(people)
        if not len(spans):
            return None
        first = [each[:1, 0] for each in people]
        between = [each[1:, 0] - each[:-1, 1] for each in people]
        # The 0 matches pygamma-agreement, for data without gaps.
        gaps = np.concatenate([[0.0], *between, *(each[each > 0] for each in first)])
        return cls(
            _mean_and_deviation(np.array([len(each) for each in people], dtype=np.float64)),
            _mean_and_deviation(gaps),
            _mean_and_deviation(spans[:, 1] - spans[:, 0]),
            np.bincount(spans[:, 2].astype(np.intp)) / len(spans),
        )

    def disorder(self, people: int, rng: np.random.Generator) -> _Expected:
        """Mean disorder of random spans, with as many samples as the precision requires."""
        drawn = [self._one_disorder(people, rng) for _ in range(_FEWEST_SAMPLES)]
        if not any(drawn):
            return _Expected(0.0, _FEWEST_SAMPLES)
        variation = float(np.std(drawn) / np.mean(drawn))
        needed = min(_MOST_SAMPLES, ceil((1.96 * variation / _PRECISION) ** 2))
        drawn += [self._one_disorder(people, rng) for _ in range(needed - _FEWEST_SAMPLES)]
        return _Expected(float(np.mean(drawn)), len(drawn))

    def _one_disorder(self, people: int, rng: np.random.Generator) -> float:
        counts = np.abs(np.trunc(rng.normal(*self.counts, people))).astype(np.intp)
        # A sample without spans has no disorder, so the first person always has one.
        counts[0] = max(1, counts[0])
        drawn = [self._spans(count, rng) for count in counts.tolist()]
        return least_cost(drawn) / _mean_spans(drawn)

    def _spans(self, count: int, rng: np.random.Generator) -> Spans:
        gaps = rng.normal(*self.gaps, count)
        lengths = np.maximum(np.abs(rng.normal(*self.lengths, count)), _SHORTEST)
        ends = np.cumsum(gaps + lengths)
        categories = rng.choice(len(self.categories), count, p=self.categories)
        return np.column_stack([ends - lengths, ends, categories])


def _mean_and_deviation(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.mean()), float(values.std())
