"""A study's stages as a flow: where each stands in the picture, and what goes from one to the next."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chorale.engine.running import RunningStage, Study
from chorale.monitor.overview import StageView

BOX_WIDTH, BOX_HEIGHT = 208, 120
ACROSS, DOWN = 128, 28
MARGIN = 8
LANE, LANES = 10, 8
BEND = 28
_LINE = 22
"""Letters that fit into a box."""


@dataclass(frozen=True, slots=True)
class Box:
    stage: StageView
    lines: tuple[str, ...]
    """The title, broken where it is long."""
    x: int
    y: int

    @property
    def share(self) -> float:
        """How much of the stage is done."""
        counts = self.stage.counts
        return counts.complete / counts.items if counts.items else 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    path: str
    labels: tuple[tuple[str, int], ...]
    """What it says, and how far down."""
    x: int
    y: int
    is_gate: bool


@dataclass(frozen=True, slots=True)
class Flow:
    boxes: list[Box]
    edges: list[Edge]
    width: int
    height: int
    columns: int
    told: str
    """The picture in words."""


def flow(study: Study, stages: Sequence[StageView], passed: Mapping[str, int]) -> Flow:
    columns = _columns(study)
    places: dict[str, tuple[int, int]] = {}
    used: dict[int, int] = {}
    for view in stages:
        column = columns[view.counts.name]
        row = used.get(column, 0)
        used[column] = row + 1
        places[view.counts.name] = (
            MARGIN + column * (BOX_WIDTH + ACROSS),
            MARGIN + row * (BOX_HEIGHT + DOWN),
        )
    titles = Counter(view.title for view in stages)
    boxes = [Box(view, _lines(view, titles[view.title]), *places[view.counts.name]) for view in stages]
    ways, told = _ways(study, {view.counts.name: view for view in stages}, passed)
    width = max(box.x for box in boxes) + BOX_WIDTH + MARGIN
    height = max(box.y for box in boxes) + BOX_HEIGHT + MARGIN
    edges: list[Edge] = []
    for way in ways:
        start, end = places[way.source], places[way.target]
        if columns[way.target] == columns[way.source] + 1:
            edges.append(_edge(start, end, way))
        else:
            # Past other stages, or back: below all of them, so that no line runs behind a box.
            height += LANE
            edges.append(_edge_below(start, end, way, height - MARGIN, height // LANE % LANES * 5))
    edges = _apart(edges)
    in_words = "; ".join(told) or "The stages do not feed each other."
    return Flow(boxes, edges, width, height, max(columns.values()) + 1, in_words)


def _columns(study: Study) -> dict[str, int]:
    """How far to the right every stage stands: behind the stages that its items, or its workers, come from."""
    found: dict[str, int] = {}

    def column(stage: RunningStage, on_the_way: frozenset[str]) -> int:
        if stage.name not in found:
            earlier = [name for name in (*stage.settings.sources, *_trained_in(study, stage)) if name not in on_the_way]
            way = on_the_way | {stage.name}
            found[stage.name] = max((1 + column(study.stage(name), way) for name in earlier), default=0)
        return found[stage.name]

    for stage in study.stages.values():
        column(stage, frozenset({stage.name}))
    return found


def _gates_of(study: Study, stage: RunningStage) -> list[str]:
    """The gates that let people into a stage."""
    asked = set(stage.settings.entry.qualifications)
    rule = study.settings.arms
    if stage.settings.arms and rule is not None and rule.after is not None:
        asked.add(rule.after)
    return [
        gate.name
        for gate in study.gates.values()
        if gate.name in asked or (gate.settings.promote is not None and gate.settings.promote.to in asked)
    ]


def _trained_in(study: Study, stage: RunningStage) -> list[str]:
    """The stages that decide who may enter one."""
    names = [name for gate in _gates_of(study, stage) for name in study.gates[gate].settings.stage]
    if stage.settings.entry.qualified_in is not None:
        names.append(stage.settings.entry.qualified_in)
    return [name for name in dict.fromkeys(names) if name != stage.name]


@dataclass(frozen=True, slots=True)
class Way:
    """What goes from one stage to another: items, or people who passed a gate."""

    source: str
    target: str
    labels: tuple[str, ...]
    is_gate: bool


def _ways(study: Study, views: Mapping[str, StageView], passed: Mapping[str, int]) -> tuple[list[Way], list[str]]:
    ways, told = [], []
    for name, view in views.items():
        stage = study.stage(name)
        sources = [source for source in stage.settings.sources if source in views]
        for source in sources:
            released = _given(stage, views[source])
            # Counting what came from which of several would take a look at every item.
            made = f"{view.counts.items:,} items" if len(sources) == 1 else "items"
            ways.append(Way(source, name, (released, made) if len(sources) == 1 else (released,), is_gate=False))
            told.append(f"{views[source].title}, {released}, gives {made} to {view.title}")
        for gate in _gates_of(study, stage):
            for source in study.gates[gate].settings.stage:
                if source in views and source not in sources and source != name:
                    label = f"{passed.get(gate, 0):,} passed"
                    ways.append(Way(source, name, (label,), is_gate=True))
                    told.append(f"{label} {gate}, from {views[source].title} to {view.title}")
    return ways, told


def _given(stage: RunningStage, source: StageView) -> str:
    """How much of what a stage makes its items from there is."""
    items = stage.settings.items
    if items is not None and items.of == "answers":
        return f"{source.counts.judgments:,} answers"
    if items is not None and items.of == "together":
        return f"{source.counts.complete:,} complete"
    return f"{source.counts.released:,} released"


def _edge(start: tuple[int, int], end: tuple[int, int], way: Way) -> Edge:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT // 2
    x2, y2 = end[0] - 7, end[1] + BOX_HEIGHT // 2
    if y1 == y2:
        return _labelled(f"M{x1} {y1}H{x2}", x2, y2, way)
    # Bends where it begins, so that the label stands on a straight line.
    path = f"M{x1} {y1}C{x1 + BEND} {y1} {x1} {y2} {x1 + BEND} {y2}H{x2}"
    return _labelled(path, x2, y2, way)


def _edge_below(start: tuple[int, int], end: tuple[int, int], way: Way, below: int, aside: int) -> Edge:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT // 2 + 24
    x2, y2 = end[0] - 7, end[1] + BOX_HEIGHT // 2
    # The edges beside the boxes are apart from each other, and from those that go straight.
    out, back = x1 + 8 + aside, x2 - 82 - aside // 3
    path = f"M{x1} {y1}H{out}V{below}H{back}V{y2}H{x2}"
    return _labelled(path, x2, y2, way)


def _labelled(path: str, x: int, y: int, way: Way) -> Edge:
    return Edge(path, tuple((label, y - 8) for label in way.labels), x - (ACROSS - BEND) // 2 + 6, y, way.is_gate)


def _apart(edges: Sequence[Edge]) -> list[Edge]:
    """Labels that would stand on each other: the same once, others below each other."""
    found: list[Edge] = []
    at: dict[tuple[int, int], list[str]] = {}
    for edge in edges:
        there = at.setdefault((edge.x, edge.y), [])
        placed = []
        for label, y in edge.labels:
            if label not in there:
                there.append(label)
                placed.append((label, y + 22 * (len(there) - 1)))
        found.append(replace(edge, labels=tuple(placed)))
    return found


def _lines(view: StageView, alike: int) -> tuple[str, ...]:
    """What a box is called: the title, and the name too where several have the same title."""
    first, *_ = lines = _broken(view.title)
    return lines if alike == 1 else (first, view.counts.name)


def _broken(title: str) -> tuple[str, ...]:
    """A title in at most two lines that fit into a box."""
    words, lines = title.split(), [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= _LINE or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: _LINE - 2]}…"]
    return tuple(line if len(line) <= _LINE else f"{line[: _LINE - 1]}…" for line in lines)
