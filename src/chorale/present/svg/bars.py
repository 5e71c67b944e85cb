"""Horizontal bar charts, column charts and box plots, with groups and intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from chorale.present.svg.colours import series_tone
from chorale.present.svg.elements import WIDTH, fitted, line, picture, rectangle, strokes, text, text_width
from chorale.present.svg.frame import Axis, Key, Shown, bar_paint, frame, legend, no_data, under_axis
from chorale.present.svg.scales import LinearScale, finite

_MARGIN = 12
_WIDEST_LABEL = 220
_BAR, _BAR_OF_GROUP, _GAP = 20, 15, 9


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar starting at zero, with its interval. Consecutive bars with the same label form a group."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    series: int = 0
    faint: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        ends = finite((self.low, self.high))
        return (ends[0], ends[1]) if len(ends) == 2 and ends[0] < ends[1] else None


@dataclass(frozen=True, slots=True)
class Quartiles:
    """Quartiles and whiskers of a box plot."""

    label: str
    low: float
    first: float
    middle: float
    third: float
    high: float

    @property
    def values(self) -> tuple[float, ...]:
        return (self.low, self.first, self.middle, self.third, self.high)


def bar_chart(
    title: str, bars: Sequence[Bar], shown: Shown, *, series: Sequence[str] = (), description: str = ""
) -> str:
    """A chart of horizontal bars, each with its value; `series` are named in a legend."""
    left = _room_for([bar.label for bar in bars])
    right = WIDTH - _MARGIN - max((text_width(shown(value)) for value in finite(bar.value for bar in bars)), default=0)
    values = finite((0.0, *(end for bar in bars for end in (bar.value, *(bar.interval or ())))))
    across = LinearScale(min(values), max(values), left, right - 8)
    top, parts = legend([Key(name, number) for number, name in enumerate(series)], _MARGIN, WIDTH - _MARGIN)
    y = top + 4
    whiskers: list[str] = []
    for label, members in groupby(bars, key=lambda bar: bar.label):
        group = list(members)
        high = _BAR if len(group) == 1 else _BAR_OF_GROUP
        parts.append(_row_label(label, left, y + high * len(group) / 2))
        for bar in group:
            parts.append(_bar(bar, across, y, high, shown))
            if bar.interval:
                whiskers += _whisker(across(bar.interval[0]), across(bar.interval[1]), y + high / 2)
            y += high
        y += _GAP
    zero = strokes("axis", [line(across(0), top, across(0), max(y - _GAP + 4, top + 24))])
    if not bars:
        parts.append(text(WIDTH / 2, top + 20, "no data", "middle", "soft"))
    return picture(
        title, WIDTH, max(y, top + 28), [*parts, zero, strokes("ink", whiskers, 1.5)] if bars else parts, description
    )


def _bar(bar: Bar, across: LinearScale, y: float, high: float, shown: Shown) -> str:
    middle = y + high / 2 + 4
    if not finite((bar.value,)):
        return text(across(0) + 6, middle, "–", colour="soft")
    start, end = sorted((across(0), across(bar.value)))
    reach = max(end, across(bar.interval[1]) if bar.interval else end)
    # Light enough for the interval to be visible on it.
    opacity = "0.25" if bar.faint else "0.6" if bar.interval else ""
    shape = rectangle(start, y, end - start, high, bar_paint(bar.series, opacity))
    return f"<g {series_tone(bar.series)}>{shape}</g>{text(reach + 6, middle, shown(bar.value))}"


def _whisker(start: float, end: float, y: float) -> list[str]:
    return [line(start, y, end, y), line(start, y - 3, start, y + 3), line(end, y - 3, end, y + 3)]


def _room_for(labels: Sequence[str]) -> float:
    """The width of the names on the left."""
    return _MARGIN + min(_WIDEST_LABEL, max(map(text_width, labels), default=0.0)) + 8


def _row_label(label: str, left: float, middle: float) -> str:
    return text(left - 8, middle + 4, fitted(label, _WIDEST_LABEL), "end", more=label)


def column_chart(
    title: str,
    bins: Sequence[str],
    counts: Mapping[str, Sequence[float]],
    x_title: str,
    y_title: str,
    *,
    description: str = "",
) -> str:
    """A chart of columns, with one or several series side by side in every bin."""
    keys = [Key(name, number) for number, name in enumerate(counts)] if len(counts) > 1 else []
    heights = finite(value for values in counts.values() for value in values)
    x_axis = Axis(x_title, low=0, high=len(bins) or 1, marks=[(place + 0.5, name) for place, name in enumerate(bins)])
    around = frame(x_axis, Axis(y_title, zero=True, whole=True), [], heights, keys)
    room = (around.right - around.left) / (len(bins) or 1)
    wide = room * 0.84 / (len(counts) or 1)
    parts = list(around.parts)
    for number, values in enumerate(counts.values()):
        shapes = []
        for place, value in enumerate(values):
            if finite((value,)) and value:
                x = around.left + room * (place + 0.08) + wide * number
                y = around.y(value)
                shapes.append(rectangle(x, y, wide, around.y(0) - y, bar_paint(number)))
        parts.append(f"<g {series_tone(number)}>{''.join(shapes)}</g>")
    if not any(heights):
        parts.append(no_data(around))
    return picture(title, around.width, around.height, parts, description)


def box_chart(title: str, boxes: Sequence[Quartiles], axis: Axis, *, description: str = "") -> str:
    """A chart of horizontal boxes: quartiles, median and whiskers."""
    drawn = [box for box in boxes if len(finite(box.values)) == 5]
    left, right = _room_for([box.label for box in drawn]), WIDTH - 24.0
    values = [value for box in drawn for value in box.values]
    labelled = axis.labelled(values)
    across = LinearScale(*axis.ends(values, labelled), left, right)
    bottom = max(1, len(drawn)) * (_BAR + 14) + 8
    parts = [strokes("grid", [line(across(place), 6, across(place), bottom) for place, _ in labelled])]
    parts += under_axis(labelled, across, bottom, (0, WIDTH))
    for number, box in enumerate(drawn):
        y = 12 + number * (_BAR + 14)
        middle = y + _BAR / 2
        low, first, median, third, high = map(across, box.values)
        parts.append(_row_label(box.label, left, middle))
        parts.append(strokes("axis", [line(low, middle, first, middle), line(third, middle, high, middle)], 1.5))
        shape = rectangle(first, y, max(1.0, third - first), _BAR, bar_paint(0, "0.4"))
        parts.append(f"<g {series_tone(0)}>{shape}</g>")
        parts.append(strokes("ink", [line(median, y, median, y + _BAR)], 2))
    if not drawn:
        parts.append(text((left + right) / 2, bottom / 2, "no data", "middle", "soft"))
    parts.append(text((left + right) / 2, bottom + 38, fitted(axis.title, right - left), "middle"))
    return picture(title, WIDTH, bottom + 46, parts, description)
