"""Percent agreement and Fleiss' κ: any number of people, who may differ between items.

    P = 1/N · Σ_u Σ_c n_uc (n_uc − 1) / (n_u (n_u − 1))

over the N items with two or more judgments: the fraction of agreeing pairs of each item, averaged over items. For two
people, it is the fraction of items on which they agree. Fleiss' κ corrects for chance:

    κ = (P − P_e) / (1 − P_e),    P_e = Σ_c p_c²

p_c is the share of label c among all judgments (Fleiss 1971). Fleiss assumes the same number of judgments for every
item. Here numbers may differ: P is the fraction of agreeing pairs averaged over items, and p_c is a share of judgments,
so items with more judgments have more weight. Items with a single judgment are left out.
"""

from functools import partial

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.counts import ValueCounts, evidence_of, value_counts
from chorale.metrics.agreement.result import NO_PAIRS, Agreement, one_value
from chorale.metrics.judgments import Judgments


def percent_agreement(judgments: Judgments) -> Agreement:
    """Percent agreement as a fraction between 0 and 1.

    >>> crowd = Judgments.from_columns(list("aaabb"), list("xyzxy"), ["yes", "yes", "no", "no", "no"])
    >>> round(percent_agreement(crowd).value, 4)
    0.6667
    """
    counts = value_counts(judgments)
    shares = _agreeing_pairs(counts)
    disagreement = np.where(counts.pairable, 1 - shares, np.nan)
    if not counts.pairable.any():
        return Agreement("percent", None, judgments, disagreement, undefined=NO_PAIRS)
    rows = np.column_stack([shares, counts.pairable.astype(np.float64)])
    metric = Metric(
        lambda sums: {"value": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"value": sums[..., 1]}
    )
    value = float(shares[counts.pairable].mean())
    return Agreement("percent", value, judgments, disagreement, _evidence=lambda: (rows, metric))


def _agreeing_pairs(counts: ValueCounts) -> FloatArray:
    """The fraction of agreeing pairs of judgments of each item; 0 without pairs."""
    same = counts.by_item(counts.counts * (counts.counts - 1))
    return ratio(same, counts.sizes * (counts.sizes - 1))


def fleiss_kappa(judgments: Judgments) -> Agreement:
    """Fleiss' κ.

    >>> crowd = Judgments.from_columns(list("aaabbb"), list("xyzxyz"), ["yes", "yes", "no", "no", "no", "no"])
    >>> round(fleiss_kappa(crowd).value, 4)
    0.25
    """
    counts = value_counts(judgments)
    shares = _agreeing_pairs(counts)
    disagreement = np.where(counts.pairable, 1 - shares, np.nan)
    if not counts.pairable.any():
        return Agreement("fleiss", None, judgments, disagreement, undefined=NO_PAIRS)
    if np.count_nonzero(counts.totals) == 1:
        return Agreement("fleiss", None, judgments, disagreement, undefined=one_value(judgments))
    own = np.column_stack([shares, counts.pairable.astype(np.float64)])
    value = float(_kappa(own.sum(axis=0), counts.totals))
    notes: tuple[str, ...] = ()
    if len(np.unique(counts.sizes[counts.pairable])) > 1:
        notes = (
            "Items have different numbers of judgments: Fleiss' κ is generalised as described in the documentation.",
        )
    evidence = partial(evidence_of, own, counts, _kappa)
    return Agreement("fleiss", value, judgments, disagreement, notes, _evidence=evidence)


def _kappa(own: FloatArray, totals: FloatArray) -> FloatArray:
    observed = ratio(own[..., 0], own[..., 1])
    n = totals.sum(axis=-1)
    # Computed with integers, so that it is exactly 0 if all labels are equal.
    room = ratio(n**2 - (totals**2).sum(axis=-1), n**2)
    return np.asarray(np.where(room > 0, 1 - ratio(1 - observed, room), 0.0))
