"""How long a method may go on: numbers that mean nothing are refused before any work is done."""

import math


def check_limits(iterations: int, tolerance: float, *, restarts: int = 1) -> None:
    """At least one iteration and one start, and a tolerance that is a number and not below 0."""
    for name, value in (("iterations", iterations), ("restarts", restarts)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"there must be 1 or more {name}, not {value!r}")
    check_number("the tolerance", tolerance, least=0.0)


def check_number(title: str, value: float, *, least: float, above: bool = False) -> None:
    """A finite number that is not below `least`, or is above it."""
    if isinstance(value, bool) or not math.isfinite(value) or value < least or (above and value == least):
        bound = f"above {least:g}" if above else f"{least:g} or more"
        raise ValueError(f"{title} must be a number, {bound}, not {value!r}")
