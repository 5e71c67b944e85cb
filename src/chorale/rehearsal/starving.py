"""Explains why a simulated run could not be finished."""

from collections import Counter
from collections.abc import Mapping, Sequence

from chorale.engine.running import RunningStage, Study
from chorale.model.plural import plural
from chorale.protocol import State
from chorale.rehearsal.person import Exit, Person
from chorale.rehearsal.runs import GateRun, StageRun


def why_starved(
    study: Study, stages: Sequence[StageRun], gates: Sequence[GateRun], people: Sequence[Person]
) -> tuple[str, ...]:
    """A sentence or two for every stage that still needs judgments, and for every gate that closed without grades.

    Stages ended by a gate need no more judgments. But people whose answers were not graded in time are lost for all
    later stages.
    """
    by_name = {stage.name: stage for stage in stages}
    return (
        *(_of_stage(study, stage, people) for stage in stages if stage.open_items and not stage.ended),
        *(why for gate in gates if gate.ungraded and (why := _of_gate(study, gate, by_name))),
    )


def _of_stage(study: Study, stage: StageRun, people: Sequence[Person]) -> str:
    wanting = f"{stage.name}: {stage.open_items:,} of {stage.items:,} items still need annotations."
    running = study.stage(stage.name)
    theirs = [person for person in people if person.expert == running.is_for_experts]
    if not theirs:
        return (
            f"{wanting} This stage is for experts, but no expert joins: set `experts` in rehearsal.toml to 1 or more."
        )
    hindrances = Counter(_hindrance(person, running) for person in theirs)
    reasons = ", ".join(_counted(count, what) for what, count in hindrances.most_common())
    of_them = (
        plural(len(theirs), "expert", "experts") if running.is_for_experts else plural(len(theirs), "person", "people")
    )
    return f"{wanting} Of {of_them}, {reasons}."


def _of_gate(study: Study, gate: GateRun, stages: Mapping[str, StageRun]) -> str | None:
    """The sentences about a gate; None if no answer waits for a grade.

    In that case, too few answers of a worker were selected for grading.
    """
    looked_at = {*study.gates[gate.name].settings.stage}
    grading = [
        run
        for name, stage in study.stages.items()
        if looked_at & {*stage.settings.graded_stages} and (run := stages[name]).open_items
    ]
    if not grading:
        return None
    waiting = "; ".join(_graders(stage) for stage in grading)
    people = "1 person" if gate.ungraded == 1 else f"{gate.ungraded:,} people"
    excluded = [
        stage.name for stage in grading if study.stage(stage.name).settings.entry.exclude_contributors == "group"
    ]
    why = " Nobody grades an item of a group in which they have worked." if excluded else ""
    more = "Use more groups, plan for more people" if excluded else "Plan for more people"
    return (
        f"gate {gate.name}: it was closed without a decision about {people} whose answers had no grades yet. "
        f"{waiting}.{why} {more}, let more of them grade, or ask for fewer annotations per item there."
    )


def _graders(stage: StageRun) -> str:
    lost = [_counted(count, what) for count, what in ((stage.left, "left"), (stage.dropped, "were removed")) if count]
    graded = "1 person" if stage.entered == 1 else f"{stage.entered:,} people"
    of_whom = f", of whom {' and '.join(lost)}" if lost else ""
    return (
        f"{stage.open_items:,} of {stage.items:,} items of {stage.name} still needed annotations; "
        f"{graded} had worked there{of_whom}, and nobody could do more"
    )


def _counted(count: int, verb: str) -> str:
    """A number of people and what they did.

    >>> _counted(1, "were removed"), _counted(2, "were removed")
    ('1 was removed', '2 were removed')
    """
    return f"{count:,} {verb.replace('were ', 'was ', 1) if count == 1 else verb}"


def _hindrance(person: Person, stage: RunningStage) -> str:
    """What keeps a worker from a stage that needs judgments."""
    if person.exit is Exit.LEFT:
        return "left early"
    if person.exit is Exit.GAVE_UP:
        return "gave up waiting"
    if stage.name not in person.states and stage.settings.arms:
        return "were not in its arm"
    return _HINDRANCES.get(person.states.get(stage.name, State.FINISHED), "had already done all their work there")


_HINDRANCES = {
    State.REMOVED: "were removed there",
    State.LOCKED: "were not admitted",
    State.LIMIT: "had reached the limit per person",
    State.PAUSED: "found it paused",
}
