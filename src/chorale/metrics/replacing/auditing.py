"""How often a model's labels agree with people's, estimated from a random audit sample of items."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from chorale.metrics.sampling import TAIL, TOO_FEW, Interval
from chorale.metrics.student import t_bound, wilson

FEWEST_AUDITED = 5
"""Minimum number of items with people's labels for an interval."""


class Audited(NamedTuple):
    """The fraction of items where a model agrees with people."""

    share: float | None
    interval: Interval
    audited: int
    """Number of items with people's labels."""


def audited_share(agrees: Sequence[bool], probability: Sequence[float], items: int) -> Audited:
    """The fraction among all `items`, estimated from audited items with inverse probability weights.

    This is Hájek's form of the Horvitz–Thompson estimator. Its interval is Wilson's with the effective number of
    audited items (Kish), which stays within 0 and 1 and is valid for few errors; items audited with certainty add no
    variance.

    >>> audited_share([True, True, False, True], [0.5] * 4, 8).share
    0.75
    """
    count = len(agrees)
    if not count:
        return Audited(None, TOO_FEW, 0)
    weights = 1 / np.asarray(probability, dtype=np.float64)
    share = float(weights @ np.asarray(agrees, dtype=np.float64) / weights.sum())
    if count >= items:
        return Audited(share, Interval(share, share), count)
    if count < FEWEST_AUDITED:
        return Audited(share, TOO_FEW, count)
    effective = float(weights.sum()) ** 2 / float(weights @ weights)
    size = effective / (1 - count / items)
    return Audited(share, Interval(*wilson(share, size, t_bound(TAIL, count - 1))), count)
