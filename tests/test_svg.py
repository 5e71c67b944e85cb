"""Pictures as SVG: safe, whole, legible, and the same every time."""

import math
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chorale.present.svg import (
    PAGE_STYLE,
    Axis,
    Bar,
    Curve,
    GraphLink,
    Node,
    Point,
    Quartiles,
    bar_chart,
    box_chart,
    column_chart,
    curve_chart,
    graph_picture,
    point_chart,
    stacked,
    standalone,
)
from chorale.present.svg.colours import DARK, LIGHT
from chorale.present.svg.elements import fitted, text_width, wrapped
from chorale.present.svg.scales import LinearScale, ticks
from svg_pictures import boxes, links_behind_boxes, overlapping_texts, parsed, texts_outside, words

NASTY = "</title><script>alert(1)</script> \"&' \x00\x1b\ud800\ufffe ]]> " + "long " * 40
NONE = math.nan


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _curves(name: str, values: list[float]) -> str:
    curves = [Curve(name, list(enumerate(values)), tag=name), Curve(f"{name} again", [(0, 0.5)], 1, dash=1)]
    return curve_chart(name, curves, Axis(name), Axis(name, _percent), description=name)


def _points(name: str, values: list[float]) -> str:
    points = [Point(x, y, name, (x - 1, x + 1), (y, y)) for x, y in enumerate(values)]
    return point_chart(name, points, Axis(name), Axis(name), description=name)


def _bars(name: str, values: list[float]) -> str:
    bars = [Bar(f"{name} {number // 2}", value, value, 2.0, number % 2) for number, value in enumerate(values)]
    return bar_chart(name, bars, _percent, series=(name, "other"), description=name)


def _columns(name: str, values: list[float]) -> str:
    bins = [f"{name} {number}" for number in range(len(values))]
    return column_chart(name, bins, {name: values, "other": values}, name, name, description=name)


def _boxes(name: str, values: list[float]) -> str:
    return box_chart(name, [Quartiles(name, *[value] * 5) for value in values], Axis(name), description=name)


def _graph(name: str, values: list[float]) -> str:
    nodes = [Node(str(number), name, (name, name), share=value) for number, value in enumerate(values)]
    links = [GraphLink(str(number), str(number + 1)) for number in range(len(values) - 1)]
    return graph_picture(name, nodes, links, description=name)


CHARTS = (_curves, _points, _bars, _columns, _boxes, _graph)
VALUES: tuple[list[float], ...] = (
    [],
    [0.0],
    [1.0],
    [0.3, 0.7, 0.4],
    [-2.0, 1e9],
    [1e-12, 2e-12],
    [1e16, 1e16 + 2],
    [math.nan],
    [math.nan, math.inf, 0.5],
)


@pytest.mark.parametrize("values", VALUES, ids=str)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_every_chart_draws_whatever_numbers_there_are(
    chart: Callable[[str, list[float]], str], values: list[float]
) -> None:
    svg = chart("Shares", values)
    root = parsed(svg)
    assert chart("Shares", list(values)) == svg
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points", "d", "viewBox"):
                assert not re.search(r"nan|inf|e[+-]", value), (element.tag, name, value)
                assert name not in ("width", "height") or float(value) >= 0
    assert texts_outside(svg) == []


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_text_from_anywhere_is_only_text(chart: Callable[[str, list[float]], str]) -> None:
    svg = chart(NASTY, [0.2, 0.6])
    root = parsed(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "text", "rect", "line", "polyline", "polygon", "path", "circle"}
    svg.encode("utf-8")
    # Nothing is loaded, nothing runs, and no name can clash with one of the page around it.
    for element in root.iter():
        assert not {"id", "href", "style", "src"} & element.attrib.keys()
        assert not any(name.startswith("on") or "url(" in value for name, value in element.attrib.items())
    assert texts_outside(svg) == []
    assert parsed(standalone(svg)).tag == root.tag


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.__name__)
def test_a_picture_says_what_it_is(chart: Callable[[str, list[float]], str]) -> None:
    root = parsed(chart("Shares & more", [0.5]))
    assert root.get("role") == "img" and root.get("aria-label") == "Shares & more"
    assert [child.text for child in list(root)[:2]] == ["Shares & more", "Shares & more"]
    assert [child.tag.rpartition("}")[2] for child in list(root)[:2]] == ["title", "desc"]


