"""Layout of a graph in layers, with links that do not cross nodes.

Positions are `along` the reading direction of the graph, and `across` it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType

LANE = 14
MARGIN = 10
ARROW = 8


@dataclass(frozen=True, slots=True)
class Node:
    """A box with a title and some lines in it; a gate is round at its ends."""

    name: str
    title: str
    lines: tuple[str, ...] = ()
    is_gate: bool = False
    share: float | None = None
    """Its progress; None if that does not apply."""
    muted: bool = False


@dataclass(frozen=True, slots=True)
class GraphLink:
    """A link between two nodes: dashed for people who may continue, solid for items."""

    source: str
    target: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    along: float
    across: float


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances between nodes, and the maximum extent across."""

    along: float
    across: float
    most: float = inf


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """The place of a node, or of a link in a layer: from `start` to `end`, around `middle`."""

    start: float
    end: float
    middle: float
    across: float
    layer: tuple[float, float]
    """The extent of its layer."""


@dataclass(frozen=True, slots=True)
class Step:
    """A straight line to a place, or a curve that leaves and arrives along the graph."""

    along: float
    across: float
    bow: bool = False


@dataclass(frozen=True, slots=True)
class GraphLayout:
    places: Mapping[str, GraphPlace]
    routes: Sequence[tuple[GraphLink, Sequence[Step]]]
    size: Size


_Slot = str | tuple[GraphLink, int]
"""The name of a node, or a link with its layer."""


def layout(
    sizes: Mapping[str, Size],
    links: Sequence[GraphLink],
    spacing: Spacing,
    columns: Mapping[str, int] = MappingProxyType({}),
) -> GraphLayout:
    """Place every node after those it depends on, next to others of the same depth.

    `columns` maps nodes that form a column to its number.
    """
    known = list(dict.fromkeys(link for link in links if link.source in sizes and link.target in sizes))
    layers = _layers(list(sizes), known)
    if not sizes:
        return GraphLayout({}, [], Size(2 * MARGIN, 2 * MARGIN))
    depth = {slot: number for number, layer in enumerate(layers) for slot in layer if isinstance(slot, str)}
    room = min(spacing.most, max(_wanted(layer, sizes, spacing) for layer in layers))
    places = _in_columns(_places(layers, sizes, spacing, room), sizes, spacing, room, columns)
    back = [link for link in known if depth[link.target] <= depth[link.source]]
    routes = [
        (link, _around(places[link.source], places[link.target], room, back.index(link)))
        if link in back
        else (link, _forward(link, places, range(depth[link.source] + 1, depth[link.target])))
        for link in known
    ]
    end = max(place.layer[1] for place in places.values())
    nodes = {slot: place for slot, place in places.items() if isinstance(slot, str)}
    after = 14 if any(depth[link.source] == len(layers) - 1 for link in back) else 0
    return GraphLayout(nodes, routes, Size(end + MARGIN + after, room + MARGIN * (1 + len(back))))


