"""Time, as an argument."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Milliseconds since 1970 UTC."""


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


def fast_clock(speed: float) -> Clock:
    """A clock that starts now and runs `speed` times as fast: for simulated crowds."""
    start = wall_clock()
    began = time.monotonic_ns()
    return lambda: start + int((time.monotonic_ns() - began) * speed / 1_000_000)
