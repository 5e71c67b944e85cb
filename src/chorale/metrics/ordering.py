"""Sorting many small numbers fast."""

import numpy as np
from numpy.typing import NDArray

_DIGIT = 16
_FEW = 4096


def order_of(keys: NDArray[np.int64], bound: int) -> NDArray[np.intp]:
    """The stable order of keys that are at least 0 and below `bound`.

    NumPy sorts 16-bit numbers by counting, which for a million keys is ten times as fast as comparing them; larger
    numbers are sorted by their last 16 bits, then by the next.

    >>> order_of(np.array([3, 1, 3, 0]), 4).tolist()
    [3, 1, 0, 2]
    """
    if len(keys) < _FEW:
        return np.argsort(keys, kind="stable")
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, max(bound - 1, 1).bit_length(), _DIGIT):
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order
