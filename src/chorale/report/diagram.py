"""A study's stages and gates as a picture: what items are made from, and who may continue where."""

from chorale.engine.graph import gate_node, study_edges
from chorale.engine.running import RunningStage, Study
from chorale.present.svg import Link, Node, graph_picture


def protocol_diagram(study: Study) -> str:
    nodes = [Node(name, name, (_kind(stage),)) for name, stage in study.stages.items()]
    nodes += [Node(gate_node(name), name, ("gate",), is_gate=True) for name in study.gates]
    links = [Link(each.source, each.target, each.people) for each in study_edges(study)]
    words = "; ".join(f"{link.source} to {link.target}" for link in links)
    return graph_picture(f"Stages and gates of {study.settings.study.title}", nodes, links, description=words)


def _kind(stage: RunningStage) -> str:
    """The arms it is for, if it is not for all; the task; and whether everybody does the same."""
    arms = f"{' and '.join(stage.settings.arms)}: " if stage.settings.arms else ""
    return arms + stage.task.name + (", round" if stage.settings.round else "")
