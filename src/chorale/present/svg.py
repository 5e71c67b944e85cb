"""Pictures as SVG, for pages that load nothing: bars, lines and points, in the colours of the text around them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH = 640
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 64, 32, 12, 44
BAR = 22
BAR_LABELS = 220
LABEL_LETTER, LABEL_LINE = 7, 14
"""How wide a letter of a label is at most, nearly, and how high its line."""
MARKS = 5

Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    low: float
    high: float
    stronger: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a chart, with the interval it may be in; `label` stands beside it."""

    x: float
    y: float
    label: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


def bar_chart(title: str, bars: Sequence[Bar], shown: Shown) -> str:
    """Bars from zero on, each with its interval as a thin line; zero is at the left unless something is below it."""
    ends = [0.0, *(end for bar in bars for end in (bar.low, bar.value, bar.high))]
    least, span = min(ends), max(ends) - min(ends) or 1
    room = WIDTH - BAR_LABELS - 80
    height = len(bars) * (BAR + 8) + 8
    parts = []

    def across(value: float) -> float:
        return BAR_LABELS + room * (value - least) / span

    for number, bar in enumerate(bars):
        y = 8 + number * (BAR + 8)
        middle = y + BAR / 2
        left, right = sorted((across(0), across(bar.value)))
        end = across(bar.high)
        parts.append(_text(BAR_LABELS - 8, middle + 4, bar.label, "end"))
        kind = "bar strong" if bar.stronger else "bar"
        parts.append(f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{right - left:.1f}" height="{BAR}"/>')
        parts.append(_line(across(bar.low), middle, end, middle, "range"))
        parts.append(_text(max(end, right) + 6, middle + 4, shown(bar.value), "start"))
    return _svg(title, height, parts)


def line_chart(title: str, lines: Sequence[Sequence[tuple[float, float]]], x_title: str, shown: Shown) -> str:
    """Lines on the same axes, each thin: where many run, it gets dark."""
    frame = _Frame.around([point for line in lines for point in line], from_zero=True)
    parts = frame.axes(x_title, lambda x: f"{x:g}", shown)
    for line in lines:
        places = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line)
        parts.append(f'<polyline class="curve" points="{places}"/>')
    return _svg(title, HEIGHT, parts)


def point_chart(title: str, points: Sequence[Point], x_title: str, x_shown: Shown, y_shown: Shown) -> str:
    """Points with their intervals as crosses."""
    corners = [(point.x, point.y) for point in points]
    corners += [(x, point.y) for point in points for x in point.x_range or ()]
    corners += [(point.x, y) for point in points for y in point.y_range or ()]
    frame = _Frame.around(corners, from_zero=False)
    parts = frame.axes(x_title, x_shown, y_shown)
    labels: list[_Label] = []
    for point in points:
        x, y = frame.x(point.x), frame.y(point.y)
        if point.x_range:
            parts.append(_line(frame.x(point.x_range[0]), y, frame.x(point.x_range[1]), y, "range"))
        if point.y_range:
            parts.append(_line(x, frame.y(point.y_range[0]), x, frame.y(point.y_range[1]), "range"))
        parts.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        if point.label:
            labels.append(_beside(x, y, point.label, labels))
    parts += [_text(label.x, label.y, label.text, label.anchor) for label in labels]
    return _svg(title, HEIGHT, parts)


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    x: float
    y: float
    anchor: str

    @property
    def fits(self) -> bool:
        return self._left >= LEFT and self._left + self._width <= WIDTH

    def touches(self, other: "_Label") -> bool:
        apart = max(self._left, other._left) >= min(self._left + self._width, other._left + other._width)
        return not apart and abs(self.y - other.y) < LABEL_LINE

    @property
    def _width(self) -> float:
        return len(self.text) * LABEL_LETTER

    @property
    def _left(self) -> float:
        return self.x - self._width if self.anchor == "end" else self.x


def _beside(x: float, y: float, text: str, others: Sequence[_Label]) -> _Label:
    """Above a point if it can stand there, or below it: within the picture, and not on another label."""
    sides = [("end", x - 8), ("start", x + 8)]
    if x <= WIDTH * 0.7:
        sides.reverse()
    heights = [y - 6, y + 16] if y > 2 * TOP else [y + 16]
    # Where it is crowded on both sides, further down; where it is so there as well, as if there were no others.
    further = (y + 16 + LABEL_LINE * lines for lines in range(1, 9))
    heights += [height for height in further if height < HEIGHT - BOTTOM]
    places = [_Label(text, at, height, anchor) for height in heights for anchor, at in sides]
    return next((place for place in places if place.fits and not any(map(place.touches, others))), places[0])


