"""Small charts of shares over time, as points for a picture in the page."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 560, 120
LEFT, RIGHT, TOP, BOTTOM = 34, 8, 8, 8


@dataclass(frozen=True, slots=True)
class LineChart:
    points: str
    """For an SVG polyline."""
    marks: tuple[tuple[int, int], ...]
    last: float
    ends: tuple[int, int]
    """What stands at the left and at the right: moments, or numbers."""


def line_chart(values: Sequence[tuple[int, float | None]]) -> LineChart | None:
    """Values between 0 and 1 from left to right, evenly apart; those that are not known are left out."""
    across = WIDTH - LEFT - RIGHT
    step = across / max(1, len(values) - 1)
    known = [(place, value) for place, (_, value) in enumerate(values) if value is not None]
    if not known:
        return None
    marks = tuple((round(LEFT + place * step), height_of(value)) for place, value in known)
    return LineChart(" ".join(f"{x},{y}" for x, y in marks), marks, known[-1][1], (values[0][0], values[-1][0]))


def height_of(value: float) -> int:
    """How far down a share stands."""
    return round(TOP + (1 - value) * (HEIGHT - TOP - BOTTOM))
