"""The frame of a chart: axes with ticks and titles, and the legend above it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chorale.present.svg.colours import DASHES, FILLS, series_tone
from chorale.present.svg.elements import SIZE, WIDTH, fitted, line, rectangle, strokes, text, text_width
from chorale.present.svg.scales import LinearScale, finite, plain_number, ticks

LINE = 18
_KEY = 24
_GAP = 18
_MARGIN = 12
_WIDEST_LABEL = 140
_MOST_TICKS, _FEWEST_TICKS = 5, 2
"""Maximum number of steps on an axis; fewer if rounded labels would repeat."""

Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a chart. `marks` replace round numbers: positions with their labels."""

    title: str = ""
    shown: Shown = plain_number
    low: float | None = None
    high: float | None = None
    zero: bool = False
    """Whether it always includes zero."""
    whole: bool = False
    """Whether it shows counts, so that only whole numbers have ticks."""
    marks: Sequence[tuple[float, str]] | None = None

    def labelled(self, values: Sequence[float]) -> list[tuple[float, str]]:
        """The ticks for these values, with their labels."""
        if self.marks is not None:
            return list(self.marks)
        known = finite((*values, self.low, self.high, 0.0 if self.zero or not finite(values) else None))
        for most in range(_MOST_TICKS, _FEWEST_TICKS - 1, -1):
            places = ticks(min(known), max(known), most, whole=self.whole)
            low, high = places[0] if self.low is None else self.low, places[-1] if self.high is None else self.high
            labels = [(place, self.shown(place)) for place in places if low <= place <= high]
            if len({words for _, words in labels}) == len(labels):
                return labels
        # Even the ends have the same label: keep the first of each.
        firsts = {words: place for place, words in reversed(labels)}
        return sorted((place, words) for words, place in firsts.items())

    def ends(self, values: Sequence[float], labelled: Sequence[tuple[float, str]]) -> tuple[float, float]:
        """The lower and upper end of the axis."""
        known = finite((*values, *(place for place, _ in labelled))) or [0.0, 1.0]
        low = min(known) if self.low is None else self.low
        high = max(known) if self.high is None else self.high
        return (low, high) if high > low else (low - 0.5, low + 0.5)


@dataclass(frozen=True, slots=True)
class Key:
    """A line of a legend."""

    label: str
    series: int
    dash: int | None = None
    """The dash pattern of the series; empty for bars."""


@dataclass(frozen=True, slots=True)
class PlotFrame:
    x: LinearScale
    y: LinearScale
    parts: Sequence[str]
    """Axes, titles and legend."""
    left: float
    right: float
    top: float
    bottom: float
    width: float
    height: float
    """The height of the whole picture, including the legend."""


def frame(
    x_axis: Axis,
    y_axis: Axis,
    xs: Sequence[float],
    ys: Sequence[float],
    keys: Sequence[Key] = (),
    *,
    width: float = WIDTH,
    height: float = 300,
) -> PlotFrame:
    """Axes around these values; `height` is that of the picture without its legend."""
    across, up = x_axis.labelled(xs), y_axis.labelled(ys)
    words = [fitted(label, _WIDEST_LABEL) for _, label in up]
    left = _MARGIN + max(map(text_width, words), default=0.0) + 8
    last = text_width(across[-1][1]) / 2 if across else 0.0
    # The label of the last tick may reach into the margin; long labels are moved to the left.
    right = width - min(max(_MARGIN + 4, last + 4), 30)
    legend_height, legend_parts = legend(keys, left, width - _MARGIN)
    top = legend_height + (LINE + 6 if y_axis.title else 10)
    bottom = legend_height + height - (24 if not x_axis.title else 44)
    x = LinearScale(*x_axis.ends(xs, across), left, right)
    y = LinearScale(*y_axis.ends(ys, up), bottom, top)
    grid = [line(left, y(place), right, y(place)) for place, _ in up]
    parts = [*legend_parts, strokes("grid", grid), strokes("axis", [line(left, bottom, right, bottom)])]
    parts += [text(left - 8, y(place) + 4, label, "end", "soft") for (place, _), label in zip(up, words, strict=True)]
    parts += under_axis(across, x, bottom, bounds=(0, width))
    if x_axis.title:
        parts.append(text((left + right) / 2, bottom + 38, fitted(x_axis.title, right - left), "middle"))
    if y_axis.title:
        parts.append(text(left, legend_height + 14, fitted(y_axis.title, right - left)))
    return PlotFrame(x, y, parts, left, right, top, bottom, width, legend_height + height)


def no_data(around: PlotFrame) -> str:
    """The text of a chart without data."""
    return text((around.left + around.right) / 2, (around.top + around.bottom) / 2, "no data", "middle", "soft")


def under_axis(
    labelled: Sequence[tuple[float, str]], scale: LinearScale, y: float, bounds: tuple[float, float]
) -> list[str]:
    """Ticks with labels below a line, evenly spaced; only those that fit."""
    places = [(scale(value), fitted(label, _WIDEST_LABEL)) for value, label in labelled]
    every = next(
        (
            number
            for number in range(1, len(places) + 1)
            if all(
                near + (text_width(first) + text_width(second)) / 2 + 5 <= far
                for (near, first), (far, second) in pairwise(places[::number])
            )
        ),
        1,
    )
    shown = places[::every]
    parts = [strokes("axis", [line(place, y, place, y + 4) for place, _ in shown])]
    for place, label in shown:
        half = text_width(label) / 2
        middle = min(max(place, bounds[0] + half), max(bounds[1] - half, half))
        parts.append(text(middle, y + 18, label, "middle", "soft"))
    return parts


def legend(keys: Sequence[Key], left: float, right: float) -> tuple[float, list[str]]:
    """The legend at the top of a picture, and its height: the chart starts below it."""
    parts: list[str] = []
    x, y = left, 0.0
    for number, key in enumerate(keys):
        label = fitted(key.label, right - left - _KEY - 6)
        symbol = SIZE if key.dash is None else _KEY
        wide = symbol + 6 + text_width(label) + _GAP
        if number and x + wide - _GAP > right:
            x, y = left, y + LINE
        parts.append(f"<g {series_tone(key.series)}>{_symbol(key, x, y + 10)}</g>")
        parts.append(text(x + symbol + 6, y + 14, label, more=key.label))
        x += wide
    return (y + LINE + 6 if keys else 0.0), parts


def _symbol(key: Key, x: float, y: float) -> str:
    if key.dash is None:
        return rectangle(x, y - 6, SIZE, SIZE, bar_paint(key.series))
    return line(x, y, x + _KEY, y, stroke_paint(key.dash))


def bar_paint(series: int, opacity: str = "") -> str:
    """The fill of a series' bars, with an outline for light ones."""
    opacity = opacity or FILLS[series % len(FILLS)]
    return f'fill="currentColor" fill-opacity="{opacity}" stroke="currentColor" stroke-width="0.75"'


def stroke_paint(dash: int = 0, width: float = 2) -> str:
    """The style of the line of a series."""
    broken = DASHES[dash % len(DASHES)]
    dashes = f' stroke-dasharray="{broken}"' if broken else ""
    return f'fill="none" stroke="currentColor" stroke-width="{width:g}"{dashes}'
