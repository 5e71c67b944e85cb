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
    Seeds,
    StageResults,
    Task,
    TaskExport,
)
from chorale.tasks.form import FORM
from chorale.tasks.rules_entailment import RULES_ENTAILMENT
from chorale.tasks.rules_meaningful import RULES_MEANINGFUL

BUILT_IN: Mapping[str, Task] = {
    "rules-meaningful": RULES_MEANINGFUL,
    "rules-entailment": RULES_ENTAILMENT,
    "form": FORM,
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
    "Seeds",
    "StageResults",
    "Task",
    "TaskExport",
    "installed_tasks",
]
