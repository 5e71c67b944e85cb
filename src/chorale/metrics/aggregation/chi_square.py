"""Quantiles of the chi-square distribution, for whole degrees of freedom. SciPy is not in the base install."""

import math

_CLOSE = 1e-15
_TERMS = 10_000


def upper_quantile(probability: float, degrees: int) -> float:
    """The value that a chi-square variable exceeds with this probability.

    >>> round(upper_quantile(0.025, 1), 6)
    5.023886
    """
    if not 0 < probability < 1 or degrees < 1:
        raise ValueError(
            f"the probability must be between 0 and 1 and the degrees at least 1, not {probability!r} and {degrees!r}"
        )
    low, high = 0.0, float(degrees)
    while _above(high, degrees) > probability:
        high *= 2
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _above(middle, degrees) > probability else (low, middle)
    return (low + high) / 2


def _above(value: float, degrees: int) -> float:
    """The probability of more than `value`: the regularised incomplete gamma function Q(degrees / 2, value / 2)."""
    shape, x = degrees / 2, value / 2
    if x <= 0:
        return 1.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    return 1 - front * _series(shape, x) if x < shape + 1 else front * _fraction(shape, x)


def _series(shape: float, x: float) -> float:
    term = total = 1 / shape
    for number in range(1, _TERMS):
        term *= x / (shape + number)
        total += term
        if term < total * _CLOSE:
            break
    return total


def _fraction(shape: float, x: float) -> float:
    """The continued fraction, by Lentz's method."""
    base = x + 1 - shape
    first, second = 1e300, 1 / base
    product = second
    for number in range(1, _TERMS):
        factor = -number * (number - shape)
        base += 2
        second = 1 / (factor * second + base)
        first = base + factor / first
        product *= first * second
        if abs(first * second - 1) < _CLOSE:
            break
    return product
