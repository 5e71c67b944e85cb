"""Interface of field kinds: read, compare, grade, aggregate and show answers.

A kind of field is one class, listed in `kinds.py`. No other code outside its module and the settings depends on it:
gold, agreement, reports, the console and exports use `answer_field`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from random import Random
from typing import Any, ClassVar

from chorale.contract.fields import AnswerField, FieldKind, Scale, StudioControl, plain_text
from chorale.kits.forms.task import studio
from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.invalid import invalid
from chorale.kits.forms.task.settings import FieldSettings, Kind
from chorale.model import Payload
from chorale.model.wording import worded

Votes = Sequence[tuple[Any, float]]
"""Answers of several people to one field with their weights: at least one, and at least one positive weight."""


@dataclass(frozen=True)
class FormField(ABC):
    """A field of a form."""

    kinds: ClassVar[tuple[Kind, ...]]
    """Name of the kind in study files."""
    settings: FieldSettings

    # What it holds

    @property
    @abstractmethod
    def kind(self) -> FieldKind: ...

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The level of measurement, or a distance instead. `Scale.TEXT` is never compared."""

    @property
    def is_text(self) -> bool:
        """Whether it is free text, which is not aggregated."""
        return self.scale is Scale.TEXT

    @property
    def options(self) -> tuple[tuple[Any, str], ...]:
        """The options: values with their labels."""
        return tuple((option.value, option.label) for option in self.settings.options or ())

    # Reading

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an answer."""

    @abstractmethod
    def parse(self, raw: Any) -> Any:
        """The normalised answer. Raises ValueError with a message that continues after the field's name."""

    def parse_gold(self, raw: Any) -> Any:
        """One correct answer from a gold file."""
        return self.parse(raw)

    def misfit(self, _value: Any, _item: Payload) -> str | None:
        """Error message for an answer or gold that does not fit the item, or None."""
        return None

    def doubt(self, _item: Payload) -> str | None:
        """Reason why the field is hard to answer for this item, for a warning in `chorale check`."""
        return None

    def located(self, gold: Any, _item: Payload) -> Any:
        """A correct answer for storage, if it depends on the item: spans given as quotations."""
        return gold

    # Comparing

    @abstractmethod
    def distance(self, left: Any, right: Any) -> float:
        """Distance of two answers: symmetric, 0 for equal answers, at most 1."""

    @abstractmethod
    def mistake(self, value: Any, gold: Any) -> str | None:
        """Description of how an answer differs from gold by this kind's measure; None if it is close enough."""

    @abstractmethod
    def combine(self, votes: Votes, draw: int) -> tuple[Any, float | None]:
        """The aggregated answer, with a confidence if defined. `draw` resolves ties."""

    @abstractmethod
    def guess(self, view: Mapping[str, Any], rng: Random | None) -> Any:
        """An answer of a simulated worker; always the same if `rng` is None."""

    def completed(self, value: Any, _view: Mapping[str, Any], _rng: Random | None) -> Any:
        """The known answer of a simulated worker, with guesses for parts missing in gold."""
        return value

    # Showing

    def view(self, _item: Payload) -> dict[str, Any]:
        """Data of the item that the page needs for this field."""
        return {}

    def rules(self) -> dict[str, Any]:
        """Rules that the page checks before submission, and other data for its script."""
        return {}

    def order(self, _item: Payload) -> tuple[list[str], bool]:
        """The parts that `shuffle` reorders, and whether the order differs between items."""
        return [str(value) for value in self.settings.answers], False

    def words(self, value: Any, _item: Payload) -> str:
        """The answer on one line, as shown next to the item, in events, on the gold page and in the terminal."""
        return plain_text(value)

    def in_words(self, value: Any, item: Payload) -> Any:
        """The answer as input of a later stage."""
        return self.words(value, item)

    # Exporting

    def label(self, value: Any) -> str | list[str]:
        """The label, or list of labels, for `chorale agreement` and `chorale aggregate`."""
        return [plain_text(each) for each in value] if isinstance(value, list | tuple) else plain_text(value)

    def marks(self, value: Any) -> Sequence[str]:
        """The single choices in a value, for CrowdTruth: options, or labelled tokens."""
        label = self.label(value)
        return [label] if isinstance(label, str) else label

    def cell(self, value: Any, _item: Payload) -> Any:
        """The answer for a table with one column per field, readable on its own."""
        return value

    columns: ClassVar[tuple[str, ...]] = ("value",)
    """The columns of `rows`."""

    def rows(self, value: Any, _item: Payload) -> list[dict[str, Any]]:
        """The answer as rows of a tidy table: one per option, span, region, relation or rank."""
        return [{"value": value}]

    def studio(self) -> StudioControl:
        """The control and results in Label Studio."""
        return studio.text_area(self.settings.name, self.settings.ask)

    # Gold, the same for all kinds

    @property
    def check(self) -> GoldCheck:
        return self.settings.gold or GoldCheck.WITHIN

    @property
    def promoted(self) -> bool:
        """Whether answers of workers can become gold."""
        return self.check is not GoldCheck.NONE

    def read_gold(self, raw: Any) -> Any:
        """The gold value from a gold file. Raises ValueError if it is invalid."""
        match self.check:
            case GoldCheck.ONE_OF:
                return self._each_right(raw)
            case GoldCheck.REGEX:
                return _pattern(raw)
        return self.parse_gold(raw)

    def _each_right(self, raw: Any) -> list[Any]:
        """A list of correct answers. A single answer becomes a list of one."""
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
        """The difference between an answer and gold under the study's comparison, or None if it is correct."""
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
        """The correct answer on one line."""
        match self.check:
            case GoldCheck.ONE_OF:
                return either(self.words(each, item) for each in gold)
            case GoldCheck.REGEX:
                return worded("an answer that matches {pattern}", pattern=gold)
        return self.words(gold, item)

    def answer_by(self, gold: Any) -> Any:
        """A correct answer by gold; None if gold does not specify one."""
        match self.check:
            case GoldCheck.ONE_OF:
                return gold[0]
            case GoldCheck.REGEX:
                return None
        return gold

    def answer_field(self) -> AnswerField:
        """The public description of the field outside the form."""
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


def either(texts: Iterable[str]) -> str:
    """Correct answers on one line."""
    return reduce(lambda first, second: worded("{one} or {other}", one=first, other=second), texts)


def corrected(own: str, right: str) -> str:
    """The reason for a grade: the wrong answer and the correct answer."""
    return f"answered {own}; the correct answer is {right}"


def is_asked(settings: FieldSettings, answer: Mapping[str, Any]) -> bool:
    """Whether a field is asked, given the answers to earlier fields."""
    condition = settings.shown_if
    if condition is None:
        return True
    value = answer.get(condition.field)
    return any(each in condition.is_ for each in (value if isinstance(value, list) else [value]))


def _differs(value: Any, right: Sequence[Any]) -> str:
    if not isinstance(value, str | int | float):
        return "differs from gold"
    return corrected(plain_text(value), either(map(plain_text, right)))


def _pattern(raw: Any) -> str:
    if not isinstance(raw, str):
        raise invalid("must be a regular expression, written as text", raw)
    try:
        re.compile(raw)
    except re.error as error:
        raise invalid(f"is not a valid regular expression: {error}", raw) from None
    return raw
