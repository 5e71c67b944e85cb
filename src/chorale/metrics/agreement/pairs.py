"""All pairs of people with common items: percent agreement, Cohen's κ and Scott's π.

    κ = 1 − Σ w_ab p_ab / Σ w_ab p_a. p_.b        π = (p_o − Σ p_c²) / (1 − Σ p_c²)

p_ab is the fraction of items labelled a by the first and b by the second person. w_ab is 0 for equal labels and
otherwise 1; with weights it is the distance of the labels in ranks, or its square (Cohen 1960, 1968). For π, p_c is the
share of label c among all judgments of both (Scott 1955); Fleiss' κ generalises it to any number of people.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.agreement.counts import by_number, sums_at
from chorale.metrics.agreement.result import NO_PAIRS, Agreement
from chorale.metrics.agreement.scales import WEIGHTS, Weights, ranks_of
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.model.plural import plural

MOST_PAIRS = 50_000_000
"""Maximum number of pairs of judgments in memory."""
_ALIKE = "both workers always gave the same single label"
_BLOCK = 2**22
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two people, over the items that both judged."""

    first: str
    second: str
    common: int
    percent: float
    """Fraction of items with the same label."""
    kappa: float | None
    """None if both gave the same single label throughout, so that expected agreement is 1."""
    pi: float | None

    def as_dict(self) -> dict[str, list[str] | float | None]:
        return {
            "workers": [self.first, self.second],
            "common": self.common,
            "percent": self.percent,
            "kappa": self.kappa,
            "pi": self.pi,
        }


def agreement_of_pairs(
    judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None
) -> tuple[RaterPair, ...]:
    """All pairs of people with common items, by name. κ is weighted if requested; percent and π never are."""
    table = PairTable(judgments, weights, order)
    ones = np.ones(len(judgments.task_names))
    kappa, pi = table.coefficients(ones, "kappa"), table.coefficients(ones, "pi")
    names = judgments.worker_names
    return tuple(
        RaterPair(names[first], names[second], int(common), float(percent), _defined(of_kappa), _defined(of_pi))
        for first, second, common, percent, of_kappa, of_pi in zip(
            *table.workers, table.common, table.same / table.common, kappa, pi, strict=True
        )
    )


def cohen_kappa(
    judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None, min_common: int = 1
) -> Agreement:
    """Cohen's κ; for more than two people, the mean over all pairs with at least `min_common` common items.

    With weights, labels are in the given order or in numerical order. Ranks are over the labels of all people.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yynnynnn"))
    >>> cohen_kappa(two).value
    0.5
    """
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}. Use one of {', '.join(WEIGHTS)}")
    table = PairTable(judgments, weights, order)
    kappas = partial(table.coefficients, metric="kappa")
    return mean_over_pairs(
        judgments, "kappa", table.common, kappas, min_common, undefined=_all_alike(judgments), left_out=_ALIKE
    )


def scott_pi(judgments: Judgments, *, min_common: int = 1) -> Agreement:
    """Scott's π; for more than two people, the mean over all pairs with at least `min_common` common items.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yynnynnn"))
    >>> round(scott_pi(two).value, 4)
    0.4667
    """
    table = PairTable(judgments, "none", None)
    pis = partial(table.coefficients, metric="pi")
    return mean_over_pairs(
        judgments, "pi", table.common, pis, min_common, undefined=_all_alike(judgments), left_out=_ALIKE
    )


def mean_over_pairs(
    judgments: Judgments,
    metric: str,
    common: Ints,
    coefficients: Callable[[FloatArray], FloatArray],
    min_common: int,
    *,
    undefined: str,
    left_out: str,
) -> Agreement:
    """Unweighted mean of a coefficient over pairs with enough common items where it is defined.

    `coefficients` computes all pairs for given sampling counts of items; NaN where undefined. `undefined` is the reason
    if the coefficient is undefined for all pairs, `left_out` the reason for leaving out a single pair.
    """
    if min_common < 1:
        raise ValueError("no two people have a common item")
    if not len(common):
        return Agreement(metric, None, judgments, undefined=NO_PAIRS)
    chosen = common >= min_common
    if not chosen.any():
        return Agreement(metric, None, judgments, undefined=f"no two people have {min_common} items in common")

    def value(drawn: FloatArray) -> FloatArray:
        return _mean(coefficients(drawn)[chosen])

    of_pairs = coefficients(np.ones(len(judgments.task_names)))[chosen]
    notes = _notes(of_pairs, len(chosen), min_common, left_out)
    if np.isnan(of_pairs).all():
        return Agreement(metric, None, judgments, notes=notes, undefined=undefined)
    return Agreement(
        metric,
        float(_mean(of_pairs)),
        judgments,
        notes=notes,
        _evidence=lambda: by_number(len(judgments.task_names), value),
    )


def _mean(values: FloatArray) -> FloatArray:
    """Mean of defined values; 0 if there are none."""
    known = values[~np.isnan(values)]
    return np.asarray(known.mean() if len(known) else 0.0)


def _notes(coefficients: FloatArray, pairs: int, min_common: int, why: str) -> tuple[str, ...]:
    notes = []
    defined = int(np.count_nonzero(~np.isnan(coefficients)))
    if pairs > 1:
        notes.append(f"The value is the mean over {plural(defined, 'pair', 'pairs')} of workers.")
    if pairs > len(coefficients):
        notes.append(f"Pairs left out with fewer than {min_common} common items: {pairs - len(coefficients):,}.")
    undefined = len(coefficients) - defined
    if undefined and defined:
        notes.append(f"Pairs left out because {why}: {undefined:,}.")
    return tuple(notes)


