"""The curves of resources of rules as a picture that stands alone."""

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chorale.kits.rules.metrics.curves import RuleScores
from chorale.model import UserError

_MOST_POINTS = 2000
_FEW = 3
"""A curve of so few points is drawn with dots: a line of one point can't be seen."""
_WIDTH, _HEIGHT = 520, 360
_X = "recall, of all valid applications"


def curve_chart(found: Mapping[str, RuleScores]) -> str:
    """Precision over recall, a line for every resource, as SVG."""
    missing = [name for name in ("altair", "vl_convert") if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError("--chart needs altair and vl-convert. Install them: pip install 'chorale[charts]'")
    import altair as alt  # noqa: PLC0415 - of the extra `charts`
    import vl_convert  # noqa: PLC0415

    names = [f"{name} (area {one.auc:.3f})" for name, one in found.items()]
    points = [
        point
        for (name, one), resource in zip(found.items(), names, strict=True)
        for point in _rows(name, resource, one)
    ]
    reached = max((point["recall"] for point in points), default=1.0)
    x = alt.X("recall:Q", scale=alt.Scale(domain=[0, min(1.0, reached * 1.05) or 1.0]), title=_X)
    y = alt.Y("precision:Q", scale=alt.Scale(domain=[0, 1]), title="precision")
    # One legend for colour and dashes, so that the lines can be told apart without colour.
    legend = alt.Legend(symbolType="stroke", symbolSize=600, symbolStrokeWidth=2)
    colour = alt.Color("resource:N", scale=alt.Scale(domain=names), title=None, legend=legend)
    dashes = alt.StrokeDash("resource:N", scale=alt.Scale(domain=names), title=None)
    base: Any = alt.Chart(alt.Data(values=points)).encode(x=x, y=y, color=colour)
    lines = base.mark_line().encode(strokeDash=dashes, order=alt.Order("place:Q"))
    short = [point for point in points if point["short"]]
    dots: Any = alt.Chart(alt.Data(values=short)).encode(x=x, y=y, color=colour)
    last = [point for point in short if point["last"]]
    left = [point for point in last if point["recall"] > reached / 2]
    right = [point for point in last if point["recall"] <= reached / 2]
    chart: Any = alt.layer(
        lines,
        dots.mark_point(filled=True, size=60),
        alt.Chart(alt.Data(values=left)).encode(x=x, y=y, text="name:N").mark_text(align="right", dx=-8),
        alt.Chart(alt.Data(values=right)).encode(x=x, y=y, text="name:N").mark_text(align="left", dx=8),
    )
    chart = chart.properties(width=_WIDTH, height=_HEIGHT).configure_legend(labelLimit=420, orient="bottom", columns=1)
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _rows(name: str, resource: str, one: RuleScores) -> list[dict[str, Any]]:
    points = _points(one)
    return [
        {
            "name": name,
            "resource": resource,
            "place": place,
            "recall": recall,
            "precision": precision,
            "short": len(one.curve.recall) <= _FEW,
            "last": place == len(points) - 1,
        }
        for place, (recall, precision) in enumerate(points)
    ]


def _points(one: RuleScores) -> Sequence[tuple[float, float]]:
    """At most so many, evenly over recall, the first and the last among them."""
    curve = one.curve
    places = np.arange(len(curve.recall))
    if len(places) > _MOST_POINTS:
        places = np.unique(np.searchsorted(curve.recall, np.linspace(curve.recall[0], curve.recall[-1], _MOST_POINTS)))
    return [(float(curve.recall[place]), float(curve.precision[place])) for place in places]
