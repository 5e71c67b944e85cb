"""Krippendorff's α: any number of people, missing judgments, any distance between values.

    α = 1 − D_o / D_e

D_o is the mean distance between two judgments of one item, D_e that between any two judgments at all (Krippendorff
2011, Computing Krippendorff's alpha-reliability). With n_uc the number of times value c was given to item u, n_u the
number of judgments of the item, n_c of the value, and n of all (for items judged at least twice):

    D_o = 1/n · Σ_u 1/(n_u − 1) · Σ_ck n_uc n_uk δ_ck        D_e = 1/(n(n − 1)) · Σ_ck n_c n_k δ_ck

Both are computed from counts of values, without a table of pairs of judgments.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from chorale.metrics import FloatArray, Metric
from chorale.metrics.agreement.counts import (
    ValueCounts,
    by_number,
    evidence_of,
    pairwise,
    sums_at,
    value_counts,
)
from chorale.metrics.agreement.distances import Distance, distances_between, labels_as_sets
from chorale.metrics.agreement.result import NO_PAIRS, Agreement, Evidence, one_value
from chorale.metrics.agreement.scales import LEVELS, Level, numbers_of, ranks_of
from chorale.metrics.judgments import Judgments

_BLOCK = 2**22
_FEW_RANKS = 16
"""Maximum number of values for which all pairs are counted."""


class _Scale(Protocol):
    """Distances between values, in the two sums that α needs. The last axis of totals is the values."""

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:
        """Σ_ck n_uc n_uk δ_ck for every item."""
        ...

    def among(self, totals: FloatArray) -> FloatArray:
        """Σ_ck n_c n_k δ_ck."""
        ...


class _Names:
    """δ is 0 for equal values, otherwise 1."""

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:  # noqa: ARG002 - the shape of all scales
        return counts.sizes**2 - counts.by_item(counts.counts**2)

    def among(self, totals: FloatArray) -> FloatArray:
        return np.asarray(totals.sum(axis=-1) ** 2 - (totals**2).sum(axis=-1))


class _Numbers:
    """δ is the squared difference of the values."""

    def __init__(self, values: FloatArray) -> None:
        # Centring keeps distances and preserves the precision of sums of squares.
        self.values = values - values.mean() if len(values) else values

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        return _spread(counts, self.values)

    def among(self, totals: FloatArray) -> FloatArray:
        return _square_differences(totals.sum(axis=-1), totals @ self.values, totals @ self.values**2)


class _Ranks:
    """δ is the squared difference of mean ranks, which depend on all judgments."""

    def __init__(self, places: FloatArray) -> None:
        self.order = places.astype(np.intp)

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:
        return _spread(counts, self._ranks(totals))

    def among(self, totals: FloatArray) -> FloatArray:
        return _Numbers(self._ranks(totals)).among(totals)

    def _ranks(self, totals: FloatArray) -> FloatArray:
        return self._means(sums_at(self.order, totals, 0))

    def ranks_of_each(self, totals: FloatArray) -> FloatArray:
        """The ranks for every row of totals. Needs a table of values × values, so values must be few."""
        return self._means(totals @ (self.order[:, None] == np.arange(self.order.max(initial=0) + 1)))

    def _means(self, at_place: FloatArray) -> FloatArray:
        ranks: FloatArray = (np.cumsum(at_place, axis=-1) - at_place / 2)[..., self.order]
        return ranks


class _Ratios:
    """δ is ((c − k) / (c + k))², 0 for two zeros."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values

    def _between(self, values: FloatArray, others: FloatArray) -> FloatArray:
        whole = values + others
        part = np.divide(values - others, whole, out=np.zeros(whole.shape), where=whole != 0)
        return part**2

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        return pairwise(counts, lambda value, other: self._between(self.values[value], self.values[other]))

    def among(self, totals: FloatArray) -> FloatArray:
        sums = np.zeros(totals.shape[:-1])
        step = max(1, _BLOCK // max(1, len(self.values)))
        for start in range(0, len(self.values), step):
            block = slice(start, start + step)
            table = self._between(self.values[block, None], self.values[None, :])
            sums += np.sum((totals @ table.T) * totals[..., block], axis=-1)
        return sums


class _DistanceTable:
    """δ is given as a table."""

    def __init__(self, table: FloatArray) -> None:
        self.table = table

    def within(self, counts: ValueCounts, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        return pairwise(counts, lambda value, other: self.table[value, other])

    def among(self, totals: FloatArray) -> FloatArray:
        return np.asarray(np.sum((totals @ self.table) * totals, axis=-1))


def krippendorff_alpha(
    judgments: Judgments,
    *,
    level: Level = "nominal",
    distance: str | Distance | None = None,
    order: Sequence[str] | None = None,
) -> Agreement:
    """α at a level of measurement, or with a distance: a name of `DISTANCES` or a custom function.

    At the ordinal level, `order` lists the labels from lowest to highest; numbers need no order.

    >>> crowd = Judgments.from_columns(list("aabbcc"), list("xyxyxy"), [1, 1, 2, 2, 3, 1])
    >>> round(krippendorff_alpha(crowd).value, 4), round(krippendorff_alpha(crowd, level="interval").value, 4)
    (0.5455, 0.0)
    """
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}. Use one of {', '.join(LEVELS)}")
    scale = _scale(judgments, level, distance, order)
    counts = value_counts(judgments)
    totals = counts.totals
    within = scale.within(counts, totals)
    disagreement = np.full(counts.n_items, np.nan)
    np.divide(within, counts.sizes * (counts.sizes - 1), out=disagreement, where=counts.pairable)
    if not counts.pairable.any():
        return Agreement("alpha", None, judgments, disagreement, undefined=NO_PAIRS)
    expected = float(scale.among(totals))
    if expected <= 0:
        return Agreement("alpha", None, judgments, disagreement, undefined=one_value(judgments))
    observed = _per_item(counts, within)
    value = float(_alpha(observed.sum(), totals.sum(), expected))
    return Agreement("alpha", value, judgments, disagreement, _evidence=_evidence(scale, counts, observed))


def _scale(judgments: Judgments, level: Level, distance: str | Distance | None, order: Sequence[str] | None) -> _Scale:
    if distance is not None:
        if level != "nominal":
            raise ValueError("a level and a distance cannot be combined")
        return _DistanceTable(distances_between(labels_as_sets(judgments), distance))
    if level == "nominal":
        return _Names()
    if level == "ordinal":
        return _Ranks(ranks_of(judgments.label_names, order, purpose="ordinal values"))
    numbers = numbers_of(judgments.label_names, level=level)
    return _Numbers(numbers) if level == "interval" else _Ratios(numbers)


def _spread(counts: ValueCounts, values: FloatArray) -> FloatArray:
    """For every item Σ_ck n_uc n_uk (x_c − x_k)², which is 2 n_u Σ_c n_uc (x_c − mean of the item)²."""
    numbers = values[counts.values]
    sums = counts.by_item(counts.counts * numbers)
    means = np.divide(sums, counts.sizes, out=np.zeros(counts.n_items), where=counts.pairable)
    spread = counts.by_item(counts.counts * (numbers - means[counts.items]) ** 2)
    return 2 * counts.sizes * spread


def _square_differences(n: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Σ over all ordered pairs of (x − y)², from their number, Σx and Σx²."""
    whole = n * squares
    half = whole - sums**2
    # For equal numbers, the remainder is only rounding.
    return np.asarray(np.where(half > 1e-12 * whole, 2 * half, 0.0))


def _per_item(counts: ValueCounts, within: FloatArray) -> FloatArray:
    observed = np.zeros(counts.n_items)
    return np.divide(within, counts.sizes - 1, out=observed, where=counts.pairable)


def _alpha(observed: FloatArray, n: FloatArray, expected: FloatArray | float) -> FloatArray:
    """1 − (n − 1) · observed / expected; 0 if the expected disagreement is 0."""
    expected = np.asarray(expected)
    share = np.divide((n - 1) * observed, expected, out=np.ones(np.shape(observed)), where=expected > 0)
    return 1 - share


def _evidence(scale: _Scale, counts: ValueCounts, observed: FloatArray) -> Evidence:
    def made() -> tuple[FloatArray, Metric]:
        if isinstance(scale, _Numbers):
            return _of_numbers(scale, counts, observed)
        if isinstance(scale, _Ranks):
            if counts.n_values <= _FEW_RANKS:
                return _of_few_ranks(scale, counts)
            return by_number(counts.n_items, lambda drawn: _of_drawn_ranks(scale, counts, drawn))
        return evidence_of(
            observed[:, None],
            counts,
            lambda own, totals: _alpha(own[..., 0], totals.sum(axis=-1), scale.among(totals)),
        )

    return made


def _of_numbers(scale: _Numbers, counts: ValueCounts, observed: FloatArray) -> tuple[FloatArray, Metric]:
    numbers = scale.values[counts.values]
    sums, squares = counts.by_item(counts.counts * numbers), counts.by_item(counts.counts * numbers**2)

    def formula(of: FloatArray) -> dict[str, FloatArray]:
        expected = _square_differences(of[..., 1], of[..., 2], of[..., 3])
        return {"value": _alpha(of[..., 0], of[..., 1], expected)}

    return np.column_stack([observed, counts.sizes, sums, squares]), Metric(formula)


def _of_few_ranks(scale: _Ranks, counts: ValueCounts) -> tuple[FloatArray, Metric]:
    """Rank distances depend on the sample, but co-occurrence counts of values within items do not and can be summed."""
    table = counts.dense()
    lower, upper = np.triu_indices(counts.n_values, k=1)
    met = table[:, lower] * table[:, upper] / np.maximum(counts.sizes - 1, 1)[:, None]

    def formula(sums: FloatArray) -> dict[str, FloatArray]:
        totals, observed = sums[..., : counts.n_values], sums[..., counts.n_values :]
        ranks = scale.ranks_of_each(totals)
        distances = (ranks[..., lower] - ranks[..., upper]) ** 2
        expected = (totals[..., lower] * totals[..., upper] * distances).sum(axis=-1)
        return {"value": _alpha((observed * distances).sum(axis=-1), totals.sum(axis=-1), expected)}

    return np.hstack([table, met]), Metric(formula)


def _of_drawn_ranks(scale: _Ranks, counts: ValueCounts, drawn: FloatArray) -> FloatArray:
    totals = counts.drawn_totals(drawn)
    observed = _per_item(counts, scale.within(counts, totals))
    return _alpha(drawn @ observed, totals.sum(), scale.among(totals))
