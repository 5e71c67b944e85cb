"""The fields of answers that are objects: type, comparison and presentation.

Everything outside a kit works on fields through `AnswerField`: agreement, gold, reports, the console, exports. A kit
with a new kind of field describes it here, and nothing else has to change.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from chorale.files.judgment_layout import FREE_TEXT
from chorale.model import Payload


class FieldKind(StrEnum):
    """The kind of a field's value."""

    LABEL = "label"
    """One option."""
    LABELS = "labels"
    """Any number of options."""
    RATING = "rating"
    """One of several ordered options."""
    NUMBER = "number"
    RANKING = "ranking"
    SPANS = "spans"
    RELATIONS = "relations"
    REGIONS = "regions"
    DATE = "date"
    TEXT = "text"
    OTHER = "other"


class Scale(StrEnum):
    """The level of measurement of a field, or the distance used instead, for agreement."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"
    SET = "set"
    """Sets of options, by MASI."""
    SPANS = "spans"
    """Compared by the field's own distance, like all below."""
    RANKS = "ranks"
    REGIONS = "regions"
    RELATIONS = "relations"
    OTHER = "other"
    TEXT = "text"
    """Free text: never compared."""


LEVELS = frozenset({Scale.NOMINAL, Scale.ORDINAL, Scale.INTERVAL, Scale.RATIO})
"""The scales whose values are single labels or numbers."""


NOTHING_CHOSEN = "(none)"
"""The label for an empty choice in counts."""


class FieldResult(NamedTuple):
    """The aggregated value of a field."""

    value: Any
    """None if most workers left the field empty."""
    confidence: float | None
    """None for free text."""


class StudioControl(NamedTuple):
    """The Label Studio control for a field, and the format of its value."""

    tag: Callable[[str], str]
    """Takes the name of the object tag that the control belongs to. Returns the XML of the control; its `name` is the
    field's name. Further controls have names that begin with the field's name and a hyphen."""
    results: Callable[[Any, Payload], Sequence[Mapping[str, Any]]]
    """Takes a value and its item. Returns results with `type` and `value` and, where regions refer to each other, `id`,
    `from_id` and `to_id`, unique within the answer. `from_name` and `to_name` are added where they are missing."""
    read: Callable[[Sequence[Mapping[str, Any]], Payload], Any] | None = None
    """Takes such results and the item. Returns the value; None if that is not possible."""
    data: Callable[[Payload], Mapping[str, Any]] | None = None
    """Takes an item. Returns data of the task that only the control needs; their names begin with `chorale_`."""


class ShownTag(NamedTuple):
    """The Label Studio tag that shows a column of the items."""

    tag: str = "Text"
    attributes: Mapping[str, str] = MappingProxyType({})
    convert: Callable[[Any], Any] | None = None
    """Takes the stored value. Returns the data of the task. Default: the value as it is shown to workers."""


class StudioPage(NamedTuple):
    """What an export for Label Studio needs to know about a form."""

    shown: Mapping[str, ShownTag]
    """The tags of columns that are not plain text."""
    options: str
    """The form's options as JSON. The configuration keeps them, so that an import restores the form."""


def plain_text(value: Any) -> str:
    """A value as text: strings unchanged, everything else as JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _same_or_not(left: Any, right: Any) -> float:
    return 0.0 if left == right else 1.0


def _same_or_wrong(value: Any, gold: Any) -> str | None:
    return None if value == gold else "differs"


def _plain(value: Any, _item: Payload) -> str:
    return plain_text(value)


def _as_it_is(value: Any, _item: Payload) -> Any:
    return value


def _one_row(value: Any, _item: Payload) -> list[dict[str, Any]]:
    return [{"value": value}]


def _always(_answer: Mapping[str, Any]) -> bool:
    return True


def _label(value: Any) -> str | list[str]:
    return [plain_text(each) for each in value] if isinstance(value, list | tuple) else plain_text(value)


@dataclass(frozen=True)
class AnswerField:
    """A field of an answer that is an object."""

    name: str
    kind: FieldKind
    scale: Scale = Scale.OTHER
    ask: str = ""
    """The question shown to workers."""
    item: str | None = None
    """The column of the item that the value points into: the text of spans, the picture of regions."""
    options: tuple[tuple[Any, str], ...] = ()
    """The options: values with their texts."""
    graded: bool = True
    """Whether it is compared with gold that has this field."""
    promoted: bool = True
    """Whether it becomes gold when an item is turned into gold."""
    asked: Callable[[Mapping[str, Any]], bool] = _always
    """Takes the values of the earlier fields. Returns whether this field is asked."""
    distance: Callable[[Any, Any], float] = _same_or_not
    """Takes two values. Returns their distance: symmetric, 0 for equal values, at most 1."""
    mistake: Callable[[Any, Any], str | None] = _same_or_wrong
    """Takes a value and gold. Returns the reason why the value is wrong; None if it is correct."""
    words: Callable[[Any, Payload], str] = _plain
    """Takes a value and its item. Returns one readable line."""
    gold_words: Callable[[Any, Payload], str] | None = None
    """Takes gold and its item. Returns one readable line. Default: `words`."""
    label: Callable[[Any], str | list[str]] = _label
    """Takes a value. Returns the label, or list of labels, that `chorale agreement` and `chorale aggregate` read."""
    marks: Callable[[Any], Sequence[str]] | None = None
    """Takes a value. Returns the single choices in it, for CrowdTruth: options, or labelled tokens. Default:
    `label`."""
    cell: Callable[[Any, Payload], Any] = _as_it_is
    """Takes a value and its item. Returns the cell of a table with a column for each field."""
    columns: tuple[str, ...] = ("value",)
    """The columns of `rows`."""
    rows: Callable[[Any, Payload], Sequence[Mapping[str, Any]]] = _one_row
    """Takes a value and its item. Returns rows of a tidy table: one per span, region, relation, option or rank."""
    doubt: Callable[[Payload], str | None] | None = None
    """Takes an item. Returns why the field can hardly be answered, for `chorale check`; None if there is no reason."""
    studio: StudioControl | None = None
    """Default: a text area with the value as JSON."""

    @property
    def compared(self) -> bool:
        """Whether answers are compared in this field: all except free text."""
        return self.scale is not Scale.TEXT

    def between(self, left: Mapping[str, Any], right: Mapping[str, Any]) -> float | None:
        """The distance of two answers in this field: 1 if one leaves it empty, None if both do."""
        first, second = left.get(self.name), right.get(self.name)
        if first is None or second is None:
            return None if first is second else 1.0
        return self.distance(first, second)

    def chosen(self, answer: Mapping[str, Any]) -> tuple[str, ...]:
        """The single choices in an answer; empty if the field is empty."""
        value = answer.get(self.name)
        if value is None:
            return ()
        marks = self.label(value) if self.marks is None else self.marks(value)
        return ((marks,) if isinstance(marks, str) else tuple(marks)) or (NOTHING_CHOSEN,)

    def in_words(self, answer: Mapping[str, Any], item: Payload) -> str:
        """The value of an answer in readable form; empty if there is none."""
        value = answer.get(self.name)
        return "" if value is None else self.words(value, item)


def free_text_cell(fields: Sequence[AnswerField]) -> dict[str, str]:
    """The cell that lists the free-text fields of an answer, for its row in a table. Free text is not compared."""
    names = [field.name for field in fields if not field.compared]
    return {FREE_TEXT: " ".join(names)} if names else {}
