"""What a kit may bring: tasks and the other parts, and how installed kits are found."""

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
from chorale.registry import Command, Kit, ReportSection, installed_tasks

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
