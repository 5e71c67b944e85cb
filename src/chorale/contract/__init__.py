"""What a kit may bring: tasks and the other parts, and how installed kits are found."""

from collections.abc import Mapping

from chorale.contract.task import (
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
from chorale.registry import Command, Kit, ReportSection, tasks


def installed_tasks() -> Mapping[str, Task]:
    """The tasks of all installed kits by name; each is loaded when it is first asked for."""
    return tasks()


__all__ = [
    "AnswerError",
    "Combined",
    "Command",
    "Example",
    "GradeResult",
    "ItemError",
    "Kit",
    "Marks",
    "Origin",
    "ReportSection",
    "Seeds",
    "StageResults",
    "Task",
    "TaskExport",
    "installed_tasks",
]
