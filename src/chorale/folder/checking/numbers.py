"""Check the numbers of a protocol: enough people can pass, and the gates' requirements can be reached."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from chorale.contract import Task
from chorale.folder.checking.report import CheckReport
from chorale.folder.checking.stage_files import StageFiles
from chorale.model import GateSettings, NewItem, StudySettings
from chorale.model.plural import plural
from chorale.protocol import gates_that_wait, is_criterion, stages_too_small

_Items = Mapping[str, Sequence[NewItem]]
"""The items from files, for stages without derived items."""
_TINY = 1e-9


def check_numbers(settings: StudySettings, contents: Sequence[StageFiles], report: CheckReport) -> None:
    """Report requirements that can't be met with the numbers in the study file, however many people join."""
    files_by_stage = {stage.name: content for stage, content in zip(settings.stage, contents, strict=False)}
    items = {
        name: content.items
        for name, content in files_by_stage.items()
        if content.task and not content.task.shape.may_be_empty
    }
    for index, gate in enumerate(settings.gate):
        _check_answers(index, gate, settings, items, report)
        _check_marks(index, gate, settings, files_by_stage, report)
    _check_people(settings, items, report)


def _check_answers(index: int, gate: GateSettings, settings: StudySettings, items: _Items, report: CheckReport) -> None:
    """Check that one person can give the required number of answers: nobody gets two items of a group, or an item
    twice.
    """
    for stage in settings.stage:
        if stage.name in gate.stage and stage.name in items and stage.round is None and not stage.sources:
            most = len({item.group for item in items[stage.name]})
            if most < gate.graded:
                given = plural(most, "answer", "answers")
                report.setting(
                    ("gate", index, "graded"),
                    f"nobody could pass: one person can give at most {given} in `{stage.name}`",
                    f"Write more items for `{stage.name}`, or ask for fewer graded answers.",
                    gate.graded,
                )


def _check_marks(
    index: int,
    gate: GateSettings,
    settings: StudySettings,
    files_by_stage: Mapping[str, StageFiles],
    report: CheckReport,
) -> None:
    """Check that a rubric's best possible answers reach the gate's requirements."""
    rubrics = [stage for stage in settings.stage if set(stage.graded_stages) & set(gate.stage)]
    best: dict[str, float] = {}
    scores = {stage.name: float(stage.round is not None) for stage in settings.stage if stage.name in gate.stage}
    for stage in rubrics:
        task = files_by_stage[stage.name].task
        marks = (
            {name: task.grading.best_marks.get(name, 1.0) for name in task.grading.criteria} if task is not None else {}
        )
        best |= {name: max(mark, best.get(name, 0.0)) for name, mark in marks.items()}
        for source in set(stage.sources) & set(gate.stage):
            scores[source] = max(scores[source], 1.0 if task is None else _best_grade(marks, task))
    highest = fmean(scores.values())
    for at, asked in (("threshold", gate.threshold or 0.0), ("floor", gate.floor)):
        if asked > highest + _TINY:
            message = f"nobody could pass: the best possible answers score {highest:.3g}"
            report.setting(("gate", index, at), message, "Lower it, or give the best answers more `points`.", asked)
    for name, asked in gate.criteria.items():
        reached = max((mark for each, mark in best.items() if is_criterion(each, name)), default=0.0)
        if asked > reached + _TINY:
            message = f"nobody could pass: the best possible answers score {reached:.3g} in `{name}`"
            report.setting(
                ("gate", index, "criteria"), message, "Lower it, or give the best answer more `points`.", asked
            )


def _best_grade(marks: Mapping[str, float], task: Task) -> float:
    """The best mean that a rubric can give: over required criteria, and optional ones if they raise it."""
    always = set(task.shape.answer_schema.get("required", ()))
    counted = [mark for name, mark in marks.items() if name in always]
    for mark in sorted((mark for name, mark in marks.items() if name not in always), reverse=True):
        if not counted or mark > fmean(counted):
            counted.append(mark)
    return fmean(counted) if counted else 1.0


def _check_people(settings: StudySettings, items: _Items, report: CheckReport) -> None:
    """Check that gates pass enough people for later stages, and do not wait for more people than can come."""
    gates = {gate.name: index for index, gate in enumerate(settings.gate)}
    stages = {stage.name: index for index, stage in enumerate(settings.stage)}
    for short in stages_too_small(settings, items):
        by = short.most.by
        report.setting(
            ("gate", gates[by]) if by in gates else ("stage", stages[by], "items"),
            f"the stage `{short.name}` can never be finished: it needs {short.takes} different people or more, and no "
            f"more than {short.most.people:.0f} can reach it through `{by}`",
            f"Let more people pass `{by}`, or lower `judgments` of `{short.name}`.",
            by,
        )
    for short in gates_that_wait(settings, items):
        most = f"{short.most.people:.0f}"
        by = short.most.by
        why = f"gate `{by}` passes no more" if by in gates else f"`{by}` has no more items"
        if by in stages and settings.stage[stages[by]].grades:
            why = f"the people who may grade in `{by}` are too few to grade each other's answers"
        report.setting(
            ("gate", gates[short.name], "workers"),
            f"the gate would never close: at most {most} people can be scored there, since {why}",
            f"Write at most {most}, or leave it out and close the gate yourself.",
            short.takes,
        )
