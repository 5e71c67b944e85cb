"""Lines over an axis: with names, with dots where there are few points, thin where there are many lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.present.svg.colours import series_tone
from chorale.present.svg.elements import WIDTH, number_text, picture
from chorale.present.svg.frame import Axis, Key, PlotFrame, frame, no_data, stroke_paint
from chorale.present.svg.labels import PlacedLabel, label_texts, place_label
from chorale.present.svg.scales import finite


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from left to right. Curves with a label are in the legend."""

    label: str
    points: Sequence[tuple[float, float]]
    series: int = 0
    dash: int = 0
    dots: bool = False
    """Whether every point has a dot, too: a line of one point could not be seen."""
    tag: str = ""
    """What stands beside the last point."""
    faint: bool = False
    """Thin and pale, for one of many: where many run, it gets dark."""

    @property
    def drawn(self) -> list[tuple[float, float]]:
        """The points whose two numbers are numbers."""
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
    """Curves on the same axes, with their names above them."""
    points = [point for curve in curves for point in curve.drawn]
    keys = [Key(curve.label, curve.series, curve.dash) for curve in curves if curve.label]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    around = frame(x_axis, y_axis, xs, ys, keys, width=width, height=height)
    parts = [*around.parts, *(_curve(curve, around) for curve in curves if curve.drawn)]
    labels: list[PlacedLabel] = []
    for curve in curves:
        if curve.tag and curve.drawn:
            x, y = curve.drawn[-1]
            labels.append(place_label(around.x(x), around.y(y), curve.tag, labels, around))
    if not points:
        parts.append(no_data(around))
    return picture(title, around.width, around.height, [*parts, *label_texts(labels)], description)


def _curve(curve: Curve, around: PlotFrame) -> str:
    places = [(around.x(x), around.y(y)) for x, y in curve.drawn]
    joined = " ".join(f"{number_text(x)},{number_text(y)}" for x, y in places)
    pale = ' stroke-opacity="0.55"' if curve.faint else ""
    paint = stroke_paint(curve.dash, 1.25 if curve.faint else 2)
    shapes = f'<polyline {paint}{pale} stroke-linejoin="round" points="{joined}"/>'
    if curve.dots or len(places) == 1:
        shapes += "".join(f'<circle cx="{number_text(x)}" cy="{number_text(y)}" r="3"/>' for x, y in places)
    return f"<g {series_tone(curve.series)}>{shapes}</g>"
