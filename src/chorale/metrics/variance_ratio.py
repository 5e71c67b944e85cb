"""The F distribution for intervals of variance components, without SciPy, which is large."""

from math import inf

from chorale.metrics.student import incomplete_beta

_PRECISE = 1e-13


def f_tail(value: float, first: float, second: float) -> float:
    """The probability that F with these degrees of freedom is above a value.

    >>> round(f_tail(3.325835, 5, 10), 6)
    0.05
    """
    if value <= 0:
        return 1.0
    return incomplete_beta(second / (second + first * value), second / 2, first / 2)


def f_bound(tail: float, first: float, second: float) -> float:
    """The upper quantile of F for this probability.

    >>> round(f_bound(0.05, 5, 10), 5)
    3.32583
    """
    low, high = 0.0, 1.0
    while f_tail(high, first, second) > tail:
        low, high = high, 2 * high
        if high == inf:
            return inf
    while high - low > _PRECISE * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if f_tail(middle, first, second) > tail else (low, middle)
    return high
