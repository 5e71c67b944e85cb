"""Student's t, the normal distribution and Wilson's interval, without SciPy, which is large."""

from functools import cache
from math import exp, lgamma, log, sqrt
from statistics import NormalDist

NORMAL = NormalDist()
_TINY = 1e-300
_PRECISE = 1e-15
_MOST_TERMS = 10_000
_AS_NORMAL = 1e7
"""Degrees of freedom above which t equals the normal distribution to all relevant digits."""


def t_tail(value: float, freedom: float) -> float:
    """The probability that t is above a value of at least 0.

    >>> round(t_tail(2.228138852, 10), 6)
    0.025
    """
    if freedom > _AS_NORMAL:
        return NORMAL.cdf(-value)
    return incomplete_beta(freedom / (freedom + value * value), freedom / 2, 0.5) / 2


@cache
def t_bound(tail: float, freedom: float) -> float:
    """The upper quantile of t for this probability, which is below one half.

    >>> round(t_bound(0.025, 10), 6)
    2.228139
    """
    if freedom > _AS_NORMAL:
        return -NORMAL.inv_cdf(tail)
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > tail:
        low, high = high, 2 * high
    while high - low > _PRECISE * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_tail(middle, freedom) > tail else (low, middle)
    return high


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method).

    >>> round(incomplete_beta(0.4, 2, 3), 6)
    0.5248
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < _PRECISE:
            break
    return front * fraction


def _away(value: float) -> float:
    """Avoids division by zero."""
    return value if abs(value) > _TINY else _TINY


def wilson(share: float, size: float, bound: float) -> tuple[float, float]:
    """Wilson's interval of a fraction of n units, where n may be fractional; `bound` is the quantile of the normal or
    t.

    >>> low, high = wilson(0.8, 10, 1.959964)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    square = bound * bound
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = bound * sqrt(max(0.0, share * (1 - share)) / size + square / (4 * size * size)) / (1 + square / size)
    return max(0.0, middle - half), min(1.0, middle + half)
