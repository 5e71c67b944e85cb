"""A study's stages and gates as a picture, with their progress."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from chorale.engine.graph import gate_node, study_edges
from chorale.engine.running import RunningStage, Study
from chorale.monitor.overview import StageView
from chorale.present.svg import GraphLink, Node, graph_picture


@dataclass(frozen=True, slots=True)
class Flow:
    picture: Markup
    has_gates: bool


def flow(study: Study, stages: Sequence[StageView], passed: Mapping[str, int]) -> Flow | None:
    """The picture, or None for a single stage without gates: the table shows its numbers."""
    if len(stages) == 1 and not study.gates:
        return None
    titles = Counter(view.title for view in stages)
    views = {view.counts.name: view for view in stages}
    nodes = [
        _stage_node(view, _made_from(study.stage(name), views), alike=titles[view.title] > 1)
        for name, view in views.items()
    ]
    nodes += [Node(gate_node(name), name, (f"{passed.get(name, 0):,} passed",), is_gate=True) for name in study.gates]
    edges = study_edges(study)
    links = [GraphLink(each.source, each.target, each.people) for each in edges]
    words = "; ".join(_words(study, views, passed)) or "The stages are not connected to each other."
    svg = graph_picture("The stages as a flow", nodes, links, sideways=True, description=words)
    # The functions that draw it escape all texts.
    return Flow(Markup(svg), any(link.dashed for link in links))  # noqa: S704


def _stage_node(view: StageView, made_from: str, *, alike: bool) -> Node:
    """A stage with its counts, and with its name if several have the same title."""
    counts = view.counts
    name = (counts.name,) if alike else ()
    muted = view.condition.state != "open"
    if view.round is not None:
        people = "person" if counts.workers == 1 else "people"
        items = "item" if view.round.questions == 1 else "items"
        answers = "answer" if counts.answers == 1 else "answers"
        lines = (
            f"{counts.workers:,} {people}",
            f"{view.round.questions:,} {items} each",
            f"{counts.answers:,} {answers}",
        )
        return Node(counts.name, view.title, (*name, *lines), muted=muted)
    lines = (
        *((f"from {made_from}",) if made_from else ()),
        f"{counts.complete:,} of {counts.items:,} items",
        f"{counts.judgments:,} annotations",
        f"{counts.released:,} accepted",
    )
    share = counts.complete / counts.items if counts.items else 0.0
    return Node(counts.name, view.title, (*name, *lines), share=share, muted=muted)


def _words(study: Study, views: Mapping[str, StageView], passed: Mapping[str, int]) -> list[str]:
    """The picture in words: the items each stage gets from others, and how many passed each gate."""
    words = []
    for name, view in views.items():
        if made_from := _made_from(study.stage(name), views):
            sources = " and ".join(views[source].title for source in _sources(study.stage(name), views))
            words.append(f"{sources}: {made_from}, {view.counts.items:,} items created from them in {view.title}")
    for gate in study.gates.values():
        judged = " and ".join(views[name].title for name in gate.settings.stage if name in views)
        words.append(f"{passed.get(gate.name, 0):,} passed {gate.name} after {judged}")
    return words


def _sources(stage: RunningStage, views: Mapping[str, StageView]) -> list[str]:
    return [source for source in stage.settings.sources if source in views]


def _made_from(stage: RunningStage, views: Mapping[str, StageView]) -> str:
    """The number of labels or answers that a stage's items are created from; empty if they come from a file."""
    sources = [views[source].counts for source in _sources(stage, views)]
    items = stage.settings.items
    if not sources or items is None:
        return ""
    if items.of == "answers":
        return f"{sum(counts.judgments for counts in sources):,} answers"
    if items.of == "together":
        return f"{sum(counts.complete for counts in sources):,} complete"
    return f"{sum(counts.released for counts in sources):,} accepted"
