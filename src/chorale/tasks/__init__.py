"""Kinds of work: one folder each, one line here. Tasks never import each other."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from chorale.tasks.contract import (
    AnswerError,
    Combined,
    Example,
    GradeResult,
    ItemError,
    Marks,
    Origin,
    Seeds,
    StageResults,
    Task,
    TaskExport,
)
from chorale.tasks.form import FORM
from chorale.tasks.frame_choice import FRAMES
from chorale.tasks.mcq_compare import MCQ_COMPARE
from chorale.tasks.mcq_grade import MCQ_GRADE
from chorale.tasks.mcq_validate import MCQ_VALIDATE
from chorale.tasks.mcq_write import MCQ_WRITE
from chorale.tasks.mturk_layout import MTURK
from chorale.tasks.qasrl_consolidate import QASRL_CONSOLIDATE
from chorale.tasks.qasrl_validate import QASRL_VALIDATE
from chorale.tasks.qasrl_write import QASRL_WRITE
from chorale.tasks.rules_entailment import RULES_ENTAILMENT
from chorale.tasks.rules_meaningful import RULES_MEANINGFUL

BUILT_IN: Mapping[str, Task] = {
    "rules-meaningful": RULES_MEANINGFUL,
    "rules-entailment": RULES_ENTAILMENT,
    "form": FORM,
    "frames": FRAMES,
    "qasrl-write": QASRL_WRITE,
    "qasrl-consolidate": QASRL_CONSOLIDATE,
    "qasrl-validate": QASRL_VALIDATE,
    "mcq-write": MCQ_WRITE,
    "mcq-compare": MCQ_COMPARE,
    "mcq-grade": MCQ_GRADE,
    "mcq-validate": MCQ_VALIDATE,
    "mturk": MTURK,
}


@cache
def installed_tasks() -> Mapping[str, Task]:
    """The built-in tasks and those that other packages offer as `chorale.tasks` entry points."""
    found = dict(BUILT_IN)
    for point in entry_points(group="chorale.tasks"):
        task = point.load()
        found.setdefault(task.name, task)
    return found


__all__ = [
    "BUILT_IN",
    "AnswerError",
    "Combined",
    "Example",
    "GradeResult",
    "ItemError",
    "Marks",
    "Origin",
    "Seeds",
    "StageResults",
    "Task",
    "TaskExport",
    "installed_tasks",
]
