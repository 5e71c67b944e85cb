"""Kinds of work: one folder each, one line here. Tasks never import each other."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from chorale.contract.exporting import Origin, Seeds, StageResults, TaskExport
from chorale.contract.task import (
    AnswerError,
    Combined,
    Combining,
    Deriving,
    Example,
    Explaining,
    Form,
    GradeResult,
    Grading,
    ItemError,
    Marks,
    Options,
    Shape,
    Simulating,
    Task,
)

_FOLDERS = {
    "rules-meaningful": ("rules_meaningful", "RULES_MEANINGFUL"),
    "rules-entailment": ("rules_entailment", "RULES_ENTAILMENT"),
    "form": ("form", "FORM"),
    "frames": ("frame_choice", "FRAMES"),
    "qasrl-write": ("qasrl_write", "QASRL_WRITE"),
    "qasrl-consolidate": ("qasrl_consolidate", "QASRL_CONSOLIDATE"),
    "qasrl-validate": ("qasrl_validate", "QASRL_VALIDATE"),
    "mcq-write": ("mcq_write", "MCQ_WRITE"),
    "mcq-compare": ("mcq_compare", "MCQ_COMPARE"),
    "mcq-grade": ("mcq_grade", "MCQ_GRADE"),
    "mcq-validate": ("mcq_validate", "MCQ_VALIDATE"),
    "mturk": ("mturk_layout", "MTURK"),
}


class _Tasks(Mapping[str, Task]):
    """Tasks by their names; those of this package are loaded when they are first asked for.

    A study has few of them, and all together they take half a second.
    """

    def __init__(self, others: Mapping[str, Task]) -> None:
        self._loaded = dict(others)

    def __getitem__(self, name: str) -> Task:
        if name not in self._loaded:
            folder, constant = _FOLDERS[name]
            self._loaded[name] = getattr(import_module(f"{__name__}.{folder}"), constant)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in _FOLDERS or name in self._loaded

    def __iter__(self) -> Iterator[str]:
        return iter({**_FOLDERS, **self._loaded})

    def __len__(self) -> int:
        return len({**_FOLDERS, **self._loaded})


BUILT_IN: Mapping[str, Task] = _Tasks({})


@cache
def installed_tasks() -> Mapping[str, Task]:
    """The built-in tasks and those that other packages offer as `chorale.contract` entry points."""
    offered: list[Task] = [point.load() for point in entry_points(group="chorale.contract")]
    # Who comes first has the name.
    return _Tasks({task.name: task for task in reversed(offered) if task.name not in BUILT_IN})


__all__ = [
    "BUILT_IN",
    "AnswerError",
    "Combined",
    "Combining",
    "Deriving",
    "Example",
    "Explaining",
    "Form",
    "GradeResult",
    "Grading",
    "ItemError",
    "Marks",
    "Options",
    "Origin",
    "Seeds",
    "Shape",
    "Simulating",
    "StageResults",
    "Task",
    "TaskExport",
    "installed_tasks",
]
