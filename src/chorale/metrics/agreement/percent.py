"""Percent agreement: how often two judgments of an item are the same.

    A = 1/N · Σ_u Σ_c n_uc (n_uc − 1) / (n_u (n_u − 1))

over the N items with two judgments or more: the share of agreeing pairs of each item, averaged over items. For two
people it is the share of items on which they agree. Chance is not taken off.
"""

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.counts import ValueCounts, value_counts
from chorale.metrics.agreement.result import Agreement, no_pairs
from chorale.metrics.judgments import Judgments


def percent_agreement(judgments: Judgments) -> Agreement:
    """As a fraction between 0 and 1.

    >>> crowd = Judgments.from_columns(list("aaabb"), list("xyzxy"), ["yes", "yes", "no", "no", "no"])
    >>> round(percent_agreement(crowd).value, 4)
    0.6667
    """
    counts = value_counts(judgments)
    shares = agreeing_pairs(counts)
    disagreement = np.where(counts.pairable, 1 - shares, np.nan)
    if not counts.pairable.any():
        return Agreement("percent", None, judgments, disagreement, undefined=no_pairs())
    rows = np.column_stack([shares, counts.pairable.astype(np.float64)])
    metric = Metric(lambda sums: {"value": ratio(sums[..., 0], sums[..., 1])})
    value = float(shares[counts.pairable].mean())
    return Agreement("percent", value, judgments, disagreement, _evidence=lambda: (rows, metric))


def agreeing_pairs(counts: ValueCounts) -> FloatArray:
    """The share of each item's pairs of judgments that are the same; 0 where there are none."""
    same = counts.by_item(counts.counts * (counts.counts - 1))
    return ratio(same, counts.sizes * (counts.sizes - 1))
