"""What a kit may bring: tasks and the other parts, and how installed kits are found."""

from collections.abc import Mapping

from chorale.contract.exporting import Origin, Seeds, StageResults, TaskExport
from chorale.contract.task import (
    AnswerError,
    AnswerField,
    Combined,
    Combining,
    Deriving,
    Example,
    Explaining,
    FieldKind,
    Form,
    GradeResult,
    Grading,
    ItemError,
    Marks,
    Options,
    Shape,
    Simulating,
    SourceProblem,
    Task,
)
from chorale.registry import Command, Kit, ReportSection, tasks


def installed_tasks() -> Mapping[str, Task]:
    """The tasks of all installed kits by name; each is loaded when it is first asked for."""
    return tasks()


__all__ = [
    "AnswerError",
    "AnswerField",
    "Combined",
    "Combining",
    "Command",
    "Deriving",
    "Example",
    "Explaining",
    "FieldKind",
    "Form",
    "GradeResult",
    "Grading",
    "ItemError",
    "Kit",
    "Marks",
    "Options",
    "Origin",
    "ReportSection",
    "Seeds",
    "Shape",
    "Simulating",
    "SourceProblem",
    "StageResults",
    "Task",
    "TaskExport",
    "installed_tasks",
]
