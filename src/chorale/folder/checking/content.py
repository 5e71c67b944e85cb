"""The content of a valid study folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel

from chorale.contract import Task
from chorale.folder.view_key import view_key
from chorale.model import Answer, NewItem, StageSettings, StudySettings


@dataclass(frozen=True, slots=True)
class GoldRow:
    """An item with a known answer, and the explanation for workers who answer it wrongly."""

    item: NewItem
    answer: Answer
    explanation: str


@dataclass(frozen=True, slots=True)
class TruthRow:
    """The correct answer that simulated workers use, by the item's view."""

    view: dict[str, Any]
    answer: Answer


class KnownAnswers(NamedTuple):
    """The known correct answers of a stage."""

    answers: Sequence[Answer]
    to_items: bool
    """Whether the answers belong to the stage's items: they come from a truth file that matches some items."""

    @classmethod
    def of(
        cls, task: Task, items: Sequence[NewItem], gold: Sequence[GoldRow], truth: Sequence[TruthRow]
    ) -> "KnownAnswers":
        """The answers of truth rows that match items; if there are none, those of all truth rows, or else of gold."""
        shown = {view_key(task.form.shown(item.payload)) for item in items} if truth else set()
        if fitting := [row.answer for row in truth if view_key(row.view) in shown]:
            return cls(fitting, to_items=True)
        return cls([row.answer for row in truth or gold], to_items=False)


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
    """The items before duplicates were merged."""
    assigned: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The assignees of items, by key. Other items are for everybody."""

    @property
    def known(self) -> KnownAnswers:
        """The correct answers in its files."""
        return KnownAnswers.of(self.task, self.items, self.gold, self.truth)

    def asking_all(self) -> Self:
        """The stage without merging of duplicates."""
        gold = [replace(row, item=replace(row.item, group=row.item.key)) for row in self.gold]
        shape = replace(self.task.shape, asked_once=None)
        return replace(self, items=self.unmerged, gold=gold, task=replace(self.task, shape=shape))


@dataclass(frozen=True)
class StudyFolder:
    """A study folder that was read without problems."""

    path: Path
    settings: StudySettings
    settings_text: str
    consent: str
    """Markdown."""
    stages: tuple[StageContent, ...]
    messages: Mapping[str, str]
    """The templates of the gates' messages, by file name."""
