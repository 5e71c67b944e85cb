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
    """An item with a known answer, and the explanation for workers who missed it."""

    item: NewItem
    answer: Answer
    explanation: str


@dataclass(frozen=True, slots=True)
class TruthRow:
    """The correct answer that simulated workers use, by the item's view."""

    view: dict[str, Any]
    answer: Answer


class KnownAnswers(NamedTuple):
    """The right answers that are known in a stage."""

    answers: Sequence[Answer]
    to_items: bool
    """Whether they are answers to its items: by a truth file that fits some of them."""

    @classmethod
    def of(
        cls, task: Task, items: Sequence[NewItem], gold: Sequence[GoldRow], truth: Sequence[TruthRow]
    ) -> "KnownAnswers":
        """Those of the truth file that fit items, or else of the truth file or of gold."""
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
    """The items before those that ask the same became one."""
    assigned: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Who items are for, by their keys. Items that are not here are for everybody."""

    @property
    def known(self) -> KnownAnswers:
        """The right answers that its files have."""
        return KnownAnswers.of(self.task, self.items, self.gold, self.truth)

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
