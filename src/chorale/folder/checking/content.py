"""What a study folder holds, once nothing in it is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel

from chorale.contract import Task
from chorale.model import Answer, NewItem, StageSettings, StudySettings


@dataclass(frozen=True, slots=True)
class GoldRow:
    """An item with a known answer, and the explanation for workers who missed it."""

    item: NewItem
    answer: Answer
    explanation: str


@dataclass(frozen=True, slots=True)
class TruthRow:
    """What a simulated worker knows: the true answer to whatever looks like this."""

    view: dict[str, Any]
    answer: Answer


@dataclass(frozen=True)
class StageContent:
    settings: StageSettings
    task: Task
    options: BaseModel
    items: Sequence[NewItem]
    """Empty if the items are derived from an earlier stage."""
    gold: Sequence[GoldRow]
    truth: Sequence[TruthRow]
    guidelines: str
    """Markdown."""
    unmerged: Sequence[NewItem]
    """The items before those that ask the same became one."""

    def asking_all(self) -> Self:
        """The stage as it was before its task asked once what several rows ask."""
        gold = [replace(row, item=replace(row.item, group=row.item.key)) for row in self.gold]
        shape = replace(self.task.shape, asked_once=None)
        return replace(self, items=self.unmerged, gold=gold, task=replace(self.task, shape=shape))


@dataclass(frozen=True)
class StudyFolder:
    """A study as its author wrote it, without a problem in it."""

    path: Path
    settings: StudySettings
    settings_text: str
    consent: str
    """Markdown."""
    stages: tuple[StageContent, ...]
    messages: Mapping[str, str]
    """The templates of the gates' messages, by file name."""
