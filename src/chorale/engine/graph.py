"""A study's stages and gates as a graph: what items are made from, and who may continue where."""

from dataclasses import dataclass

from chorale.engine.running import Study


@dataclass(frozen=True, slots=True)
class StudyEdge:
    """An edge from one stage or gate to another: derived items, or people who may continue."""

    source: str
    target: str
    people: bool


def gate_node(name: str) -> str:
    """The name of a gate in the graph, distinct from a stage with the same name."""
    return f"gate {name}"


def study_edges(study: Study) -> list[StudyEdge]:
    """All edges between stages and gates, each once. Gates are named by `gate_node`."""
    edges = [
        StudyEdge(source, name, people=False)
        for name, stage in study.stages.items()
        for source in stage.settings.sources
    ]
    given_by: dict[str, str] = {}
    arms = study.settings.arms
    for name, gate in study.gates.items():
        judged = [stage for stage in gate.settings.stage if stage in study.stages]
        edges += [StudyEdge(stage, gate_node(name), people=True) for stage in judged]
        given_by[name] = gate_node(name)
        if gate.settings.promote is not None:
            given_by.setdefault(gate.settings.promote.to, gate_node(name))
    for name, stage in study.stages.items():
        entry = stage.settings.entry
        edges += [StudyEdge(given_by[held], name, people=True) for held in entry.qualifications if held in given_by]
        if arms is not None and stage.settings.arms and not stage.settings.sources and arms.after in given_by:
            edges.append(StudyEdge(given_by[arms.after], name, people=True))
        if entry.qualified_in in study.stages:
            edges.append(StudyEdge(str(entry.qualified_in), name, people=True))
    return list(dict.fromkeys(each for each in edges if each.source != each.target))
