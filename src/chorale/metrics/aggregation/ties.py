"""What is done where no label of a task leads.

Going by name gives labels early in the alphabet more tasks than others, so that ties are broken at random unless asked
otherwise. The draw depends on the seed and the name of the task alone: neither the order of rows nor other tasks change
it.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.tie_draw import TIE, draw_of

TieRule = Literal["first", "random", "abstain", "all"]


def leaders(probabilities: FloatArray) -> NDArray[np.bool_]:
    """In each row, the columns with its largest number."""
    if not probabilities.size:
        return np.zeros(probabilities.shape, dtype=np.bool_)
    return np.asarray(probabilities >= probabilities.max(axis=1, keepdims=True) - TIE)


def untied(leading: NDArray[np.bool_], names: Sequence[str], seed: int) -> NDArray[np.intp]:
    """One of the leading columns of each row: of several, a random one by the row's name."""
    chosen = np.asarray(leading.argmax(axis=1) if leading.size else np.zeros(len(leading)), dtype=np.intp)
    counts = leading.sum(axis=1)
    tied = np.flatnonzero(counts > 1)
    if len(tied):
        drawn = np.fromiter((draw_of(seed, names[row]) for row in tied.tolist()), dtype=np.int64, count=len(tied))
        rank = drawn % counts[tied]
        chosen[tied] = (leading[tied].cumsum(axis=1) > rank[:, None]).argmax(axis=1)
    return chosen
