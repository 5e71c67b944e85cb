"""Labels against gold labels of the same items: accuracy, F1, agreement, κ, false positives and false negatives.

With n items, of which g_c have label c by the expert, s_c by the system and h_c by both:

    agreement = accuracy = Σ h_c / n     κ = (agreement − e) / (1 − e),  e = Σ g_c s_c / n²
    F1 of c = 2 h_c / (g_c + s_c)        macro F1 = mean of F1 over all labels that occur
    false-positive rate of c = (s_c − h_c) / (n − g_c)        false-negative rate of c = (g_c − h_c) / g_c

Shares have the same numerators, over all n items. Agreement, rates and shares are fractions of independent items and
get Wilson's interval. κ, F1 and means over labels are functions of several fractions: their intervals are central
intervals of samples from the posterior of the table (Dirichlet) or of the rates (Beta). If items form clusters,
clusters are resampled instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, Statistics, ratio
from chorale.metrics.sampling import TOO_FEW, blocks, interval_of
from chorale.metrics.student import t_bound, wilson

RATES = ("false_positive_rate", "false_negative_rate")
SHARES = ("false_positive_share", "false_negative_share")
_TAIL = 0.025
_PRIOR = 4.0
"""Weight of the prior of κ in items, divided by the number of labels. The documentation reports simulated coverage."""
_FEWEST_OF_LABEL = 5
"""Minimum number of gold items per label for a valid interval of macro F1, by simulation."""
_MOST_CELLS = 1000
"""Maximum size of a table with a prior on empty cells. In larger tables, its weight per cell would be negligible."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """Confusion matrix of the expert's and the system's labels."""

    labels: tuple[str, ...]
    counts: FloatArray
    """Rows are labels of the expert, columns labels of the system."""

    @property
    def items(self) -> int:
        return int(self.counts.sum())

    def of_label(self, label: str) -> "Confusions":
        """The table of one label against all others."""
        place = self.labels.index(label)
        hit, gold, system = self.counts[place, place], self.counts[place].sum(), self.counts[:, place].sum()
        rest = self.counts.sum() - gold - system + hit
        return Confusions((label, "others"), np.array([[hit, gold - hit], [system - hit, rest]]))

    @property
    def agreement(self) -> float:
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def kappa(self) -> float | None:
        """None if expert and system gave all items the same label, because the expected agreement is then 1."""
        n = self.counts.sum()
        if float(self.counts.sum(axis=1) @ self.counts.sum(axis=0)) >= n * n:
            return None
        return float(_kappa(self.counts))

    @property
    def macro_f1(self) -> float:
        """Mean F1 over all labels that the expert or the system gave."""
        return float(_macro_f1(self.counts))

    def kappa_interval(self, resamples: int, seed: int) -> Interval:
        return self._posterior_interval(_kappa, self.kappa, resamples, seed)

    def macro_f1_interval(self, resamples: int, seed: int) -> Interval:
        """`TOO_FEW` if a label has too few gold items, because the interval would be too narrow."""
        gold = self.counts.sum(axis=1)
        if gold[gold > 0].min() < _FEWEST_OF_LABEL:
            return TOO_FEW
        return self._posterior_interval(_macro_f1, self.macro_f1, resamples, seed)

    def _posterior_interval(
        self, score: Callable[[FloatArray], FloatArray], value: float | None, resamples: int, seed: int
    ) -> Interval:
        """Central interval of a score over tables sampled from the posterior."""
        rng, size = np.random.default_rng(seed), self.counts.size
        cells = np.arange(size) if size <= _MOST_CELLS else np.flatnonzero(self.counts)
        weights = self.counts.reshape(-1)[cells] + _PRIOR / len(self.labels) / size
        drawn = []
        for block in blocks(resamples, size):
            tables = np.zeros((block, size))
            tables[:, cells] = rng.dirichlet(weights, size=block)
            drawn.append(score(tables.reshape(block, *self.counts.shape)))
        return _reaching(interval_of(np.concatenate(drawn)), value)


def _reaching(interval: Interval, value: float | None) -> Interval:
    """Extends the interval to include the score. The prior assumes some errors, so a perfect score would be outside."""
    return interval if value is None else Interval(min(interval.low, value), max(interval.high, value))


def _macro_f1(counts: FloatArray) -> FloatArray:
    gold, system = counts.sum(axis=-1), counts.sum(axis=-2)
    return _mean_f1(np.diagonal(counts, axis1=-2, axis2=-1), gold, system)


def _mean_f1(hits: FloatArray, gold: FloatArray, system: FloatArray) -> FloatArray:
    given = gold + system
    return ratio(ratio(2 * hits, given).sum(axis=-1), (given > 0).sum(axis=-1))


def _kappa(counts: FloatArray) -> FloatArray:
    n = counts.sum(axis=(-2, -1))
    gold, system = counts.sum(axis=-1), counts.sum(axis=-2)
    return _beyond_chance(np.trace(counts, axis1=-2, axis2=-1), gold, system, n)


def _beyond_chance(hits: FloatArray, gold: FloatArray, system: FloatArray, n: FloatArray) -> FloatArray:
    """κ, or 0 if undefined."""
    by_chance = (gold * system).sum(axis=-1)
    return ratio(n * hits - by_chance, n * n - by_chance)


@dataclass(frozen=True, slots=True)
class Fractions:
    """The fractions of one label, each as numerator and denominator."""

    parts: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, table: Confusions, label: str) -> "Fractions":
        (hit, missed), (wrong, rest) = table.of_label(label).counts.tolist()
        n = hit + missed + wrong + rest
        return cls(
            {
                "precision": (hit, hit + wrong),
                "recall": (hit, hit + missed),
                "f1": (2 * hit, 2 * hit + missed + wrong),
                "false_positive_rate": (wrong, wrong + rest),
                "false_negative_rate": (missed, hit + missed),
                "false_positive_share": (wrong, n),
                "false_negative_share": (missed, n),
            }
        )

    def values(self) -> dict[str, float | None]:
        """Each fraction as a number; None if its denominator is 0."""
        return {name: part / whole if whole else None for name, (part, whole) in self.parts.items()}

    def intervals(self) -> dict[str, Interval]:
        """Wilson intervals.

        F1 = 2 J / (1 + J). J is the number of items to which both give the label, divided by the number of items to
        which at least one of them gives it.
        """
        around = {name: fraction_interval(*of) for name, of in self.parts.items() if of[1]}
        if "f1" in around:
            twice, either = self.parts["f1"]
            jaccard = fraction_interval(twice / 2, either - twice / 2)
            around["f1"] = Interval(*(2 * end / (1 + end) for end in (jaccard.low, jaccard.high)))
        return around


def fraction_interval(part: float, whole: float) -> Interval:
    """Wilson interval of a fraction of independent items."""
    return Interval(*wilson(part / whole, whole, t_bound(_TAIL, inf)))


def mean_rates(table: Confusions) -> dict[str, float | None]:
    """Means over the labels with a defined rate."""
    means: dict[str, float | None] = {}
    for name, parts in _rates(table).items():
        means[name] = float((parts[:, 0] / parts[:, 1]).mean()) if len(parts) else None
    return means


def mean_rate_intervals(table: Confusions, resamples: int, seed: int) -> dict[str, Interval]:
    intervals = {}
    for name, parts in _rates(table).items():
        if len(parts):
            right, wrong = parts[:, 1] - parts[:, 0], parts[:, 0]
            # Jeffreys prior for two labels. With more labels, its total weight would cause a bias.
            prior = 1 / len(table.labels)
            drawn = np.random.default_rng(seed).beta(wrong + prior, right + prior, size=(resamples, len(parts)))
            intervals[name] = _reaching(interval_of(drawn.mean(axis=1)), float((parts[:, 0] / parts[:, 1]).mean()))
    return intervals


def _rates(table: Confusions) -> dict[str, FloatArray]:
    """For each rate, one row per label with numerator and denominator, without labels whose denominator is 0."""
    hits, gold, system = np.diagonal(table.counts), table.counts.sum(axis=1), table.counts.sum(axis=0)
    columns = {"false_positive_rate": (system - hits, table.items - gold), "false_negative_rate": (gold - hits, gold)}
    rates = {}
    for name, (part, whole) in columns.items():
        parts = np.column_stack([part, whole])
        rates[name] = parts[parts[:, 1] > 0]
    return rates


def label_statistics(
    items: Sequence[str], gold: Sequence[int], system: Sequence[int], labels: int, positive: int | None
) -> tuple[Statistics, Metric]:
    """Scores over items, and their rows: indicators of the expert's label, the system's label and a common label."""
    one_hot = np.eye(labels)
    by_gold, by_system = one_hot[np.asarray(gold)], one_hot[np.asarray(system)]
    rows = np.hstack([by_gold, by_system, by_gold * by_system])

    def formula(sums: FloatArray) -> dict[str, FloatArray]:
        of_gold, of_system, hits = np.split(sums, 3, axis=-1)
        n = of_gold.sum(axis=-1)
        rates = {
            "false_positive_rate": (of_system - hits, n[..., None] - of_gold),
            "false_negative_rate": (of_gold - hits, of_gold),
        }
        scores = {
            "accuracy": ratio(hits.sum(axis=-1), n),
            "macro_f1": _mean_f1(hits, of_gold, of_system),
            "agreement": ratio(hits.sum(axis=-1), n),
            "kappa": _beyond_chance(hits.sum(axis=-1), of_gold, of_system, n),
        }
        for name, (part, whole) in rates.items():
            each = ratio(part, whole)
            scores[name] = each[..., positive] if positive is not None else ratio(each.sum(-1), (whole > 0).sum(-1))
            if positive is not None:
                scores[name.replace("rate", "share")] = ratio(part[..., positive], n)
        return scores

    return Statistics(tuple(items), rows), Metric(formula)


def metric_of_label(place: int) -> Metric:
    """The fractions of one label, and its κ against all others, over the rows of `label_statistics`."""

    def parts(sums: FloatArray) -> dict[str, tuple[FloatArray, FloatArray]]:
        of_gold, of_system, hits = np.split(sums, 3, axis=-1)
        n, gold, system, hit = of_gold.sum(axis=-1), of_gold[..., place], of_system[..., place], hits[..., place]
        return {
            "precision": (hit, system),
            "recall": (hit, gold),
            "f1": (2 * hit, gold + system),
            "false_positive_rate": (system - hit, n - gold),
            "false_negative_rate": (gold - hit, gold),
            "false_positive_share": (system - hit, n),
            "false_negative_share": (gold - hit, n),
        }

    def formula(sums: FloatArray) -> dict[str, FloatArray]:
        of_gold, of_system, hits = np.split(sums, 3, axis=-1)
        n, gold, system, hit = of_gold.sum(axis=-1), of_gold[..., place], of_system[..., place], hits[..., place]
        both = n - gold - system + 2 * hit
        kappa = _beyond_chance(both, np.stack([gold, n - gold], -1), np.stack([system, n - system], -1), n)
        return {**{name: ratio(*one) for name, one in parts(sums).items()}, "kappa": kappa}

    def wholes(sums: FloatArray) -> dict[str, FloatArray]:
        """Denominators of the fractions. F1 is not a fraction of items."""
        return {name: whole for name, (_, whole) in parts(sums).items() if name != "f1"}

    return Metric(formula, wholes=wholes)