def _layers(names: Sequence[str], links: Sequence[GraphLink]) -> list[list[_Slot]]:
    depth = _depths(names, links)
    layers: list[list[_Slot]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        layers[depth[name]].append(name)
    for link in links:
        for layer in range(depth[link.source] + 1, depth[link.target]):
            layers[layer].append((link, layer))
    return _ordered(layers, links)


def _depths(names: Sequence[str], links: Sequence[GraphLink]) -> dict[str, int]:
    """The depth of every node. In a cycle, the depth is limited, and one link goes back."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for link in links:
            if link.source != link.target:
                depth[link.target] = min(len(names), max(depth[link.target], depth[link.source] + 1))
    _move_closer(depth, links)
    order = {old: new for new, old in enumerate(sorted(set(depth.values())))}
    return {name: order[old] for name, old in depth.items()}


def _move_closer(depth: dict[str, int], links: Sequence[GraphLink]) -> None:
    """Move nodes without predecessors next to their successors, to avoid long links."""
    sources: dict[str, set[str]] = {name: set() for name in depth}
    targets: dict[str, set[str]] = {name: set() for name in depth}
    for link in links:
        sources[link.target].add(link.source)
        targets[link.source].add(link.target)
    for name in sorted(depth, key=lambda name: -depth[name]):
        nearest = min((depth[target] for target in targets[name]), default=0) - 1
        alone = all(targets[source] == {name} and not sources[source] for source in sources[name])
        if nearest > depth[name] and alone:
            depth[name] = nearest


def _ordered(layers: Sequence[Sequence[_Slot]], links: Sequence[GraphLink]) -> list[list[_Slot]]:
    """Sort every layer by its predecessors, so that few links cross."""
    ordered: list[list[_Slot]] = []
    for layer in layers:
        before: dict[str | GraphLink, float] = {}
        for number, slot in enumerate(ordered[-1] if ordered else ()):
            before[slot if isinstance(slot, str) else slot[0]] = (number + 0.5) / len(ordered[-1])

        def position(slot: _Slot, usual: float, before: Mapping[str | GraphLink, float] = before) -> float:
            leading = [slot[0]] if not isinstance(slot, str) else [link for link in links if link.target == slot]
            known = [before[key] for link in leading for key in (link, link.source) if key in before]
            return sum(known) / len(known) if known else usual

        kept = [(position(slot, (number + 0.5) / len(layer)), number) for number, slot in enumerate(layer)]
        ordered.append([layer[number] for _, number in sorted(kept)])
    return ordered


def _wanted(layer: Sequence[_Slot], sizes: Mapping[str, Size], spacing: Spacing) -> float:
    """The preferred extent of a layer."""
    return sum(sizes[slot].across + spacing.across if isinstance(slot, str) else LANE for slot in layer)


def _places(
    layers: Sequence[Sequence[_Slot]], sizes: Mapping[str, Size], spacing: Spacing, room: float
) -> dict[_Slot, GraphPlace]:
    """The places of a layer: narrower nodes if there is too little room, wider gaps if there is more."""
    places: dict[_Slot, GraphPlace] = {}
    start = float(MARGIN)
    for layer in layers:
        nodes = [slot for slot in layer if isinstance(slot, str)]
        long = max(sizes[name].along for name in nodes)
        fixed = LANE * (len(layer) - len(nodes)) + spacing.across * len(nodes)
        wide = sum(sizes[name].across for name in nodes)
        shrink = min(1.0, (room - fixed) / wide)
        spare = max(0.0, room - fixed - wide) / len(nodes)
        across = MARGIN / 2
        for slot in layer:
            if isinstance(slot, str):
                size, taken = sizes[slot], sizes[slot].across * shrink + spacing.across + spare
                shift = (long - size.along) / 2
                ends = (start + shift, start + long - shift)
                places[slot] = GraphPlace(*ends, across + taken / 2, size.across * shrink, (start, start + long))
            else:
                taken = LANE
                places[slot] = GraphPlace(start, start + long, across + taken / 2, 0.0, (start, start + long))
            across += taken
        start += long + spacing.along
    return places


def _in_columns(
    places: Mapping[_Slot, GraphPlace],
    sizes: Mapping[str, Size],
    spacing: Spacing,
    room: float,
    columns: Mapping[str, int],
) -> dict[_Slot, GraphPlace]:
    """Align the nodes of each column below each other."""
    wide = room / (max(columns.values(), default=0) + 1)
    moved: dict[_Slot, GraphPlace] = {}
    for name, column in columns.items():
        across = min(sizes[name].across, wide - spacing.across)
        moved[name] = replace(places[name], middle=MARGIN / 2 + wide * (column + 0.5), across=across)
    return {**places, **moved}


def _forward(link: GraphLink, places: Mapping[_Slot, GraphPlace], passed: Sequence[int]) -> list[Step]:
    """A link from a node to a later one, past the nodes in between."""
    first, last = places[link.source], places[link.target]
    steps = [Step(first.end, first.middle), Step(first.layer[1], first.middle)]
    for place in (*(places[link, layer] for layer in passed), last):
        steps.append(Step(place.layer[0] - (ARROW if place is last else 0), place.middle, bow=True))
        if place is not last:
            steps.append(Step(place.layer[1], place.middle))
    return [*steps, Step(last.start - ARROW, last.middle)]


def _around(first: GraphPlace, last: GraphPlace, room: float, number: int) -> list[Step]:
    """A link to an earlier node, or one in the same layer: between the layers and along the margin."""
    side, out, over = room + MARGIN * (number + 0.5), first.layer[1] + 10 + 2 * number, last.layer[0] - 16
    steps = [(first.end, first.middle), (out, first.middle), (out, side), (over, side), (over, last.middle)]
    return [*(Step(*step) for step in steps), Step(last.start - ARROW, last.middle)]
