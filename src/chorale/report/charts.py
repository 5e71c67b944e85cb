"""Charts as SVG by Altair, in colours that the colour-blind can tell apart and that print well in grey."""

import importlib.util
from collections.abc import Sequence
from typing import Any

NEEDED = (
    "Charts need altair and vl-convert, so this report has tables only. Install them: pip install 'chorale[charts]'"
)
# After Okabe and Ito (2008). The first three are far apart in lightness, so that a grey printer keeps them apart too;
# the line around the bars makes the light ones stand out from paper.
_COLOURS = ("#00446b", "#d55e00", "#f2cc7a", "#56b4e9", "#8a4f7d", "#d9e6ec")
_BAR = {"stroke": "#222222", "strokeWidth": 0.5}
_WIDTH = 480


def can_draw() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("altair", "vl_convert"))


def bars(rows: Sequence[tuple[str, str, float]], x_title: str) -> str:
    """Bars to the right in groups: each row is the group, what of it, and how much."""
    import altair as alt  # noqa: PLC0415 - of the extra `charts`

    groups = list(dict.fromkeys(group for group, _, _ in rows))
    kinds = list(dict.fromkeys(kind for _, kind, _ in rows))
    values = [{"group": group, "kind": kind, "value": value} for group, kind, value in rows]
    base: Any = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("group:N", sort=groups, title=None),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        x=alt.X("value:Q", title=x_title, axis=alt.Axis(tickCount=5, format=",d")),
    )
    colour = alt.Color("kind:N", sort=kinds, title=None, scale=alt.Scale(domain=kinds, range=list(_COLOURS)))
    told = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=",d"))
    chart: Any = alt.layer(base.mark_bar(**_BAR).encode(color=colour), told)
    return _svg(chart.properties(width=_WIDTH, height=max(60, 20 * len(groups) * len(kinds))))


def histogram(bins: Sequence[tuple[str, str, int]], x_title: str, y_title: str) -> str:
    """Columns from left to right: each row is the bin, what is counted, and how many."""
    import altair as alt  # noqa: PLC0415 - of the extra `charts`

    order = list(dict.fromkeys(name for name, _, _ in bins))
    kinds = list(dict.fromkeys(kind for _, kind, _ in bins))
    values = [{"bin": name, "kind": kind, "count": count} for name, kind, count in bins]
    chart: Any = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(**_BAR)
        .encode(
            x=alt.X("bin:N", sort=order, title=x_title, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            xOffset=alt.XOffset("kind:N", sort=kinds),
            y=alt.Y("count:Q", title=y_title, axis=alt.Axis(tickCount=5, format=",d", tickMinStep=1)),
            color=alt.Color(
                "kind:N",
                sort=kinds,
                title=None,
                scale=alt.Scale(domain=kinds, range=list(_COLOURS)),
                legend=alt.Legend() if len(kinds) > 1 else None,
            ),
        )
    )
    return _svg(chart.properties(width=_WIDTH, height=220))


def _svg(chart: Any) -> str:
    import vl_convert  # noqa: PLC0415 - of the extra `charts`

    plain = chart.properties(background="white").configure_view(stroke=None).configure_axis(labelLimit=220)
    return str(vl_convert.vegalite_to_svg(plain.configure_legend(orient="top", labelLimit=300).to_json()))
