"""What a kit can contain (tasks and other parts), and how installed kits are found."""

from collections.abc import Mapping

from chorale.contract.asked_once import AskedOnce
from chorale.contract.combined import Combined
from chorale.contract.errors import AnswerError, ItemError
from chorale.contract.exporting import Origin, RowMeasure, RowMeasures, Seeds, StageResults, TaskExport
from chorale.contract.fields import AnswerField, FieldKind, FieldResult, Scale, ShownTag, StudioControl, StudioPage
from chorale.contract.peoples_grades import Kept, Marks
from chorale.contract.prompting import Prompting, UnreadableError
from chorale.contract.quality_names import QualityNames
from chorale.contract.reveal import Reveal
from chorale.contract.task import (
    Combining,
    Deriving,
    Example,
    Explaining,
    Form,
    GradeResult,
    Grading,
    Options,
    Shape,
    Simulating,
    SourceProblem,
    Task,
)
from chorale.registry import Command, Kit, ReportSection, tasks


def installed_tasks() -> Mapping[str, Task]:
    """The tasks of all installed kits by name; each is loaded when it is first used."""
    return tasks()


__all__ = [
    "AnswerError",
    "AnswerField",
    "AskedOnce",
    "Combined",
    "Combining",
    "Command",
    "Deriving",
    "Example",
    "Explaining",
    "FieldKind",
    "FieldResult",
    "Form",
    "GradeResult",
    "Grading",
    "ItemError",
    "Kept",
    "Kit",
    "Marks",
    "Options",
    "Origin",
    "Prompting",
    "QualityNames",
    "ReportSection",
    "Reveal",
    "RowMeasure",
    "RowMeasures",
    "Scale",
    "Seeds",
    "Shape",
    "ShownTag",
    "Simulating",
    "SourceProblem",
    "StageResults",
    "StudioControl",
    "StudioPage",
    "Task",
    "TaskExport",
    "UnreadableError",
    "installed_tasks",
]
