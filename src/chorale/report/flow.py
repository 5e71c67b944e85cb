"""The flow of participants: how many people joined, began each stage, passed each gate, and are analysed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from chorale.engine.graph import gate_node, study_edges
from chorale.engine.running import RunningStage, Study
from chorale.metrics.score_table import Cell, ScoreTable
from chorale.model import Standing
from chorale.model.plural import plural
from chorale.monitor.costs import final_stages_of_arm
from chorale.monitor.status import Status
from chorale.present.svg import GraphLink, Node, graph_picture
from chorale.report.document import Drawn, Part, Section
from chorale.report.imported import ImportedWork
from chorale.store import Tx, gates, participations
from chorale.store.arms import arms_by_worker
from chorale.store.workers import Attendees

_TITLE = "Participant flow"
_JOINED = "joined"
_ONE = {"people": "person", "answers": "answer"}
"""The singular of names of counts, where it differs."""


@dataclass(frozen=True, slots=True)
class FlowStep:
    """How many people of an arm began a stage, or what a gate decided about them."""

    name: str
    is_gate: bool
    counts: Mapping[str, int]


def flow_section(
    tx: Tx,
    study: Study,
    now: Status,
    came: Attendees,
    imported: ImportedWork | None = None,
    *,
    by_arm: bool,
    draw: bool,
) -> Section:
    """The participant flow: by arm if arms are shown, otherwise by stage."""
    verdicts = {
        name: (sum(row.passed for row in about), len(about))
        for name in study.gates
        if (about := [row for row in gates.verdicts(tx) if row.gate == name])
    }
    if not by_arm:
        caption = "Each box is a stage with its people. Items move along solid arrows, people along dashed arrows."
        drawn: list[Part] = []
        if draw and came.arrived:
            drawn.append(Drawn(caption, stages_diagram(study, now, _root(came, imported), verdicts)))
        if imported is not None:
            drawn += imported.left_out_sentences()
        return Section("flow", _TITLE, drawn, None)
    arms = arms_by_worker(tx)
    flow = participant_flow(tx, study, arms)
    rows: list[tuple[Cell, ...]] = [
        (arm if not number else "", step.name, ", ".join(_counted(step)))
        for arm, steps in flow.items()
        for number, step in enumerate(steps)
    ]
    caption = "Each arm, from top to bottom. The last box of each column has the people who are analysed."
    parts: list[Part] = [Drawn(caption, flow_diagram(came, flow))] if draw else []
    json = {
        "arrived": came.arrived,
        "consented": came.consented,
        "in_an_arm": len(arms),
        "arms": {arm: [{"step": step.name, **step.counts} for step in steps] for arm, steps in flow.items()},
    }
    table = ScoreTable("Participant flow by arm", ("arm", "step", "people"), rows)
    return Section("flow", _TITLE, parts, json, [table])


def participant_flow(tx: Tx, study: Study, arms: Mapping[str, str]) -> dict[str, list[FlowStep]]:
    """For every arm: how many were assigned, began each of its stages, passed each gate, and are analysed."""
    names = study.settings.arms.names if study.settings.arms else ()
    rows = [row for row in participations.participation_summaries(tx) if row.answered and row.worker in arms]
    verdicts = [row for row in gates.verdicts(tx) if row.worker in arms]
    flow: dict[str, list[FlowStep]] = {}
    for arm in names:
        steps = [FlowStep(arm, False, {"assigned": sum(each == arm for each in arms.values())})]
        for stage in _stages_of(study, arm):
            here = [row for row in rows if row.stage == stage.name and arms[row.worker] == arm]
            removed = sum(row.standing == Standing.DROPPED for row in here)
            steps.append(FlowStep(stage.name, False, {"began": len(here), **({"removed": removed} if removed else {})}))
            for gate in study.gates.values():
                if gate.settings.stage[-1] == stage.name:
                    about = [row for row in verdicts if row.gate == gate.name and arms[row.worker] == arm]
                    passed = sum(row.passed for row in about)
                    scored = sum(row.has_score for row in about)
                    counts = {"passed": passed, "did not pass": scored - passed}
                    # A gate of several stages also decides about people who never came to this one.
                    begun = {row.worker for row in here}
                    unscored = sum(not row.has_score for row in about if row.worker in begun)
                    steps.append(FlowStep(gate.name, True, counts | ({"not scored": unscored} if unscored else {})))
        final = {stage.name for stage in final_stages_of_arm(study, arm)}
        left = [
            row for row in rows if row.stage in final and arms[row.worker] == arm and row.standing != Standing.DROPPED
        ]
        answers = sum(row.answered - row.gold_answered for row in left)
        flow[arm] = [
            *steps,
            FlowStep("analysed", False, {"people": len({row.worker for row in left}), "answers": answers}),
        ]
    return flow


def _counted(step: FlowStep) -> tuple[str, ...]:
    """The counts of a step in words, such as “3 passed”."""
    return tuple(plural(count, _ONE.get(what, what), what) for what, count in step.counts.items())


def _stages_of(study: Study, arm: str) -> list[RunningStage]:
    """The stages of an arm in which its own people are studied: not those where they grade others."""
    return [stage for stage in study.stages.values() if arm in stage.settings.arms and not stage.settings.grades]


def flow_diagram(came: Attendees, flow: Mapping[str, list[FlowStep]]) -> str:
    """From everybody who joined to those who are analysed in each arm, as CONSORT asks for."""
    root = _root(came)
    nodes, links = [root], []
    columns: dict[str, int] = {}
    for column, (arm, steps) in enumerate(flow.items()):
        before = root.name
        for step in steps:
            lines = _counted(step)
            if step.is_gate:
                # A gate is in the box of its stage: otherwise, a long training would not fit on a page.
                nodes[-1] = replace(nodes[-1], lines=(*nodes[-1].lines, *lines))
                continue
            node = Node(f"{arm}: {step.name}", step.name, lines)
            links.append(GraphLink(before, node.name, dashed=True))
            nodes.append(node)
            columns[node.name] = column
            before = node.name
    words = ". ".join(
        f"{arm}: " + "; ".join(f"{step.name}, {', '.join(_counted(step))}" for step in steps)
        for arm, steps in flow.items()
    )
    return graph_picture("Participant flow by arm", nodes, links, description=words, columns=columns)


def stages_diagram(study: Study, now: Status, root: Node, verdicts: Mapping[str, tuple[int, int]]) -> str:
    """The study's stages and gates with the number of people at each.

    `root` is where everybody starts. `verdicts` has two numbers for each gate: of people who passed, and of all people
    it decided about.
    """
    edges = study_edges(study)
    reached = {edge.target for edge in edges}
    nodes = [root]
    for counts in now.stages:
        lines = [f"{plural(counts.workers, 'person', 'people')}, {plural(counts.answers, 'answer', 'answers')}"]
        lines += [f"{counts.dropped:,} removed"] if counts.dropped else []
        nodes.append(Node(counts.name, counts.name, tuple(lines)))
    for name in study.gates:
        passed, about = verdicts.get(name, (0, 0))
        nodes.append(Node(gate_node(name), name, (f"{passed:,} of {about:,} passed",), is_gate=True))
    links = [GraphLink(root.name, name, dashed=True) for name in study.stages if name not in reached]
    links += [GraphLink(edge.source, edge.target, edge.people) for edge in edges]
    words = "; ".join(f"{node.name}: {', '.join(node.lines)}" for node in nodes)
    return graph_picture(_TITLE, nodes, links, description=words)


def _root(came: Attendees, imported: ImportedWork | None = None) -> Node:
    if imported is not None:
        name = "in the file" if len(imported.files) == 1 else "in the files"
        return Node(name, name, (plural(came.arrived, "person", "people"),))
    lines = (plural(came.arrived, "person", "people"), f"{came.consented:,} gave consent")
    return Node(_JOINED, _JOINED, lines)
