"""Tie-breaking.

Alphabetical order would favour labels early in the alphabet, so ties are broken at random by default. The choice
depends only on the seed and the name of the task, not on the order of rows or on other tasks.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.tie_draw import TIE, draw_of

TieRule = Literal["first", "random", "abstain", "all"]


def leaders(probabilities: FloatArray) -> NDArray[np.bool_]:
    """The columns with the maximum of each row."""
    if not probabilities.size:
        return np.zeros(probabilities.shape, dtype=np.bool_)
    return np.asarray(probabilities >= probabilities.max(axis=1, keepdims=True) - TIE)


def untied(leading: NDArray[np.bool_], names: Sequence[str], seed: int) -> NDArray[np.intp]:
    """One of the leading columns of each row, selected randomly by the name of the row."""
    chosen = np.asarray(leading.argmax(axis=1) if leading.size else np.zeros(len(leading)), dtype=np.intp)
    counts = leading.sum(axis=1)
    tied = np.flatnonzero(counts > 1)
    if len(tied):
        drawn = np.fromiter((draw_of(seed, names[row]) for row in tied.tolist()), dtype=np.int64, count=len(tied))
        rank = drawn % counts[tied]
        chosen[tied] = (leading[tied].cumsum(axis=1) > rank[:, None]).argmax(axis=1)
    return chosen
