"""Small charts of shares over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from chorale.present.svg import Axis, Curve, curve_chart

_WIDTH, _HEIGHT = 560, 170


@dataclass(frozen=True, slots=True)
class Trend:
    """Values between 0 and 1 from left to right, evenly apart; those that are not known are left out."""

    label: str
    values: Sequence[float | None]

    @property
    def last(self) -> float | None:
        return next((value for value in reversed(self.values) if value is not None), None)


def trend_chart(title: str, trends: Sequence[Trend], ends: tuple[str, str]) -> Markup | None:
    """The trends as a picture, if anything of them is known; `ends` stand below its left and its right."""
    if all(trend.last is None for trend in trends):
        return None
    longest = max(len(trend.values) for trend in trends)
    curves = [
        Curve(
            trend.label,
            [(float(place), value) for place, value in enumerate(trend.values) if value is not None],
            number,
            dash=number,
            dots=True,
        )
        for number, trend in enumerate(trends)
    ]
    last = max(1, longest - 1)
    along = Axis(low=0, high=last, marks=[(0, ends[0]), (last, ends[1])])
    shares = Axis(low=0, high=1, marks=[(0, "0"), (0.5, "0.5"), (1, "1")])
    # Titles and labels are escaped where they are drawn.
    return Markup(curve_chart(title, curves, along, shares, width=_WIDTH, height=_HEIGHT))  # noqa: S704
