"""A graph as a picture: labelled boxes, and arrows between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from chorale.present.svg.colours import tone
from chorale.present.svg.elements import SIZE, escaped, number_text, picture, rectangle, text, wrapped
from chorale.present.svg.frame import stroke_paint
from chorale.present.svg.graph import ARROW, GraphLayout, GraphLink, GraphPlace, Node, Size, Spacing, Step, layout
from chorale.present.svg.scales import finite

_TITLE_SIZE = 13
_TITLE_LINE, _LINE = 17, 15
_PADDING = 11
_BOX, _BOX_SIDEWAYS, _GATE_SIDEWAYS = 200, 176, 132
_DOWN = Spacing(46, 16, 690)
_SIDEWAYS = Spacing(36, 18)


def graph_picture(
    title: str,
    nodes: Sequence[Node],
    links: Sequence[GraphLink],
    *,
    sideways: bool = False,
    description: str = "",
    columns: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """A picture of a graph: downwards with the width of a page, or sideways with any width.

    `columns` maps nodes that form a column to its number.
    """
    widths = {node.name: float(_wanted_width(node, sideways=sideways)) for node in nodes}
    placed = _laid_out(nodes, links, widths, dict.fromkeys(widths, 0.0), columns, sideways=sideways)
    if not sideways:
        # The height of boxes depends on their width and row, which are known only now.
        widths = {name: place.across for name, place in placed.places.items()}
        rows = {name: place.layer[0] for name, place in placed.places.items()}
        placed = _laid_out(nodes, links, widths, rows, columns, sideways=sideways)
    pen = _Pen(sideways)
    parts = [_link(link, steps, pen) for link, steps in placed.routes]
    parts += [_node(node, pen.box(placed.places[node.name])) for node in nodes]
    return picture(title, *pen.point(placed.size.along, placed.size.across), parts, description)


def _wanted_width(node: Node, *, sideways: bool) -> int:
    if not sideways:
        return _BOX
    return _GATE_SIDEWAYS if node.is_gate else _BOX_SIDEWAYS


def _laid_out(
    nodes: Sequence[Node],
    links: Sequence[GraphLink],
    widths: Mapping[str, float],
    rows: Mapping[str, float],
    columns: Mapping[str, int],
    *,
    sideways: bool,
) -> GraphLayout:
    """Give all boxes of a row the height of the highest, and likewise all gates."""
    heights: dict[tuple[float, bool], float] = {}
    for node in nodes:
        row = (rows[node.name], node.is_gate)
        heights[row] = max(heights.get(row, 0.0), _Words.of(node, widths[node.name]).height)
    sizes = {}
    for node in nodes:
        width, height = widths[node.name], heights[rows[node.name], node.is_gate]
        sizes[node.name] = Size(width, height) if sideways else Size(height, width)
    return layout(sizes, links, _SIDEWAYS if sideways else _DOWN, columns)


@dataclass(frozen=True, slots=True)
class _Words:
    """The text of a box, wrapped to fit."""

    title: tuple[str, ...]
    lines: tuple[str, ...]
    height: float

    @classmethod
    def of(cls, node: Node, width: float) -> "_Words":
        room = width - (24 if node.is_gate else 16)
        title = wrapped(node.title, room, 2, _TITLE_SIZE * 1.06)
        lines = tuple(part for line in node.lines for part in wrapped(line, room, 2))
        bar = 0 if node.share is None else 12
        return cls(title, lines, 2 * _PADDING - 3 + _TITLE_LINE * len(title) + _LINE * len(lines) + bar)


@dataclass(frozen=True, slots=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Pen:
    sideways: bool

    def point(self, along: float, across: float) -> tuple[float, float]:
        return (along, across) if self.sideways else (across, along)

    def box(self, place: GraphPlace) -> _Rectangle:
        x, y = self.point(place.start, place.middle - place.across / 2)
        return _Rectangle(x, y, *self.point(place.end - place.start, place.across))

    def at(self, along: float, across: float) -> str:
        return ",".join(map(number_text, self.point(along, across)))


def _node(node: Node, box: _Rectangle) -> str:
    words = _Words.of(node, box.width)
    middle = box.x + box.width / 2
    parts = [_outline(node, box)]
    y = box.y + (box.height - words.height) / 2 + _PADDING + SIZE - 1
    for line in words.title:
        parts.append(f'<g font-weight="600" font-size="{_TITLE_SIZE}">{text(middle, y, line, "middle")}</g>')
        y += _TITLE_LINE
    for line in words.lines:
        parts.append(text(middle, y, line, "middle", "soft"))
        y += _LINE
    if node.share is not None:
        wide = box.width - 28
        track = (box.x + 14, box.y + box.height - 13, wide)
        [done] = finite((node.share,)) or [0.0]
        parts.append(rectangle(*track, 5, f'rx="2.5" {tone("grid")}'))
        if done > 0:
            parts.append(rectangle(*track[:2], wide * min(1.0, done), 5, f'rx="2.5" {tone("1")}'))
    return f"<g><title>{escaped(', '.join((node.title, *node.lines)))}</title>{''.join(parts)}</g>"


def _outline(node: Node, box: _Rectangle) -> str:
    at = (box.x, box.y, box.width, box.height)
    if node.is_gate:
        return rectangle(*at, f'rx="{number_text(box.height / 2)}" {tone("ink")} {stroke_paint(5, 1.25)}')
    colour = tone("axis" if node.muted else "1")
    paint = 'fill="currentColor" fill-opacity="0.06" stroke="currentColor" stroke-width="1.25"'
    return rectangle(*at, f'rx="7" {colour} {paint}')


def _link(link: GraphLink, steps: Sequence[Step], pen: _Pen) -> str:
    path = [f"M{pen.at(steps[0].along, steps[0].across)}"]
    for before, step in pairwise(steps):
        if step.bow and step.across != before.across:
            half = (before.along + step.along) / 2
            path.append(f"C{pen.at(half, before.across)} {pen.at(half, step.across)} {pen.at(step.along, step.across)}")
        elif (step.along, step.across) != (before.along, before.across):
            path.append(f"L{pen.at(step.along, step.across)}")
    tip = steps[-1]
    head = " ".join(pen.at(tip.along + along, tip.across + across) for along, across in ((ARROW, 0), (-1, -4), (-1, 4)))
    line = f'<path {stroke_paint(5 if link.dashed else 0, 1.25)} d="{"".join(path)}"/>'
    return f'<g {tone("axis")}>{line}<polygon points="{head}"/></g>'
