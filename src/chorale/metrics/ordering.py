"""Sorting many small numbers fast."""

import numpy as np
from numpy.typing import NDArray

_DIGIT = 16
_FEW = 4096
_BITS = 64


def order_of(keys: NDArray[np.int64], bound: int) -> NDArray[np.intp]:
    """The stable order of keys that are at least 0 and below `bound`.

    Keys of 16 bits are sorted by counting. For longer keys, NumPy sorts numbers faster than it finds their order, so
    each key is packed with its position into one 64-bit number. If that is too small, keys are radix-sorted 16 bits at
    a time.

    >>> order_of(np.array([3, 1, 3, 0]), 4).tolist()
    [3, 1, 0, 2]
    """
    if len(keys) < _FEW:
        return np.argsort(keys, kind="stable")
    places, width = (len(keys) - 1).bit_length(), max(bound - 1, 1).bit_length()
    if width > _DIGIT and width + places < _BITS:
        together = keys.astype(np.int64) << places
        together |= np.arange(len(keys))
        together.sort()
        together &= (1 << places) - 1
        return together.astype(np.intp, copy=False)
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, width, _DIGIT):
        digits = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order