def _all_alike(judgments: Judgments) -> str:
    labels = {judgments.label_names[code] for code in codes_in_use(judgments.labels)}
    if len(labels) == 1:
        return f"everybody always gave the label {labels.pop()!r}"
    return f"in every pair, {_ALIKE}"


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class PairTable:
    """The common items of all pairs of people, with both labels."""

    def __init__(self, judgments: Judgments, weights: Weights, order: Sequence[str] | None) -> None:
        self.weights = weights
        self._n_labels = len(judgments.label_names)
        items, first, second = _met(judgments)
        labels = judgments.labels
        places = labels.astype(np.int64)
        if weights != "none":
            ranks = ranks_of(judgments.label_names, order, purpose="weights")
            places = ranks.astype(np.int64)[labels]
            self._n_labels = int(ranks.max()) + 1 if len(ranks) else 0
        n_workers = max(1, len(judgments.worker_names))
        keys = judgments.workers[first].astype(np.int64) * n_workers + judgments.workers[second]
        in_order = np.argsort(keys, kind="stable")
        pairs, self._starts = np.unique(keys[in_order], return_index=True)
        self.workers = np.divmod(pairs, n_workers)
        self._items = items[in_order]
        self._first, self._second = places[first][in_order], places[second][in_order]
        self.common = np.diff(np.r_[self._starts, len(keys)])
        self._pair = np.repeat(np.arange(len(pairs)), self.common)
        self._same = (labels[first] == labels[second])[in_order]
        self.same = self._sums(self._same.astype(np.float64))

    def labels_of(self, pair: int) -> tuple[Ints, Ints]:
        """The items of a pair, with the ranks of both labels and whether they are equal."""
        start = self._starts[pair]
        rows = slice(start, start + self.common[pair])
        places = np.column_stack([self._first[rows], self._second[rows], self._same[rows]])
        return self._items[rows], places.astype(np.int64)

    def rows(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Common items by pair: items, pair numbers, and the ranks of both labels."""
        return self._items, self._pair, self._first, self._second

    def _sums(self, values: FloatArray) -> FloatArray:
        return sums_at(self._pair, values, len(self.common))

    @cached_property
    def _distances(self) -> FloatArray:
        apart: FloatArray = np.abs(self._first - self._second).astype(np.float64)
        if self.weights == "none":
            return (apart > 0).astype(np.float64)
        return apart if self.weights == "linear" else apart**2

    def coefficients(self, drawn: FloatArray, metric: str) -> FloatArray:
        """κ or π of every pair for given sampling counts of items; NaN where undefined.

        Both are 1 − observed/expected disagreement. The expected disagreement follows from each person's own label
        shares (κ) or from the pair's common ones (π).
        """
        taken = drawn[self._items]
        n = self._sums(taken)
        if metric == "pi":
            # π has no weights, so only equality of labels matters.
            observed = self._sums(taken * (self._first != self._second))
        else:
            observed = self._sums(taken * self._distances)
        expected = np.concatenate([self._expected(*block, metric) for block in self._blocks(taken)] or [np.zeros(0)])
        shares: FloatArray = np.full(len(n), np.nan)
        np.divide(observed * n, expected, out=shares, where=expected > 0)
        return 1 - shares

    def _blocks(self, taken: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Label counts of both people, in blocks of pairs that fit into memory."""
        step = max(1, _BLOCK // max(1, self._n_labels))
        for start in range(0, len(self.common), step):
            stop = min(start + step, len(self.common))
            rows = slice(self._starts[start], self._starts[stop] if stop < len(self._starts) else None)
            base = (self._pair[rows] - start) * self._n_labels
            size, shape = (stop - start) * self._n_labels, (stop - start, self._n_labels)
            first = sums_at(base + self._first[rows], taken[rows], size).reshape(shape)
            second = sums_at(base + self._second[rows], taken[rows], size).reshape(shape)
            yield first, second

    def _expected(self, first: FloatArray, second: FloatArray, metric: str) -> FloatArray:
        """n² times the expected disagreement."""
        n = first.sum(axis=1)
        if metric == "pi":
            return np.asarray(n**2 - ((first + second) ** 2).sum(axis=1) / 4)
        if self.weights == "none":
            return np.asarray(n**2 - (first * second).sum(axis=1))
        if self.weights == "quadratic":
            places = np.arange(self._n_labels, dtype=np.float64)
            squares = (first + second) @ places**2
            return np.asarray(n * squares - 2 * (first @ places) * (second @ places))
        below_first, below_second = np.cumsum(first, axis=1), np.cumsum(second, axis=1)
        whole = n[:, None]
        # |a − b| is the number of steps between two ranks, counted step by step.
        return np.asarray((below_first * (whole - below_second) + below_second * (whole - below_first)).sum(axis=1))


def _met(judgments: Judgments) -> tuple[Ints, Ints, Ints]:
    """The items, and the two judgments, of every pair of judgments of one item by two people, lower worker first."""
    order = np.lexsort((judgments.workers, judgments.tasks))
    tasks, workers = judgments.tasks[order], judgments.workers[order]
    sizes = np.bincount(judgments.tasks).astype(np.int64)
    if (sizes * (sizes - 1) // 2).sum() > MOST_PAIRS:
        message = f"there are more than {MOST_PAIRS:,} pairs of judgments of the same item. Use alpha or fleiss instead"
        raise ValueError(message)
    ones, others = [], []
    for lag in range(1, int(sizes.max(initial=0))):
        first = np.flatnonzero((tasks[:-lag] == tasks[lag:]) & (workers[:-lag] != workers[lag:]))
        ones.append(first)
        others.append(first + lag)
    first = np.concatenate(ones) if ones else np.zeros(0, dtype=np.int64)
    second = np.concatenate(others) if others else np.zeros(0, dtype=np.int64)
    return tasks[first].astype(np.int64), order[first], order[second]
