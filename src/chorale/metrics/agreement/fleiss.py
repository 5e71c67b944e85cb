"""Fleiss' κ: any number of people, who need not be the same for every item.

    κ = (P − P_e) / (1 − P_e),    P_e = Σ_c p_c²

P is percent agreement and p_c the share of label c among all judgments (Fleiss 1971). Fleiss has the same number of
judgments for every item. Here numbers may differ: P stays the mean over items of their shares of agreeing pairs, and
p_c is a share of judgments, so that an item counts in it by how often it was judged. Items with a single judgment
count in neither.
"""

import numpy as np

from chorale.metrics import FloatArray, ratio
from chorale.metrics.agreement.counts import evidence_of, value_counts
from chorale.metrics.agreement.percent import agreeing_pairs
from chorale.metrics.agreement.result import Agreement, no_pairs, one_value
from chorale.metrics.judgments import Judgments


def fleiss_kappa(judgments: Judgments) -> Agreement:
    """κ of Fleiss.

    >>> crowd = Judgments.from_columns(list("aaabbb"), list("xyzxyz"), ["yes", "yes", "no", "no", "no", "no"])
    >>> round(fleiss_kappa(crowd).value, 4)
    0.25
    """
    counts = value_counts(judgments)
    shares = agreeing_pairs(counts)
    disagreement = np.where(counts.pairable, 1 - shares, np.nan)
    if not counts.pairable.any():
        return Agreement("fleiss", None, judgments, disagreement, undefined=no_pairs())
    if np.count_nonzero(counts.totals) == 1:
        return Agreement("fleiss", None, judgments, disagreement, undefined=one_value(judgments))
    own = np.column_stack([shares, counts.pairable.astype(np.float64)])
    value = float(_kappa(own.sum(axis=0), counts.totals))
    notes: tuple[str, ...] = ()
    if len(np.unique(counts.sizes[counts.pairable])) > 1:
        notes = ("Items have different numbers of judgments: Fleiss' κ is generalised as the documentation says.",)
    return Agreement(
        "fleiss",
        value,
        judgments,
        disagreement,
        notes,
        _evidence=lambda: evidence_of(own, counts, _kappa),
    )


def _kappa(own: FloatArray, totals: FloatArray) -> FloatArray:
    observed = ratio(own[..., 0], own[..., 1])
    n = totals.sum(axis=-1)
    # In whole numbers, so that it is 0 exactly where all labels are the same.
    room = ratio(n**2 - (totals**2).sum(axis=-1), n**2)
    return np.asarray(np.where(room > 0, 1 - ratio(1 - observed, room), 0.0))
