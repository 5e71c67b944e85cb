"""Curves and points on two axes, with labels that stay inside the picture and do not overlap."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorale.present.svg.colours import series_tone
from chorale.present.svg.elements import WIDTH, fitted, line, number_text, picture, strokes, text, text_width
from chorale.present.svg.frame import Axis, Key, PlotFrame, frame, no_data, stroke_paint
from chorale.present.svg.scales import finite

_LINE = 14
_WIDEST = 180
_FURTHER = 9


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from left to right. Curves with a label are in the legend."""

    label: str
    points: Sequence[tuple[float, float]]
    series: int = 0
    dash: int = 0
    dots: bool = False
    """Whether points are marked with dots: a line of one point would be invisible."""
    tag: str = ""
    """The label next to the last point."""
    faint: bool = False
    """Whether the curve is thin and pale, as one of many: overlaps become darker."""

    @property
    def drawn(self) -> list[tuple[float, float]]:
        """The points with finite coordinates."""
        return [(x, y) for x, y in self.points if len(finite((x, y))) == 2]


def curve_chart(
    title: str,
    curves: Sequence[Curve],
    x_axis: Axis,
    y_axis: Axis,
    *,
    description: str = "",
    width: float = WIDTH,
    height: float = 300,
) -> str:
    """A chart of curves, with a legend above it."""
    points = [point for curve in curves for point in curve.drawn]
    keys = [Key(curve.label, curve.series, curve.dash) for curve in curves if curve.label]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    around = frame(x_axis, y_axis, xs, ys, keys, width=width, height=height)
    parts = [*around.parts, *(_curve(curve, around) for curve in curves if curve.drawn)]
    parts += _labels([(*curve.drawn[-1], curve.tag) for curve in curves if curve.tag and curve.drawn], around)
    if not points:
        parts.append(no_data(around))
    return picture(title, around.width, around.height, parts, description)


def _curve(curve: Curve, around: PlotFrame) -> str:
    places = [(around.x(x), around.y(y)) for x, y in curve.drawn]
    joined = " ".join(f"{number_text(x)},{number_text(y)}" for x, y in places)
    pale = ' stroke-opacity="0.55"' if curve.faint else ""
    paint = stroke_paint(curve.dash, 1.25 if curve.faint else 2)
    shapes = f'<polyline {paint}{pale} stroke-linejoin="round" points="{joined}"/>'
    if curve.dots or len(places) == 1:
        shapes += "".join(f'<circle cx="{number_text(x)}" cy="{number_text(y)}" r="3"/>' for x, y in places)
    return f"<g {series_tone(curve.series)}>{shapes}</g>"


@dataclass(frozen=True, slots=True)
class Point:
    """A point in a chart; `label` is shown next to it."""

    x: float
    y: float
    label: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None

    @property
    def is_drawn(self) -> bool:
        return len(finite((self.x, self.y))) == 2


def point_chart(title: str, points: Sequence[Point], x_axis: Axis, y_axis: Axis, *, description: str = "") -> str:
    """A chart of points, with intervals as crosses."""
    drawn = [point for point in points if point.is_drawn]
    xs = finite(x for point in drawn for x in (point.x, *(point.x_range or ())))
    ys = finite(y for point in drawn for y in (point.y, *(point.y_range or ())))
    around = frame(x_axis, y_axis, xs, ys)
    crosses = [stroke for point in drawn for stroke in _cross(point, around)]
    dots = [f'<circle cx="{number_text(around.x(at.x))}" cy="{number_text(around.y(at.y))}" r="4"/>' for at in drawn]
    parts = [*around.parts, strokes("axis", crosses, 1.5), f"<g {series_tone(0)}>{''.join(dots)}</g>"]
    parts += _labels([(point.x, point.y, point.label) for point in drawn if point.label], around)
    if not drawn:
        parts.append(no_data(around))
    return picture(title, around.width, around.height, parts, description)


def _cross(point: Point, around: PlotFrame) -> list[str]:
    x, y = around.x(point.x), around.y(point.y)
    whiskers = []
    if point.x_range and len(finite(point.x_range)) == 2:
        whiskers.append(line(around.x(point.x_range[0]), y, around.x(point.x_range[1]), y))
    if point.y_range and len(finite(point.y_range)) == 2:
        whiskers.append(line(x, around.y(point.y_range[0]), x, around.y(point.y_range[1])))
    return whiskers


@dataclass(frozen=True, slots=True)
class _Label:
    words: str
    more: str
    """The complete text, if `words` were shortened."""
    x: float
    y: float
    anchor: str

    @property
    def left(self) -> float:
        return self.x - text_width(self.words) if self.anchor == "end" else self.x

    @property
    def right(self) -> float:
        return self.left + text_width(self.words)

    def touches(self, other: "_Label") -> bool:
        apart = max(self.left, other.left) >= min(self.right, other.right)
        return not apart and abs(self.y - other.y) < _LINE


def _placed(x: float, y: float, words: str, others: Sequence[_Label], around: PlotFrame) -> _Label:
    """Place a label above a point or below it; further away if both sides are crowded."""
    cut = fitted(words, _WIDEST)
    sides = [("end", x - 8), ("start", x + 8)]
    if x <= around.left + (around.right - around.left) * 0.7:
        sides.reverse()
    steps = [_LINE * number for number in range(_FURTHER)]
    heights = [y - 6, y + 16, *(y + 16 + step for step in steps[1:]), *(y - 6 - step for step in steps[1:])]
    heights = [height for height in heights if around.top - 2 + 10 <= height <= around.bottom - 2] or [y + 4]
    places = [_Label(cut, words, at, height, anchor) for height in heights for anchor, at in sides]
    inside = [place for place in places if place.left >= around.left and place.right <= around.width] or places
    return next((place for place in inside if not any(map(place.touches, others))), inside[0])


def _labels(wanted: Iterable[tuple[float, float, str]], around: PlotFrame) -> list[str]:
    """Labels next to points of a chart."""
    placed: list[_Label] = []
    for x, y, words in wanted:
        placed.append(_placed(around.x(x), around.y(y), words, placed, around))
    return [text(label.x, label.y, label.words, label.anchor, more=label.more) for label in placed]
