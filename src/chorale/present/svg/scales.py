"""Scales: ticks at round numbers, and linear mapping from values to coordinates."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10


def finite(values: Iterable[float | None]) -> list[float]:
    """The values that can be plotted."""
    return [float(value) for value in values if value is not None and isfinite(value)]


def plain_number(value: float) -> str:
    """A number as an axis label."""
    if abs(value) < 1e15 and value == int(value):
        return f"{int(value):,}"
    return f"{value:.6g}"


_NOTHING = 1e-290
"""Values so close to 0 that steps between them would be indistinguishable."""


def ticks(low: float, high: float, most: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers from just below the minimum to just above the maximum, in at most `most` steps.

    >>> ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(3, 3)
    [0.0, 1.0, 2.0, 3.0]
    >>> ticks(0, 1, whole=True)
    [0.0, 1.0]
    """
    low, high = (0.0 if abs(value) < _NOTHING else value for value in (low, high))
    if high - low <= abs(high) * 1e-9:
        low, high = min(low, 0.0), max(high, 0.0) or (0.0 if low < 0 else 1.0)
    span = high - low
    exponent = floor(log10(span / most))
    while True:
        for factor in (1, 2, 5):
            step = factor * 10.0**exponent
            first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
            if last - first <= most and (not whole or step >= 1):
                return [float(f"{place * step:.12g}") for place in range(first, max(last, first + 1) + 1)]
        exponent += 1


@dataclass(frozen=True, slots=True)
class LinearScale:
    """A linear map from values between `low` and `high` to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1)
        return self.start + (self.end - self.start) * share
