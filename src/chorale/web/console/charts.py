"""Charts of values between 0 and 1 over time, in two sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from chorale.present.svg import Axis, Curve, curve_chart

_WIDE, _NARROW = (1180, 190), (430, 190)
"""Width and height for a screen and for a phone. With one size for both, letters would be too large or too small."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture in two sizes, of which a page shows one."""

    wide: Markup
    narrow: Markup


@dataclass(frozen=True, slots=True)
class Trend:
    """Values between 0 and 1 from left to right, evenly apart; unknown ones are left out."""

    label: str
    values: Sequence[float | None]

    @property
    def last(self) -> float | None:
        return next((value for value in reversed(self.values) if value is not None), None)


def trend_chart(title: str, trends: Sequence[Trend], ends: tuple[str, str]) -> Chart | None:
    """The trends as a picture; None if no value is known. `ends`: the left and right labels of the horizontal axis."""
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
    # The functions that draw titles and labels escape them.
    wide, narrow = (
        Markup(curve_chart(title, curves, along, shares, width=width, height=height))  # noqa: S704
        for width, height in (_WIDE, _NARROW)
    )
    return Chart(wide, narrow)