def test_a_chart_of_nothing_says_so() -> None:
    for chart in (_points, _bars, _columns, _boxes):
        assert "no data" in words(chart("Shares", []))
    assert "no data" in words(curve_chart("Shares", [Curve("", [(1, NONE)])], Axis(), Axis()))


def test_a_value_that_is_no_number_has_a_bar_without_length() -> None:
    svg = bar_chart("Shares", [Bar("known", 0.5, 0.4, 0.6), Bar("unknown", NONE)], _percent)
    assert "–" in words(svg) and "50%" in words(svg)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.booleans())
@example(0.0, 5e-324, False)
def test_ticks_are_few_even_and_around_the_values(low: float, span: float, whole: bool) -> None:
    places = ticks(low, low + span, whole=whole)
    assert 2 <= len(places) <= 7
    slack = 1e-6 * max(abs(low), abs(low + span), 1e-6)
    assert places[0] <= low + slack and places[-1] >= low + span - slack
    steps = [after - before for before, after in pairwise(places)]
    assert all(step > 0 and step == pytest.approx(steps[0], rel=1e-3) for step in steps)
    assert not whole or all(place == round(place) for place in places)


def test_a_scale_is_straight() -> None:
    scale = LinearScale(0, 10, 100, 0)
    assert [scale(value) for value in (0, 5, 10)] == [100, 50, 0]


def test_long_texts_are_cut_or_broken() -> None:
    assert fitted("short", 200) == "short"
    cut = fitted("a text that is much too long for this", 100)
    assert cut.endswith("…") and text_width(cut) <= 100
    assert wrapped("round-3-c-passed", 90, 2) == ("round-3-c-", "passed")
    assert wrapped("one two three four five six", 60, 2)[-1].endswith("…")
    assert wrapped("漢字" * 20, 60, 2)[-1].endswith("…")


def test_cut_labels_are_whole_in_a_tooltip() -> None:
    name = "a resource of rules with a very long name that no legend can hold " * 3
    svg = curve_chart("Rules", [Curve(name, [(0, 1), (1, 0)])], Axis(), Axis())
    assert name.strip() in [element.text for element in parsed(svg).iter() if element.tag.endswith("title")]


def test_neither_ticks_nor_legends_stand_on_each_other() -> None:
    bins = [f"{number * 1000:,}–{number * 1000 + 999:,}" for number in range(30)]
    counts = {f"stage number {number}": [float(number)] * 30 for number in range(9)}
    assert overlapping_texts(column_chart("Many", bins, counts, "answers", "workers")) == []
    curves = [Curve(f"system {number} of many", [(0, number), (1000, 3)], number, number) for number in range(12)]
    svg = curve_chart("Many", curves, Axis("items"), Axis("dollars", lambda value: f"${value:,.2f}"))
    assert overlapping_texts(svg) == []
    assert texts_outside(svg) == []


def test_series_can_be_told_apart_without_colour() -> None:
    curves = [Curve(str(number), [(0, number), (1, 1)], number, dash=number) for number in range(6)]
    drawn = parsed(curve_chart("Six", curves, Axis(), Axis()))
    dashes = [element.get("stroke-dasharray") for element in drawn.iter() if element.tag.endswith("polyline")]
    assert len(set(dashes)) == 6


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_page(palette: dict[str, str]) -> None:
    back = _luminance(palette["back"])

    def contrast(name: str) -> float:
        bright, dark = sorted((_luminance(palette[name]), back), reverse=True)
        return (bright + 0.05) / (dark + 0.05)

    assert min(contrast(name) for name in ("ink", "soft")) >= 4.5
    assert min(contrast(name) for name in ("axis", *"123456")) >= 3
    assert LIGHT.keys() == DARK.keys()
    assert all(f".pic-{name} " in PAGE_STYLE for name in DARK)


