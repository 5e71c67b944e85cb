"""A study's stages and gates as a drawing: what is made of what, and who may go where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from chorale.engine.running import RunningStage, Study

_WIDTH = 640
_ROW = 104
_BOX = 54
_GAP = 18
_LANE = 16
_MARGIN = 10
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


@dataclass(frozen=True, slots=True)
class _Lane:
    """Where an edge passes a layer between two others, beside the boxes there."""

    edge: _Edge
    layer: int


_Slot = _Node | _Lane


def protocol_diagram(study: Study) -> str:
    """SVG in the colours of the page around it. No line runs behind a box."""
    nodes, edges = _nodes(study), _edges(study)
    depth = _depths(nodes, edges)
    layers = _ordered(_slots(nodes, edges, depth), edges)
    places = _places(layers)
    of = {slot.name: place for slot, place in places.items() if isinstance(slot, _Node)}
    back = [edge for edge in edges if depth[edge.target] <= depth[edge.source]]
    height = len(layers) * _ROW - (_ROW - _BOX) + (34 if back else 20)
    parts = []
    for edge in edges:
        if edge in back:
            parts.append(_around(of[edge.source], of[edge.target], edge, back.index(edge)))
        else:
            way = [place for slot, place in places.items() if isinstance(slot, _Lane) and slot.edge == edge]
            parts.append(_down([of[edge.source], *way, of[edge.target]], edge))
    parts += [_box(slot, places[slot]) for layer in layers for slot in layer if isinstance(slot, _Node)]
    title = escape(f"Stages and gates of {study.settings.study.title}", quote=True)
    width = _WIDTH + _MARGIN * len(back)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def _nodes(study: Study) -> list[_Node]:
    stages = [_Node(name, (name, _kind(stage)), is_gate=False) for name, stage in study.stages.items()]
    gates = [_Node(f"gate {name}", (name, "gate"), is_gate=True) for name in study.gates]
    return [*stages, *gates]


def _kind(stage: RunningStage) -> str:
    """The arms it is for, if it is not for all; the task; and whether everybody does the same."""
    arms = f"{' and '.join(stage.settings.arms)}: " if stage.settings.arms else ""
    return arms + stage.task.name + (", round" if stage.settings.round else "")


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


def _depths(nodes: Sequence[_Node], edges: Sequence[_Edge]) -> dict[str, int]:
    """Every node below all it depends on. Graders and those they grade may depend on each other: then it stops."""
    depth = {node.name: 0 for node in nodes}
    for _ in nodes:
        for edge in edges:
            depth[edge.target] = min(len(nodes), max(depth[edge.target], depth[edge.source] + 1))
    order = {old: new for new, old in enumerate(sorted(set(depth.values())))}
    return {name: order[old] for name, old in depth.items()}


def _slots(nodes: Sequence[_Node], edges: Sequence[_Edge], depth: Mapping[str, int]) -> list[list[_Slot]]:
    """What stands in every layer: its nodes, and the edges that pass it."""
    layers: list[list[_Slot]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        layers[depth[node.name]].append(node)
    for edge in edges:
        for layer in range(depth[edge.source] + 1, depth[edge.target]):
            layers[layer].append(_Lane(edge, layer))
    return layers


def _ordered(layers: list[list[_Slot]], edges: Sequence[_Edge]) -> list[list[_Slot]]:
    """Every layer in the order of what it hangs on in the layer above, so that few lines cross."""
    sources: dict[str, list[str]] = {}
    for edge in edges:
        sources.setdefault(edge.target, []).append(edge.source)
    found: list[list[_Slot]] = []
    for layer in layers:
        above = found[-1] if found else []
        place: dict[str | _Edge, float] = {}
        for number, slot in enumerate(above):
            share = (number + 0.5) / len(above)
            place[slot.edge if isinstance(slot, _Lane) else slot.name] = share

        def middle(slot: _Slot, at: float, place: dict[str | _Edge, float] = place) -> float:
            if isinstance(slot, _Lane):
                hangs_on = [place.get(slot.edge, place.get(slot.edge.source))]
            else:
                lanes = [place.get(edge) for edge in edges if edge.target == slot.name]
                hangs_on = [*lanes, *(place.get(source) for source in sources.get(slot.name, ()))]
            known = [one for one in hangs_on if one is not None]
            return sum(known) / len(known) if known else at

        kept = [(middle(slot, (number + 0.5) / len(layer)), number, slot) for number, slot in enumerate(layer)]
        found.append([slot for _, _, slot in sorted(kept, key=lambda one: one[:2])])
    return found


def _places(layers: Sequence[Sequence[_Slot]]) -> dict[_Slot, _Place]:
    found: dict[_Slot, _Place] = {}
    for number, layer in enumerate(layers):
        boxes = sum(isinstance(slot, _Node) for slot in layer)
        room = (_WIDTH - _GAP - (len(layer) - boxes) * _LANE) / max(1, boxes)
        left, y = _GAP / 2, 10 + number * _ROW
        for slot in layer:
            wide = room if isinstance(slot, _Node) else _LANE
            found[slot] = _Place(left + wide / 2, y, min(_WIDEST, room - _GAP) if isinstance(slot, _Node) else 0)
            left += wide
    return found


def _box(node: _Node, place: _Place) -> str:
    # About as many letters as fit.
    longest = min(_LONGEST, int(place.width / 7.8))
    first, second = (_short(line, longest) for line in node.lines)
    kind, corner = ("gate", _BOX / 2) if node.is_gate else ("stage", 6)
    x, y = place.x - place.width / 2, place.y
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{_BOX}" rx="{corner:g}"/>'
        f'<text x="{place.x:.1f}" y="{place.y + 23:.1f}" text-anchor="middle">{escape(first)}</text>'
        f'<text class="small" x="{place.x:.1f}" y="{place.y + 41:.1f}" text-anchor="middle">{escape(second)}</text>'
    )


def _down(way: Sequence[_Place], edge: _Edge) -> str:
    """From a box down to another, beside those between."""
    parts = []
    for above, below in pairwise(way):
        top, bottom = above.y + _BOX, below.y - (7 if below is way[-1] else 0)
        middle = (top + below.y) / 2
        start = f"M{above.x:.1f},{top:.1f}" if above is way[0] else f"V{top:.1f}"
        parts.append(f"{start} C{above.x:.1f},{middle:.1f} {below.x:.1f},{middle:.1f} {below.x:.1f},{bottom:.1f}")
    return _line(" ".join(parts), way[-1], edge)


def _around(start: _Place, end: _Place, edge: _Edge, number: int) -> str:
    """Back up, or across: between the layers and along the margin."""
    out, over, side = start.y + _BOX + 12 + 2 * number, end.y - 18, _WIDTH + number * _MARGIN
    path = f"M{start.x:.1f},{start.y + _BOX:.1f} V{out:.1f} H{side:.1f} V{over:.1f} H{end.x:.1f} V{end.y - 7:.1f}"
    return _line(path, end, edge)


def _line(path: str, end: _Place, edge: _Edge) -> str:
    kind = "edge way" if edge.people else "edge"
    head = f"{end.x:.1f},{end.y:.1f} {end.x - 4:.1f},{end.y - 8:.1f} {end.x + 4:.1f},{end.y - 8:.1f}"
    return f'<path class="{kind}" d="{path}"/><polygon class="head" points="{head}"/>'


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: max(1, longest - 1)] + "…"
