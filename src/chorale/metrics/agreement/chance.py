"""Gwet's AC1 and AC2, Brennan and Prediger's coefficient, and Fleiss' κ as Gwet extends it to missing data.

    θ = (P_a − P_e) / (1 − P_e)

P_a is the fraction of agreeing pairs, averaged over items with two or more judgments; with weights, a pair of labels
agrees to the degree w_kl. π_k is the share of label k among an item's judgments, averaged over all items, so each item
counts once. With q labels and T the sum of all weights,

    Gwet              P_e = T / (q (q − 1)) · Σ π_k (1 − π_k)      (Gwet 2008; with weights AC2)
    Brennan–Prediger  P_e = T / q²                                 (Brennan and Prediger 1981)
    Fleiss            P_e = Σ w_kl π_k π_l                         (Fleiss 1971; Gwet 2014 for missing data)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np

from chorale.metrics import FloatArray, ratio
from chorale.metrics.agreement.counts import Places, ValueCounts, evidence_of, pairwise, value_counts
from chorale.metrics.agreement.result import NO_PAIRS, Agreement, one_value
from chorale.metrics.agreement.scales import WEIGHTS, Weights, ranks_of
from chorale.metrics.judgments import Judgments, codes_in_use

_FEWEST_ITEMS, _FEWEST_PAIRS = 10, 25
"""Minimum number of items, and of pairs of judgments of the same item over all items, for an interval of a weighted
coefficient. With fewer, large distances may be missing from the data.
"""
ByChance = Callable[[FloatArray], FloatArray]
"""Computes 1 − P_e from the label propensities. The last axis is the labels."""


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The possible labels, and their distances."""

    judgments: Judgments
    """Judgments with labels coded by their index among the categories."""
    weights: Weights

    @property
    def count(self) -> int:
        return len(self.judgments.label_names)

    def apart(self, first: Places, second: Places) -> FloatArray:
        """1 − w_kl."""
        steps: FloatArray = np.abs(first - second).astype(np.float64)
        if self.weights == "none":
            return np.minimum(steps, 1.0)
        steps /= max(1, self.count - 1)
        return steps if self.weights == "linear" else steps**2

    def table(self) -> FloatArray:
        places = np.arange(self.count)
        return self.apart(places[:, None], places[None, :])

    def expected_apart(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Σ (1 − w_kl) a_k b_l for every row of both."""
        if self.weights == "none":
            return np.asarray(first.sum(axis=-1) * second.sum(axis=-1) - (first * second).sum(axis=-1))
        return np.asarray(((first @ self.table()) * second).sum(axis=-1))


def categories_of(judgments: Judgments, weights: Weights, order: Sequence[str] | None) -> Categories:
    """The labels in `order`; without an order, the labels that occur, sorted as numbers if there are weights."""
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}. Use one of {', '.join(WEIGHTS)}")
    names = judgments.label_names
    if weights != "none" or order is not None:
        used = codes_in_use(judgments.labels)
        given = [names[code] for code in used]
        ranks = ranks_of(given, order, purpose="weights").astype(np.int32)
        places = np.zeros(len(names), dtype=np.int32)
        places[used] = ranks
        if order is None:
            listed = tuple(given[int(np.argmax(ranks == place))] for place in range(int(ranks.max(initial=-1)) + 1))
        else:
            listed = tuple(order)
        judgments = replace(judgments, labels=places[judgments.labels], label_names=listed, options=listed, sets=None)
    elif len(used := codes_in_use(judgments.labels)) < len(names):
        places = np.zeros(len(names), dtype=np.int32)
        places[used] = np.arange(len(used))
        listed = tuple(names[code] for code in used)
        judgments = replace(judgments, labels=places[judgments.labels], label_names=listed, options=listed, sets=None)
    return Categories(judgments, weights)


def gwet_ac(judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None) -> Agreement:
    """AC1, or AC2 with weights. `order` lists all possible labels from lowest to highest.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yyynyyyy"))
    >>> round(gwet_ac(two).value, 4)
    0.68
    """

    def by_chance(categories: Categories) -> ByChance:
        q = categories.count
        every = (q**2 - categories.table().sum()) / max(1, q * (q - 1))
        return lambda shares: 1 - every * (shares * (1 - shares)).sum(axis=-1)

    return _coefficient("gwet", judgments, weights, order, by_chance)


def brennan_prediger(
    judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None
) -> Agreement:
    """Brennan–Prediger: chance gives every label equally often. `order` lists all possible labels.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yyynyyyy"))
    >>> brennan_prediger(two).value
    0.5
    """

    def by_chance(categories: Categories) -> ByChance:
        room = categories.table().mean() if categories.count else 0.0
        return lambda shares: np.full(shares.shape[:-1], room)

    return _coefficient("brennan-prediger", judgments, weights, order, by_chance)


def fleiss_by_items(
    judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None
) -> Agreement:
    """Fleiss' κ with label shares averaged over items, as in Gwet (2014) for missing data.

    >>> crowd = Judgments.from_columns(list("aaabb"), list("xyzxy"), ["yes", "yes", "no", "no", "no"])
    >>> round(fleiss_by_items(crowd).value, 4)
    0.25
    """

    def by_chance(categories: Categories) -> ByChance:
        return lambda shares: categories.expected_apart(shares, shares)

    return _coefficient("fleiss", judgments, weights, order, by_chance)


def agreeing(categories: Categories, counts: ValueCounts) -> tuple[FloatArray, FloatArray]:
    """For every item, the fraction of agreeing pairs of judgments (0 without pairs), and the disagreement."""
    pairs = counts.sizes * (counts.sizes - 1)
    if categories.weights == "none":
        differing = counts.sizes**2 - counts.by_item(counts.counts**2)
    else:
        differing = pairwise(counts, categories.apart)
    paired = counts.sizes > 1
    return np.where(paired, 1 - ratio(differing, pairs), 0.0), np.where(paired, ratio(differing, pairs), np.nan)


def log_scale_from(categories: Categories, counts: ValueCounts) -> int | None:
    """Minimum number of items for an interval of a weighted coefficient; None without weights."""
    if categories.weights == "none":
        return None
    sizes = counts.sizes[counts.sizes > 1]
    pairs = float((sizes * (sizes - 1)).mean()) / 2
    return max(_FEWEST_ITEMS, ceil(_FEWEST_PAIRS / pairs))


def _coefficient(
    metric: str,
    judgments: Judgments,
    weights: Weights,
    order: Sequence[str] | None,
    by_chance: Callable[[Categories], ByChance],
) -> Agreement:
    categories = categories_of(judgments, weights, order)
    counts = value_counts(categories.judgments, least=1)
    agree, disagreement = agreeing(categories, counts)
    paired = (counts.sizes > 1).astype(np.float64)
    if not paired.any():
        return Agreement(metric, None, judgments, disagreement, undefined=NO_PAIRS)
    room = by_chance(categories)
    shares = replace(counts, counts=counts.counts / counts.sizes[counts.items])
    own = np.column_stack([agree, paired, counts.pairable.astype(np.float64)])
    formula = partial(_beyond_chance, room)
    if categories.count < 2 or float(room(shares.totals / counts.pairable.sum())) <= 0:
        return Agreement(metric, None, judgments, disagreement, undefined=one_value(judgments))
    value = float(formula(own.sum(axis=0), shares.totals))
    evidence = partial(evidence_of, own, shares, formula, log_scale_from(categories, counts))
    return Agreement(metric, value, judgments, disagreement, _evidence=evidence, counts_singles=True)


def _beyond_chance(room: ByChance, own: FloatArray, totals: FloatArray) -> FloatArray:
    """1 − disagreement / expected disagreement; 0 if the latter is 0."""
    left = room(ratio(totals, own[..., 2:3]))
    return np.asarray(np.where(left > 0, 1 - ratio(1 - ratio(own[..., 0], own[..., 1]), left), 0.0))
