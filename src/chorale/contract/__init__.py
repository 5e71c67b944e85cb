"""What a kit may bring: tasks and the other parts, and how installed kits are found."""

from chorale.contract.kit import Command, Kit, ReportSection
from chorale.contract.registry import installed_tasks
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
