"""Maximises a smooth function of many variables: L-BFGS (Nocedal 1980; Liu and Nocedal 1989)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chorale.metrics import FloatArray

Function = Callable[[FloatArray], tuple[float, FloatArray]]
"""A point's value and gradient."""

_MEMORY = 10
_ENOUGH = 1e-4
_HALVINGS = 30


def dot(first: FloatArray, second: FloatArray) -> float:
    """Dot product in one thread, because threads of linear algebra libraries block each other on busy cores."""
    return float(np.einsum("i,i->", first, second))


@dataclass(frozen=True, slots=True)
class Summit:
    point: FloatArray
    value: float
    steps: int


def climb(
    function: Function,
    start: FloatArray,
    *,
    steps: int,
    gain: float,
    each: Callable[[int], None] | None = None,
) -> Summit:
    """Ascends from the start until two consecutive steps gain less than `gain`, or no step improves the value."""
    point = start
    value, gradient = function(point)
    history: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
    idle = taken = 0
    while taken < steps and idle < 2:
        direction = _direction(gradient, history)
        slope = dot(direction, gradient)
        if not slope > 0:
            break
        step = 1.0 if history else min(1.0, 1.0 / float(np.abs(direction).max()))
        next_point = _line_search(function, point, value, direction, slope, step)
        if next_point is None:
            break
        reached, new_value, new_gradient = next_point
        moved, turned = reached - point, gradient - new_gradient
        if dot(moved, turned) > 1e-10 * dot(turned, turned):
            history.append((moved, turned))
        idle = idle + 1 if new_value - value < gain else 0
        point, value, gradient = reached, new_value, new_gradient
        taken += 1
        if each:
            each(taken)
    return Summit(point, value, taken)


def _direction(gradient: FloatArray, history: "deque[tuple[FloatArray, FloatArray]]") -> FloatArray:
    """The gradient times an inverse Hessian estimated from the latest steps."""
    direction = gradient.copy()
    weights = []
    for moved, turned in reversed(history):
        weight = dot(moved, direction) / dot(moved, turned)
        direction -= weight * turned
        weights.append(weight)
    if history:
        moved, turned = history[-1]
        direction *= dot(moved, turned) / dot(turned, turned)
    for (moved, turned), weight in zip(history, reversed(weights), strict=True):
        direction += (weight - dot(turned, direction) / dot(moved, turned)) * moved
    return direction


def _line_search(
    function: Function, point: FloatArray, value: float, direction: FloatArray, slope: float, step: float
) -> tuple[FloatArray, float, FloatArray] | None:
    """Backtracking line search: the first step with a sufficient increase."""
    for _ in range(_HALVINGS):
        reached = point + step * direction
        new_value, gradient = function(reached)
        if np.isfinite(new_value) and new_value >= value + _ENOUGH * step * slope:
            return reached, new_value, gradient
        step /= 2
    return None
