"""A study's stages and gates as a drawing: what is made of what, and who may go where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from chorale.study import Study

_WIDTH = 640
_ROW = 104
_BOX = 54
_GAP = 18
_WIDEST = 220
_LONGEST = 26


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    lines: tuple[str, str]
    is_gate: bool


@dataclass(frozen=True, slots=True)
class _Edge:
    """From one node to another: items that are made, or people who may go on."""

    source: str
    target: str
    people: bool


@dataclass(frozen=True, slots=True)
class _Place:
    x: float
    """Of the middle."""
    y: float
    width: float


def protocol_diagram(study: Study) -> str:
    """SVG in the colours of the page around it."""
    nodes, edges = _nodes(study), _edges(study)
    layers = _layers(nodes, edges)
    places = _places(layers)
    height = len(layers) * _ROW - (_ROW - _BOX) + 20
    parts = [_arrow(places[edge.source], places[edge.target], edge) for edge in edges]
    parts += [_box(node, places[node.name]) for layer in layers for node in layer]
    title = escape(f"Stages and gates of {study.settings.study.title}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def _nodes(study: Study) -> list[_Node]:
    stages = [
        _Node(name, (name, stage.task.name + (", round" if stage.settings.round else "")), is_gate=False)
        for name, stage in study.stages.items()
    ]
    gates = [_Node(f"gate {name}", (name, "gate"), is_gate=True) for name in study.gates]
    return [*stages, *gates]


def _edges(study: Study) -> list[_Edge]:
    found = [_Edge(source, name, False) for name, stage in study.stages.items() for source in stage.settings.sources]
    given_by: dict[str, str] = {}
    arms = study.settings.arms
    for name, gate in study.gates.items():
        found += [_Edge(stage, f"gate {name}", True) for stage in gate.settings.stage if stage in study.stages]
        given_by[name] = f"gate {name}"
        if gate.settings.promote is not None:
            given_by.setdefault(gate.settings.promote.to, f"gate {name}")
    for name, stage in study.stages.items():
        entry = stage.settings.entry
        found += [_Edge(given_by[one], name, True) for one in entry.qualifications if one in given_by]
        if arms is not None and stage.settings.arms and not stage.settings.sources and arms.after in given_by:
            found.append(_Edge(given_by[arms.after], name, True))
        if entry.qualified_in in study.stages:
            found.append(_Edge(str(entry.qualified_in), name, True))
    return list(dict.fromkeys(edge for edge in found if edge.source != edge.target))


def _layers(nodes: Sequence[_Node], edges: Sequence[_Edge]) -> list[list[_Node]]:
    """Every node below all it depends on. Graders and those they grade may depend on each other: then it stops."""
    depth = {node.name: 0 for node in nodes}
    for _ in nodes:
        for edge in edges:
            depth[edge.target] = min(len(nodes), max(depth[edge.target], depth[edge.source] + 1))
    order = sorted(set(depth.values()))
    return [[node for node in nodes if depth[node.name] == layer] for layer in order]


def _places(layers: Sequence[Sequence[_Node]]) -> Mapping[str, _Place]:
    found = {}
    for number, layer in enumerate(layers):
        room = (_WIDTH - _GAP) / len(layer)
        width = min(_WIDEST, room - _GAP)
        for place, node in enumerate(layer):
            found[node.name] = _Place(_GAP / 2 + room * (place + 0.5), 10 + number * _ROW, width)
    return found


def _box(node: _Node, place: _Place) -> str:
    # About as many letters as fit.
    longest = min(_LONGEST, int(place.width / 8.8))
    first, second = (_short(line, longest) for line in node.lines)
    kind, corner = ("gate", _BOX / 2) if node.is_gate else ("stage", 6)
    x, y = place.x - place.width / 2, place.y
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{_BOX}" rx="{corner:g}"/>'
        f'<text x="{place.x:.1f}" y="{place.y + 23:.1f}" text-anchor="middle">{escape(first)}</text>'
        f'<text class="small" x="{place.x:.1f}" y="{place.y + 41:.1f}" text-anchor="middle">{escape(second)}</text>'
    )


def _arrow(start: _Place, end: _Place, edge: _Edge) -> str:
    kind = "edge way" if edge.people else "edge"
    if end.y <= start.y:
        # Back up, or across: around the side.
        side = max(start.x + start.width / 2, end.x + end.width / 2)
        from_y, to_y = start.y + _BOX / 2, end.y + _BOX / 2
        bend = min(_WIDTH - 4, side + 24)
        path = f"M{start.x + start.width / 2:.1f},{from_y:.1f} C{bend:.1f},{from_y:.1f} {bend:.1f},{to_y:.1f} "
        tip = end.x + end.width / 2
        head = f"{tip:.1f},{to_y:.1f} {tip + 8:.1f},{to_y - 4:.1f} {tip + 8:.1f},{to_y + 4:.1f}"
        return f'<path class="{kind}" d="{path}{tip + 6:.1f},{to_y:.1f}"/><polygon class="head" points="{head}"/>'
    top, bottom = start.y + _BOX, end.y
    middle = (top + bottom) / 2
    path = f"M{start.x:.1f},{top:.1f} C{start.x:.1f},{middle:.1f} {end.x:.1f},{middle:.1f} {end.x:.1f},{bottom - 7:.1f}"
    head = f"{end.x:.1f},{bottom:.1f} {end.x - 4:.1f},{bottom - 8:.1f} {end.x + 4:.1f},{bottom - 8:.1f}"
    return f'<path class="{kind}" d="{path}"/><polygon class="head" points="{head}"/>'


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: max(1, longest - 1)] + "…"