def test_pictures_below_each_other_are_one() -> None:
    panel = curve_chart("Inside", [Curve("a", [(0, 1), (2, 3)])], Axis(), Axis())
    svg = standalone(stacked("Both", [("First", panel), ("Second", panel)]))
    root = parsed(svg)
    assert svg.startswith("<?xml")
    assert [float(inner.attrib["y"]) for inner in root if inner.tag.endswith("svg")] == [34, 34 + 324 + 44]
    assert float(root.attrib["height"]) == 2 * (324 + 44)


# The graph


def _mesh(count: int, pairs: list[tuple[int, int]]) -> tuple[list[Node], list[GraphLink]]:
    nodes = [Node(f"n{place}", f"stage-number-{place}", ("form",), is_gate=place % 3 == 2) for place in range(count)]
    return nodes, [GraphLink(f"n{source % count}", f"n{target % count}", source % 2 == 0) for source, target in pairs]


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=14), st.booleans())
def test_no_link_of_any_graph_runs_behind_a_node(count: int, pairs: list[tuple[int, int]], sideways: bool) -> None:
    nodes, links = _mesh(count, [pair for pair in pairs if pair[0] % count < pair[1] % count])
    svg = graph_picture("Graph", nodes, links, sideways=sideways)
    drawn = boxes(svg)
    assert len(drawn) == count
    assert not any(one.overlaps(other) for place, one in enumerate(drawn) for other in drawn[:place])
    assert links_behind_boxes(svg) == []


@given(st.integers(1, 6), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=9), st.booleans())
def test_graphs_with_circles_are_drawn_too(count: int, pairs: list[tuple[int, int]], sideways: bool) -> None:
    nodes, links = _mesh(count, pairs)
    svg = graph_picture("Graph", nodes, [*links, GraphLink("n0", "elsewhere")], sideways=sideways)
    assert len(boxes(svg)) == count
    kept = {(link.source, link.target, link.dashed) for link in links}
    assert len(list(parsed(svg).iter("{http://www.w3.org/2000/svg}path"))) == len(kept)


def test_columns_stay_below_each_other_where_others_end_earlier() -> None:
    names = ["root", "a1", "b1", "b2", "b3"]
    links = [GraphLink(*pair) for pair in (("root", "a1"), ("root", "b1"), ("b1", "b2"), ("b2", "b3"))]
    svg = graph_picture(
        "Flow", [Node(name, name) for name in names], links, columns={"a1": 0, "b1": 1, "b2": 1, "b3": 1}
    )
    root, first, *second = boxes(svg)
    assert len({(box.left, box.right) for box in second}) == 1
    assert root.left < first.right < second[0].left
    assert links_behind_boxes(svg) == []


def test_what_nothing_leads_to_stands_just_before_what_it_leads_to() -> None:
    nodes = [Node(name, name) for name in ("train", "gate", "write", "check", "alone")]
    links = [
        GraphLink("train", "gate"),
        GraphLink("gate", "write"),
        GraphLink("write", "check"),
        GraphLink("alone", "check"),
    ]
    drawn = boxes(graph_picture("Graph", nodes, links))
    tops = {node.name: box.top for node, box in zip(nodes, drawn, strict=True)}
    assert tops["alone"] == tops["write"] > tops["gate"] > tops["train"]


@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=6),
    st.sampled_from(["{:.0f}", "{:.0%}", "{:.1f}", "{:,.0f} h", "{:.6g}"]),
    st.booleans(),
)
@example([0.0, 0.012], "{:.0%}", True)
@example([0.4, 1.9], "{:.0f}", True)
@example([0.001, 0.002], "{:.0%}", False)
def test_no_two_ticks_of_an_axis_read_the_same(values: list[float], form: str, zero: bool) -> None:
    labelled = Axis(shown=form.format, zero=zero).labelled(values)
    assert labelled and len({words for _, words in labelled}) == len(labelled)
    assert [place for place, _ in labelled] == sorted(place for place, _ in labelled)
