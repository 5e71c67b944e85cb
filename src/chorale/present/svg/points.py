"""Points with the intervals they may be in."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.present.svg.colours import series_tone
from chorale.present.svg.elements import line, number_text, picture, strokes
from chorale.present.svg.frame import Axis, PlotFrame, frame, no_data
from chorale.present.svg.labels import PlacedLabel, label_texts, place_label
from chorale.present.svg.scales import finite


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a chart; `label` stands beside it."""

    x: float
    y: float
    label: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None

    @property
    def is_drawn(self) -> bool:
        return len(finite((self.x, self.y))) == 2


def point_chart(title: str, points: Sequence[Point], x_axis: Axis, y_axis: Axis, *, description: str = "") -> str:
    """Points on two axes, with their intervals as crosses."""
    drawn = [point for point in points if point.is_drawn]
    xs = finite(x for point in drawn for x in (point.x, *(point.x_range or ())))
    ys = finite(y for point in drawn for y in (point.y, *(point.y_range or ())))
    around = frame(x_axis, y_axis, xs, ys)
    crosses = [stroke for point in drawn for stroke in _cross(point, around)]
    dots = [f'<circle cx="{number_text(around.x(at.x))}" cy="{number_text(around.y(at.y))}" r="4"/>' for at in drawn]
    labels: list[PlacedLabel] = []
    for point in drawn:
        if point.label:
            labels.append(place_label(around.x(point.x), around.y(point.y), point.label, labels, around))
    parts = [*around.parts, strokes("axis", crosses, 1.5), f"<g {series_tone(0)}>{''.join(dots)}</g>"]
    if not drawn:
        parts.append(no_data(around))
    return picture(title, around.width, around.height, [*parts, *label_texts(labels)], description)


def _cross(point: Point, around: PlotFrame) -> list[str]:
    x, y = around.x(point.x), around.y(point.y)
    whiskers = []
    if point.x_range and len(finite(point.x_range)) == 2:
        whiskers.append(line(around.x(point.x_range[0]), y, around.x(point.x_range[1]), y))
    if point.y_range and len(finite(point.y_range)) == 2:
        whiskers.append(line(x, around.y(point.y_range[0]), x, around.y(point.y_range[1])))
    return whiskers
