"""Validates iteration limits and tolerances before any computation."""

import math


def check_limits(iterations: int, tolerance: float, *, restarts: int = 1) -> None:
    """Requires at least one iteration and one start, and a tolerance of at least 0."""
    for name, value in (("iterations", iterations), ("restarts", restarts)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be at least 1, not {value!r}")
    check_number("the tolerance", tolerance, least=0.0)


def check_number(title: str, value: float, *, least: float, above: bool = False) -> None:
    """Requires a finite number of at least `least`, or above it."""
    if isinstance(value, bool) or not math.isfinite(value) or value < least or (above and value == least):
        bound = f"above {least:g}" if above else f"{least:g} or more"
        raise ValueError(f"{title} must be a number, {bound}, not {value!r}")
