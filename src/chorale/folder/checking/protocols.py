"""Check that a study's protocol can be completed: people can qualify, and every stage can finish."""

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from chorale.contract.reading_time import shown_words
from chorale.folder.checking.analysis import check_analysis
from chorale.folder.checking.numbers import check_numbers
from chorale.folder.checking.report import CheckReport, did_you_mean
from chorale.folder.checking.stage_files import StageFiles
from chorale.model import EXPERT, StageSettings, StudySettings, invited_to, money_text
from chorale.protocol import closed_by, fee_due, fee_on, fewest_people, is_criterion, length_pay


def check_protocol(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Check the dependencies between stages, gates and arms."""
    _check_gate_names(settings, report)
    _check_gate_stages(settings, contents, report)
    _check_criteria(settings, contents, report)
    _check_qualifications(settings, report)
    _check_arms(settings, report)
    check_analysis(settings, contents, report)
    _check_grading(settings, contents, report)
    _check_reviews(settings, contents, report)
    if not report.problems:
        _check_order(settings, report)
    if not report.problems:
        _check_reach(settings, report)
        check_numbers(settings, contents, report)
        _check_budget(settings, contents, report)


def granted(settings: StudySettings) -> dict[str, str | None]:
    """Every qualification with the gate that grants it; None for those granted by a link."""
    givers: dict[str, str | None] = {EXPERT: None, **{invited_to(stage.name): None for stage in settings.stage}}
    for gate in settings.gate:
        givers[gate.name] = gate.name
        if gate.promote is not None:
            givers[gate.promote.to] = gate.name
    return givers


def _check_gate_names(settings: StudySettings, report: CheckReport) -> None:
    seen: set[str] = {EXPERT, *(invited_to(stage.name) for stage in settings.stage)}
    for index, gate in enumerate(settings.gate):
        for at, name in (("name", gate.name), ("promote", gate.promote.to if gate.promote else None)):
            if name in seen:
                fix = "Give every gate and promotion a unique name."
                report.setting(("gate", index, at), "is the name of another qualification", fix, name)
            elif name is not None:
                seen.add(name)


def _check_gate_stages(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    stages = {stage.name: stage for stage in settings.stage}
    graded = {name for stage in settings.stage for name in stage.graded_stages}
    sizes = {stage.name: content.gold_count for stage, content in zip(settings.stage, contents, strict=False)}
    for index, gate in enumerate(settings.gate):
        at = ("gate", index, "stage")
        for name in gate.stage:
            stage = stages.get(name)
            if stage is None:
                report.setting(at, "there is no such stage", did_you_mean(name, stages), name, missing=True)
            elif stage.round is None and name not in graded:
                fix = "Make it a round, or add a stage with `grades` or `grades_sources` whose items come from it."
                report.setting(at, "nothing in that stage is graded, so nobody could pass", fix, name)
            elif stage.max_per_worker is not None and stage.max_per_worker < _asked(stage, gate.graded, sizes):
                fix = f"Raise `max_per_worker` of `{name}`, or ask for fewer graded answers."
                report.setting(
                    at, "`max_per_worker` is below the number of graded answers that the gate requires", fix, name
                )
            elif (drawn := _drawn_of_each(settings, name)) is not None and drawn < gate.graded:
                fix = f"Ask for at most {drawn}, or raise `items.per_worker` of the stage that grades `{name}`."
                report.setting(
                    ("gate", index, "graded"),
                    "fewer answers per worker are graded than the gate requires",
                    fix,
                    gate.graded,
                )


def _drawn_of_each(settings: StudySettings, name: str) -> int | None:
    """Number of graded answers per worker in a stage; None if all are graded."""
    drawn = [
        stage.items.per_worker for stage in settings.stage if stage.grades and stage.items and name in stage.sources
    ]
    return None if not drawn or None in drawn else sum(each or 0 for each in drawn)


def _check_criteria(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Check that a gate's criteria exist in the rubrics that grade its stages."""
    for index, gate in enumerate(settings.gate):
        known = {
            name
            for stage, content in zip(settings.stage, contents, strict=False)
            if content.task is not None and set(stage.graded_stages) & set(gate.stage)
            for name in content.task.grading.criteria
        }
        for name in gate.criteria:
            if not any(is_criterion(each, name) for each in known):
                message = "nobody could pass: no rubric that grades the gate's stages has such a criterion"
                report.setting(("gate", index, "criteria"), message, did_you_mean(name, sorted(known)), name)


def _asked(stage: StageSettings, graded: int, sizes: dict[str, int | None]) -> int:
    if stage.round is None:
        return graded
    return stage.round.size or sizes.get(stage.name) or 0


def _check_qualifications(settings: StudySettings, report: CheckReport) -> None:
    known = granted(settings)
    for index, stage in enumerate(settings.stage):
        for name in stage.entry.qualifications:
            if name not in known:
                at = ("stage", index, "entry", "qualifications")
                fix = did_you_mean(name, known)
                report.setting(at, "no gate grants this qualification", fix, name, missing=True)
    if settings.arms is not None and settings.arms.after is not None and settings.arms.after not in known:
        report.setting(
            ("arms", "after"),
            "no gate grants this qualification",
            did_you_mean(settings.arms.after, known),
            settings.arms.after,
            missing=True,
        )


def _check_arms(settings: StudySettings, report: CheckReport) -> None:
    names = settings.arms.names if settings.arms else ()
    for index, stage in enumerate(settings.stage):
        for arm in stage.arms:
            if arm not in names:
                fix = did_you_mean(arm, names) if names else "Name the arms in `[arms]`."
                report.setting(("stage", index, "arms"), "there is no such arm", fix, arm, missing=True)
    used = {arm for stage in settings.stage for arm in stage.arms}
    if any(stage.models is not None and stage.models.arms for stage in settings.stage):
        return  # the arms differ in what a model suggests
    for arm in names:
        if arm not in used:
            fix = "Add this arm to the `arms` of a stage, or leave it out here."
            report.setting(
                ("arms", "names"),
                "no stage is for this arm: its workers would do the same as all other workers",
                fix,
                arm,
            )
    fix = "Experts have no arm: leave `arms` out of stages for experts, and use another qualification in `after`."
    for index, stage in enumerate(settings.stage):
        if stage.arms and EXPERT in stage.entry.qualifications:
            report.setting(
                ("stage", index, "arms"), "nobody can ever enter: experts are not assigned to arms", fix, stage.name
            )
    if settings.arms is not None and settings.arms.after == EXPERT:
        report.setting(("arms", "after"), "nobody would ever be assigned to an arm", fix, EXPERT)


def _check_grading(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    for index, (stage, content) in enumerate(zip(settings.stage, contents, strict=False)):
        if stage.grades and content.task is not None and content.task.grading.marks is None:
            fix = "Use a task whose answers are grades (docs/tasks.md)."
            report.setting(
                ("stage", index, "grades"), "this task is not a rubric, so its answers are not grades", fix, stage.task
            )
        if stage.grades_sources and content.task is not None and content.task.grading.kept is None:
            fix = "Leave it out: this task does not report which parts of other answers it keeps."
            report.setting(
                ("stage", index, "grades_sources"), "this task does not grade other answers", fix, stage.task
            )
        keeping = [other for other in settings.stage if other.grades_sources and stage.name in other.sources]
        if stage.pay.kept is not None and not keeping:
            fix = "Set `grades_sources = true` in the stage that is made from these answers, or leave `kept` out."
            report.setting(
                ("stage", index, "pay", "kept"), "is never paid: no later stage keeps parts of these answers", fix
            )
        at = ("stage", index, "pay", "finished")
        if stage.pay.finished and stage.grades and not closed_by(settings, stage):
            fix = "Leave it out, or let the gate that uses these grades rank all workers (`top_share` or `top`)."
            report.setting(at, "no gate that closes uses these grades", fix, stage.pay.finished)
        elif stage.pay.finished and stage.round is None and not stage.grades:
            fix = "Leave it out, or make the stage a round."
            report.setting(at, "only rounds and grading stages have pay for finishing", fix, stage.pay.finished)


def _check_reviews(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Check that reviewers' decisions in a stage can be labels of items in another stage."""
    tasks = {stage.name: content.task for stage, content in zip(settings.stage, contents, strict=False)}
    for index, stage in enumerate(settings.stage):
        own = tasks.get(stage.name)
        for source in stage.sources if stage.decides_sources else ():
            reviewed = tasks.get(source)
            if own is None or reviewed is None:
                continue
            fix = f'Use the same task and `options_from = "{source}"`; for a form, also `review` in its options.'
            at = ("stage", index, "decides_sources")
            if not reviewed.shape.fields:
                if own.shape.answer_schema != reviewed.shape.answer_schema:
                    report.setting(at, f"answers here cannot be labels in {source}: they differ in shape", fix, True)
                continue
            ours, theirs = (each.shape.answer_schema.get("properties", {}) for each in (own, reviewed))
            decided = [field.name for field in reviewed.shape.compared if field.name in ours]
            different = [name for name in decided if ours[name] != theirs[name]]
            if not decided:
                report.setting(at, f"has no effect: {source} compares none of its fields", fix, True)
            elif different:
                differ = f"{', '.join(different)} {'differs' if len(different) == 1 else 'differ'} in shape"
                report.setting(at, f"answers here cannot be labels in {source}: {differ}", fix, True)


def _check_order(settings: StudySettings, report: CheckReport) -> None:
    """Check for circular dependencies."""
    try:
        TopologicalSorter(_needs(settings)).prepare()
    except CycleError as error:
        # Edges from each node to those it waits for. Stages alone never form a cycle.
        circle = error.args[1][:0:-1]
        index = next(index for index, gate in enumerate(settings.gate) if f"gate {gate.name}" in circle)
        start = circle.index(f"gate {settings.gate[index].name}")
        report.setting(
            ("gate", index, "stage"),
            f"waits for itself and can never be passed: {' → '.join((*circle[start:], *circle[: start + 1]))}",
            "Remove that qualification from one of these stages.",
            settings.gate[index].name,
        )


def _needs(settings: StudySettings) -> dict[str, list[str]]:
    """The prerequisites of work in a stage, and of a gate's decision."""
    known = granted(settings)
    needs: dict[str, list[str]] = {}
    for stage in settings.stage:
        asked = list(stage.entry.qualifications)
        if stage.arms and settings.arms and settings.arms.after:
            asked.append(settings.arms.after)
        gates = [name for name in map(known.get, asked) if name is not None]
        earlier = [*stage.sources, *([stage.entry.qualified_in] if stage.entry.qualified_in else [])]
        needs[f"stage {stage.name}"] = [f"gate {name}" for name in gates] + [f"stage {name}" for name in earlier]
    for gate in settings.gate:
        graders = [stage.name for stage in settings.stage if set(stage.graded_stages) & set(gate.stage)]
        needs[f"gate {gate.name}"] = [f"stage {name}" for name in (*gate.stage, *graders)]
    return needs


def _check_reach(settings: StudySettings, report: CheckReport) -> None:
    """Check that somebody can enter every stage: one arm must be able to get all required qualifications."""
    arms = frozenset(settings.arms.names) if settings.arms else frozenset({""})
    stages = {stage.name: stage for stage in settings.stage}
    gates = {gate.name: gate for gate in settings.gate}
    known = granted(settings)

    def reach(stage: StageSettings) -> frozenset[str]:
        open_to = frozenset(stage.arms) or arms
        for name in stage.entry.qualifications:
            gate = known[name]
            if gate is not None:
                for source in gates[gate].stage:
                    open_to &= reach(stages[source])
        if stage.entry.qualified_in is not None and stage.entry.qualified_in in stages:
            open_to &= reach(stages[stage.entry.qualified_in])
        return open_to

    for index, stage in enumerate(settings.stage):
        if not reach(stage):
            report.setting(
                ("stage", index, "entry"),
                "nobody can ever enter: the qualifications it requires come from stages of other arms",
                "Require qualifications that the stage's own arms can get.",
                stage.name,
            )


def _check_budget(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Check that the budget covers the minimum number of people in every round and gate, and every item from a file."""
    budget = settings.pay.budget
    if budget is None:
        return
    least = sum(_least_costs(settings, contents))
    cost = least + fee_due(fee_on(least, settings.pay.fee_percent), 0)
    if cost > budget:
        fees = ", fees included" if settings.pay.fee_percent else ""
        report.setting(
            ("pay", "budget"),
            f"does not cover the minimum cost of the study ({money_text(cost, settings.pay.currency)}{fees})",
            f"Raise it to {cost} or more, pay less, or lower `judgments`.",
            budget,
        )


def _least_costs(settings: StudySettings, contents: Sequence[StageFiles]) -> Iterator[int]:
    pairs = list(zip(settings.stage, contents, strict=False))
    turnout = fewest_people(settings, {stage.name: content.items for stage, content in pairs})
    for stage, content in pairs:
        if stage.round is not None:
            size = stage.round.size or content.gold_count or 0
            yield turnout.stages[stage.name] * (size * stage.pay.per_judgment + stage.pay.finished)
        else:
            yield len(content.items) * stage.judgments.min * stage.pay.per_judgment
            if stage.pay.by_length is not None and content.task is not None:
                words = (shown_words(content.task, item.payload) for item in content.items)
                yield stage.judgments.min * sum(length_pay(count, stage.pay.by_length) for count in words)
            if stage.grades:
                yield stage.judgments.min * stage.pay.finished
    for gate in settings.gate:
        yield turnout.needed[gate.name] * gate.bonus


def check_recruiting(settings: StudySettings, report: CheckReport) -> None:
    """Check that the stages and qualifications of the studies on Prolific exist."""
    if settings.prolific is None:
        return
    stages, known = [stage.name for stage in settings.stage], granted(settings)
    for index, wanted in enumerate(settings.prolific.study):
        at = ("prolific", "study", index)
        for name in wanted.stages:
            if name not in stages:
                report.setting(
                    (*at, "stages"), "there is no such stage", did_you_mean(name, stages), name, missing=True
                )
        if wanted.invite is not None and wanted.invite not in known:
            fix = did_you_mean(wanted.invite, known)
            report.setting((*at, "invite"), "no gate grants this qualification", fix, wanted.invite, missing=True)
