"""The interface of every kind of field: read, compare, grade, aggregate and show answers.

A kind of field is one class. It is listed in `kinds.py`; nothing else outside its module and the settings has to know
of it: gold, agreement, reports, the console and exports go by `answer_field`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import AnswerField, FieldKind, Scale, StudioControl, plain_text
from chorale.kits.forms.task import studio
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.settings import FieldSettings, Kind
from chorale.model import Payload

Votes = Sequence[tuple[Any, float]]
"""Answers of several people to one field, each with the trust they have: at least one, and not all without trust."""


@dataclass(frozen=True)
class FormField(ABC):
    """One thing a form asks for."""

    kinds: ClassVar[tuple[Kind, ...]]
    """What study files call it."""
    settings: FieldSettings

    # What it holds

    @property
    @abstractmethod
    def kind(self) -> FieldKind: ...

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The level of measurement, or the distance that takes its place; `Scale.TEXT` is never compared."""

    @property
    def is_text(self) -> bool:
        """Whether it is free text, which is not aggregated."""
        return self.scale is Scale.TEXT

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        """The options: values with their texts."""
        return tuple((option.value, option.label) for option in self.settings.options or ())

    # Reading

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""

    @abstractmethod
    def parse(self, raw: Any) -> Any:
        """The answer in its canonical form, or ValueError with words that go on after the field's name."""

    def parse_gold(self, raw: Any) -> Any:
        """One answer that is right, as a gold file has it."""
        return self.parse(raw)

    def misfit(self, _value: Any, _item: Payload) -> str | None:
        """What is wrong with an answer, or with gold, to this item."""
        return None

    def doubt(self, _item: Payload) -> str | None:
        """Why it can hardly be answered in this item, for a warning in `chorale check`."""
        return None

    def located(self, gold: Any, _item: Payload) -> Any:
        """One right answer as it is stored, where that depends on the item: spans given as quoted text."""
        return gold

    # Comparing

    @abstractmethod
    def distance(self, left: Any, right: Any) -> float:
        """Between two answers: symmetric, 0 for equal ones, at most 1."""

    @abstractmethod
    def mistake(self, value: Any, gold: Any) -> str | None:
        """How an answer differs from gold, by this kind's own measure; None if it is close enough."""

    @abstractmethod
    def combine(self, votes: Votes, draw: int) -> tuple[Any, float | None]:
        """The aggregated answer with its confidence, if it can have one; `draw` decides ties."""

    @abstractmethod
    def guess(self, view: Mapping[str, Any], rng: Random | None) -> Any:
        """An answer of a simulated worker; without random numbers, always the same one."""

    def completed(self, value: Any, _view: Mapping[str, Any], _rng: Random | None) -> Any:
        """A known answer of a simulated worker, with a guess for what gold leaves out."""
        return value

    # Showing

    def view(self, _item: Payload) -> dict[str, Any]:
        """What the page needs of the item to ask for it."""
        return {}

    def rules(self) -> dict[str, Any]:
        """What the page checks before an answer is sent, and what else its script needs to know."""
        return {}

    def order(self, _item: Payload) -> tuple[list[str], bool]:
        """What `shuffle` reorders, and whether the order differs between items."""
        return [str(value) for value in self.settings.answers], False

    def words(self, value: Any, _item: Payload) -> str:
        """The answer in one line, as people read it beside the item: also in events, on the gold page and in the
        terminal."""
        return plain_text(value)

    def in_words(self, value: Any, item: Payload) -> Any:
        """The answer where others work on it in a later stage."""
        return self.words(value, item)

    # Exporting

    def label(self, value: Any) -> str | list[str]:
        """The label, or list of labels, that `chorale agreement` and `chorale aggregate` read in files."""
        return [plain_text(each) for each in value] if isinstance(value, list | tuple) else plain_text(value)

    def marks(self, value: Any) -> Sequence[str]:
        """What people chose in a value, one by one, for CrowdTruth: options, or labelled tokens."""
        label = self.label(value)
        return [label] if isinstance(label, str) else label

    def cell(self, value: Any, _item: Payload) -> Any:
        """The answer for a table with one column per field, readable without the item."""
        return value

    columns: ClassVar[tuple[str, ...]] = ("value",)
    """The columns of `rows`."""

    def rows(self, value: Any, _item: Payload) -> list[dict[str, Any]]:
        """The answer in a tidy table: a row for each option, span, region, relation or rank."""
        return [{"value": value}]

    def studio(self) -> StudioControl:
        """How Label Studio asks for it and stores it."""
        return studio.text_area(self.settings.name, self.settings.ask)

    # Gold, for every kind in the same way

    @property
    def check(self) -> GoldCheck:
        return self.settings.gold or GoldCheck.WITHIN

    @property
    def promoted(self) -> bool:
        """Whether what people answered can become gold."""
        return self.check is not GoldCheck.NONE

    def read_gold(self, raw: Any) -> Any:
        """What a gold file says of the field, or ValueError."""
        match self.check:
            case GoldCheck.ONE_OF:
                return self._each_right(raw)
            case GoldCheck.REGEX:
                return _pattern(raw)
        return self.parse_gold(raw)

    def _each_right(self, raw: Any) -> list[Any]:
        """A list of right answers; one that is no list of answers stands for itself."""
        try:
            return [self.parse_gold(raw)]
        except ValueError:
            if not isinstance(raw, list) or not raw:
                raise
        return [self.parse_gold(each) for each in raw]

    def located_gold(self, gold: Any, item: Payload) -> Any:
        match self.check:
            case GoldCheck.ONE_OF:
                return [self.located(each, item) for each in gold]
            case GoldCheck.REGEX:
                return gold
        return self.located(gold, item)

    def gold_misfit(self, gold: Any, item: Payload) -> str | None:
        if self.check is GoldCheck.REGEX:
            return None
        each_right = gold if self.check is GoldCheck.ONE_OF else [gold]
        return next((wrong for right in each_right if (wrong := self.misfit(right, item)) is not None), None)

    def wrong(self, value: Any, gold: Any) -> str | None:
        """What is wrong with an answer by gold, as the study says to compare them; None if nothing is."""
        match self.check:
            case GoldCheck.NONE:
                return None
            case GoldCheck.EXACT:
                return None if value == gold else _differs(value, [gold])
            case GoldCheck.ONE_OF:
                return None if any(self.mistake(value, each) is None for each in gold) else _differs(value, gold)
            case GoldCheck.REGEX:
                matches = re.fullmatch(gold, plain_text(value), re.IGNORECASE)
                return None if matches else f"“{plain_text(value)}” does not match {gold}"
        return self.mistake(value, gold)

    def gold_words(self, gold: Any, item: Payload) -> str:
        """What is right, in one line."""
        match self.check:
            case GoldCheck.ONE_OF:
                return " or ".join(self.words(each, item) for each in gold)
            case GoldCheck.REGEX:
                return f"an answer that matches {gold}"
        return self.words(gold, item)

    def answer_by(self, gold: Any) -> Any:
        """An answer that is right by gold; None where gold does not say."""
        match self.check:
            case GoldCheck.ONE_OF:
                return gold[0]
            case GoldCheck.REGEX:
                return None
        return gold

    def answer_field(self) -> AnswerField:
        """The field as everything outside the form sees it."""
        return AnswerField(
            name=self.settings.name,
            kind=self.kind,
            scale=self.scale,
            ask=self.settings.ask,
            item=self.settings.item,
            options=self.options,
            graded=self.check is not GoldCheck.NONE,
            promoted=self.promoted,
            asked=partial(is_asked, self.settings),
            distance=self.distance,
            mistake=self.wrong,
            words=self.words,
            gold_words=self.gold_words,
            label=self.label,
            marks=self.marks,
            cell=self.cell,
            columns=self.columns,
            rows=self.rows,
            doubt=self.doubt,
            studio=self.studio(),
        )


def is_asked(settings: FieldSettings, answer: Mapping[str, Any]) -> bool:
    """Whether a field is asked after these answers to the ones before it."""
    condition = settings.shown_if
    if condition is None:
        return True
    value = answer.get(condition.field)
    return any(each in condition.is_ for each in (value if isinstance(value, list) else [value]))


def _differs(value: Any, right: Sequence[Any]) -> str:
    if not isinstance(value, str | int | float):
        return "differs from gold"
    return f"{plain_text(value)}, where {' or '.join(map(plain_text, right))} is right"


def _pattern(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("is not a regular expression in quotes")
    try:
        re.compile(raw)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return raw
