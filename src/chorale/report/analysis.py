"""A trial as it was planned: the comparisons named beforehand, all others, and how far the people of each arm got."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.folder.checking.analysis import comparable
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.model import AnalysisSettings, PlannedOutcome, Standing
from chorale.monitor.arm_measures import ComparedArms, compare_arms
from chorale.monitor.costs import final_stages_of_arm
from chorale.present.svg import Link, Node, graph_picture
from chorale.report.document import Bullets, Drawn, Part, Section
from chorale.store import Tx, gates, participations
from chorale.store.arms import arms_by_worker
from chorale.store.workers import Attendees

_HIDDEN = "Results by arm are left out. --arms includes them, and records that you looked."


def analysis_sections(
    tx: Tx, study: Study, came: Attendees, resampling: Resampling, *, with_arms: bool, draw: bool
) -> list[Section]:
    """What was planned and what came of it, and the flow of participants; nothing of a study without arms."""
    if study.settings.arms is None:
        return []
    return [
        _analysis_section(tx, study, resampling, with_arms=with_arms),
        _flow_section(tx, study, came, with_arms=with_arms, draw=draw),
    ]


def _analysis_section(tx: Tx, study: Study, resampling: Resampling, *, with_arms: bool) -> Section:
    plan, known = study.settings.analysis, comparable(stage.task for stage in study.stages.values())
    names = study.settings.arms.names if study.settings.arms else ()
    parts: list[Part] = list(_plan_in_words(plan, known, names[0]))
    planned = () if plan is None else plan.planned
    others = [PlannedOutcome(outcome=name) for name in known if name not in {one.outcome for one in planned}]
    json: dict[str, Any] = {"planned": [one.model_dump(mode="json") for one in planned], "outcomes": {}}
    if not with_arms:
        return Section("analysis", "Planned and other comparisons", [*parts, _HIDDEN], json)
    compared = [compare_arms(tx, study, one, resampling) for one in (*planned, *others)]
    rows: list[tuple[Cell, ...]] = [
        (known[one.planned.outcome], _role(plan, one.planned), *(_shown_mean(one, arm) for arm in names))
        for one in compared
        if any(one.units.values())
    ]
    columns = ("outcome", "planned as", *(f"{arm}#" for arm in names))
    parts.append(ScoreTable("Outcomes by arm: mean, and of how many workers or items", columns, rows))
    tested = [row for one in compared if one.planned in planned for row in _tested(one, known)]
    if tested:
        columns = ("outcome", "arm", "against", "difference#", "95% interval#", "p#", "p, Holm#")
        parts.append(ScoreTable("Planned comparisons", columns, tested, digits=3))
    parts.append(
        "Outcomes that were not planned have no test here: of many, some always differ at random. Other tables of this "
        "report that compare arms are not planned either."
    )
    json["outcomes"] = {one.planned.outcome: _json(one, is_planned=one.planned in planned) for one in compared}
    return Section("analysis", "Planned and other comparisons", parts, json)


def _plan_in_words(plan: AnalysisSettings | None, known: Mapping[str, str], first: str) -> Iterator[Part]:
    if plan is None:
        yield "The study file plans no comparison of arms ([analysis]): every comparison in this report is exploratory."
        return
    where = f", registered at {plan.registered}" if plan.registered else ""
    yield f"The study file planned these comparisons before anybody was in an arm{where}:"
    yield Bullets(
        [
            f"{_role(plan, one)}: {known[one.outcome]} ({one.outcome}), one observation per {one.unit}, by a "
            f"{one.test} test, every arm against {one.against or first}."
            for one in plan.planned
        ]
    )


def _role(plan: AnalysisSettings | None, one: PlannedOutcome) -> str:
    if plan is None or one not in plan.planned:
        return "not planned"
    return "primary" if one == plan.primary else "secondary"


def _shown_mean(compared: ComparedArms, arm: str) -> str:
    mean = compared.means[arm]
    return "–" if mean is None else f"{mean:.3f} of {compared.units[arm]:,}"


def _tested(compared: ComparedArms, known: Mapping[str, str]) -> Iterator[tuple[Cell, ...]]:
    for one in compared.comparisons:
        difference = one.compared.difference, shown_interval(one.compared.interval)
        yield known[compared.planned.outcome], one.arm, one.against, *difference, one.p, one.adjusted


def _json(compared: ComparedArms, *, is_planned: bool) -> dict[str, Any]:
    tests = [
        {**one.compared.as_dict(), "arm": one.arm, "against": one.against, "p": one.p, "p_holm": one.adjusted}
        for one in compared.comparisons
    ]
    return {"means": dict(compared.means), "units": dict(compared.units), **({"tests": tests} if is_planned else {})}


# The flow of participants


@dataclass(frozen=True, slots=True)
class FlowStep:
    """How many people of an arm began a stage, or what a gate decided about them."""

    name: str
    is_gate: bool
    counts: Mapping[str, int]


def _flow_section(tx: Tx, study: Study, came: Attendees, *, with_arms: bool, draw: bool) -> Section:
    title, name = "Flow of participants", "flow"
    if not with_arms:
        return Section(name, title, [_HIDDEN], None)
    arms = arms_by_worker(tx)
    flow = participant_flow(tx, study, arms)
    rows: list[tuple[Cell, ...]] = [
        (arm if not number else "", step.name, ", ".join(f"{count:,} {what}" for what, count in step.counts.items()))
        for arm, steps in flow.items()
        for number, step in enumerate(steps)
    ]
    parts: list[Part] = [Drawn("How far the people of each arm got", flow_diagram(came, flow))] if draw else []
    parts.append(ScoreTable("How far the people of each arm got", ("arm", "step", "people"), rows))
    json = {
        "arrived": came.arrived,
        "consented": came.consented,
        "in_an_arm": len(arms),
        "arms": {arm: [{"step": step.name, **step.counts} for step in steps] for arm, steps in flow.items()},
    }
    return Section(name, title, parts, json)


def participant_flow(tx: Tx, study: Study, arms: Mapping[str, str]) -> dict[str, list[FlowStep]]:
    """For every arm: how many were put in it, began each of its stages, passed each gate, and count in the end."""
    names = study.settings.arms.names if study.settings.arms else ()
    rows = [row for row in participations.participation_summaries(tx) if row.answered and row.worker in arms]
    verdicts = [row for row in gates.verdicts(tx) if row.worker in arms]
    flow: dict[str, list[FlowStep]] = {}
    for arm in names:
        steps = [FlowStep(arm, False, {"put in the arm": sum(each == arm for each in arms.values())})]
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
                    unscored = len(about) - scored
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


def _stages_of(study: Study, arm: str) -> list[RunningStage]:
    """The stages of an arm in which its own people are studied: not those where they grade others."""
    return [stage for stage in study.stages.values() if arm in stage.settings.arms and not stage.settings.grades]


def flow_diagram(came: Attendees, flow: Mapping[str, list[FlowStep]]) -> str:
    """From everybody who came to those who are left in each arm, as CONSORT asks for."""
    root = Node("came", "came", (f"{came.arrived:,} people", f"{came.consented:,} agreed to take part"))
    nodes, links = [root], []
    for arm, steps in flow.items():
        before = root.name
        for step in steps:
            lines = tuple(f"{count:,} {what}" for what, count in step.counts.items())
            node = Node(f"{arm}: {step.name}", step.name, lines, is_gate=step.is_gate)
            links.append(Link(before, node.name, dashed=True))
            nodes.append(node)
            before = node.name
    words = "; ".join(
        f"{arm}: " + ", ".join(f"{step.name} {dict(step.counts)}" for step in steps) for arm, steps in flow.items()
    )
    return graph_picture("How far the people of each arm got", nodes, links, description=words)