@dataclass(frozen=True, slots=True)
class _Frame:
    """From numbers to places."""

    x_marks: Sequence[float]
    y_marks: Sequence[float]

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], *, from_zero: bool) -> "_Frame":
        places = [*points, (0.0, 0.0)] if from_zero or not points else points
        return cls(_marks([x for x, _ in places]), _marks([y for _, y in places]))

    def x(self, value: float) -> float:
        low, high = self.x_marks[0], self.x_marks[-1]
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_marks[0], self.y_marks[-1]
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def axes(self, x_title: str, x_shown: Shown, y_shown: Shown) -> list[str]:
        bottom = HEIGHT - BOTTOM
        parts = []
        for mark in self.y_marks:
            parts.append(_line(LEFT, self.y(mark), WIDTH - RIGHT, self.y(mark), "grid"))
            parts.append(_text(LEFT - 6, self.y(mark) + 4, y_shown(mark), "end"))
        for mark in self.x_marks:
            parts.append(_line(self.x(mark), bottom, self.x(mark), bottom + 4, "axis"))
            parts.append(_text(self.x(mark), bottom + 18, x_shown(mark), "middle"))
        parts.append(_line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"))
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title, "middle"))
        return parts


def _marks(values: Sequence[float]) -> list[float]:
    """Round numbers from just below the least to just above the greatest."""
    low, high = min(values), max(values)
    span = high - low or abs(high) or 1.0
    step = 10 ** floor(log10(span / MARKS))
    step *= next(factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= MARKS)
    first, last = floor(low / step), ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


_STYLE = """<style>
svg { background: #fff; } text { font: 12px system-ui, sans-serif; fill: #1b1f27; }
.bar { fill: #3b6fb6; opacity: 0.45; } .strong { opacity: 0.9; } .range { stroke: #1b1f27; stroke-width: 1.5; }
.grid { stroke: #d9dde4; } .axis { stroke: #8a93a3; } .curve { fill: none; stroke-width: 2; }
.group0 { stroke: #3b6fb6; } .group1 { stroke: #b4541a; } .group2 { stroke: #2f7d4f; } .group3 { stroke: #7d3f98; }
.other { stroke-dasharray: 5 4; }
</style>"""


def standalone(svg: str) -> str:
    """A picture as a file of its own, that has its colours with it."""
    head, title, rest = svg.partition("</title>")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{title}{_STYLE}{rest}\n'


def stacked(title: str, panels: Sequence[tuple[str, str]]) -> str:
    """Pictures of the usual size below each other, each with a line above it."""
    parts = []
    for number, (named, svg) in enumerate(panels):
        y = number * (HEIGHT + 40)
        parts.append(_text(LEFT, y + 24, named, "start"))
        parts.append(svg.replace("<svg ", f'<svg y="{y + 34}" width="{WIDTH}" height="{HEIGHT}" ', 1))
    return _svg(title, len(panels) * (HEIGHT + 40), parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    name = escape(title, quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{name}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """A line with a name; `other` draws it with gaps."""

    label: str
    points: Sequence[tuple[float, float]]
    group: int = 0
    """Curves of one group have one colour."""
    other: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """Where the middle half of some numbers lies, with lines to their outer parts."""

    label: str
    low: float
    first: float
    middle: float
    third: float
    high: float


def curve_chart(title: str, curves: Sequence[Curve], x_title: str, shown: Shown) -> str:
    """Named curves on the same axes, with their names at the upper right."""
    frame = _Frame.around([point for curve in curves for point in curve.points], from_zero=True)
    parts = frame.axes(x_title, lambda x: f"{x:g}", shown)
    for number, curve in enumerate(curves):
        places = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in curve.points)
        kind = f"curve group{curve.group % 4}{' other' if curve.other else ''}"
        y = TOP + 10 + number * 16
        parts.append(f'<polyline class="{kind}" points="{places}"/>')
        parts.append(f'<line class="{kind}" x1="{WIDTH - 190}" y1="{y:.1f}" x2="{WIDTH - 160}" y2="{y:.1f}"/>')
        parts.append(_text(WIDTH - 154, y + 4, curve.label, "start"))
    return _svg(title, HEIGHT, parts)


def box_chart(title: str, boxes: Sequence[Box], x_title: str, shown: Shown) -> str:
    """Boxes from left to right, one below the other."""
    marks = _marks([value for box in boxes for value in (box.low, box.high)])
    height = len(boxes) * (BAR + 12) + 56

    def x(value: float) -> float:
        return BAR_LABELS + (WIDTH - BAR_LABELS - RIGHT) * (value - marks[0]) / (marks[-1] - marks[0])

    parts = []
    for mark in marks:
        parts.append(_line(x(mark), 8, x(mark), height - 44, "grid"))
        parts.append(_text(x(mark), height - 26, shown(mark), "middle"))
    for number, box in enumerate(boxes):
        y = 8 + number * (BAR + 12)
        middle = y + BAR / 2
        parts.append(_text(BAR_LABELS - 8, middle + 4, box.label, "end"))
        parts.append(_line(x(box.low), middle, x(box.high), middle, "range"))
        width = max(1.0, x(box.third) - x(box.first))
        parts.append(f'<rect class="bar" x="{x(box.first):.1f}" y="{y}" width="{width:.1f}" height="{BAR}"/>')
        parts.append(_line(x(box.middle), y, x(box.middle), y + BAR, "range"))
    parts.append(_text((BAR_LABELS + WIDTH - RIGHT) / 2, height - 6, x_title, "middle"))
    return _svg(title, height, parts)
