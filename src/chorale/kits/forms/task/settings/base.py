"""Common parts of form settings: kinds of fields, value types, and errors with their position."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from chorale.files.judgment_layout import FREE_TEXT
from chorale.model.setting_types import not_blank

RESERVED_NAMES = ("item", "worker", "trust", "confidence", "judgments", "released", FREE_TEXT)
"""Columns of exports in addition to the fields."""
RESERVED_ENDINGS = ("_confidence", "_order", "_prefilled")
"""Suffixes of additional export columns of a field."""
BESIDE_THE_ITEM = ("id", "answer", "explanation")
"""File columns that are not part of an item."""
PIECES = "pieces"
"""Key of tokenized texts in the view."""
RENDERED = "rendered"
"""Key of rendered Markdown in the view."""
ANSWERS_GIVEN = "answers_given"
"""Key of the answers in an item for reviewers."""
REVIEW_REASON = "review_reason"
"""The field with a reviewer's reason."""
SAME = "same"
"""The answer that both sides of a pair are equal."""
LEVELS = 5
MOST_LEVELS = 11
LONGEST_TEXT = 10_000
LONGEST_LINE = 200


class Kind(StrEnum):
    CHOICE = "choice"
    CHOICES = "choices"
    LIKERT = "likert"
    SLIDER = "slider"
    NUMBER = "number"
    DATE = "date"
    MATRIX = "matrix"
    TEXT = "text"
    LONG_TEXT = "long_text"
    SPANS = "spans"
    RELATIONS = "relations"
    PAIR = "pair"
    RANKING = "ranking"
    BEST_WORST = "best_worst"
    TURN_CHOICE = "turn_choice"
    TURN_SPANS = "turn_spans"
    BOXES = "boxes"
    POLYGONS = "polygons"
    SEGMENTS = "segments"


def _field_name(value: str) -> str:
    if value in (*RESERVED_NAMES, REVIEW_REASON) or value.endswith(RESERVED_ENDINGS):
        raise ValueError("is already a column of the exports. Choose another name.")
    if not (value.isascii() and value.replace("_", "").isalnum() and value == value.lower() and value[0].isalpha()):
        raise ValueError("is not a valid name. Use lower-case letters, digits and underscores, starting with a letter.")
    return value


def _item_field(value: str) -> str:
    if value in BESIDE_THE_ITEM:
        raise ValueError("is stored with the item and never shown. Use a column of the item itself.")
    if value in (PIECES, RENDERED, ANSWERS_GIVEN):
        raise ValueError("is a reserved name. Rename the column.")
    return not_blank(value)


Words = Annotated[str, Field(max_length=500), AfterValidator(not_blank)]
FieldName = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_field_name)]
ItemField = Annotated[str, Field(max_length=100), AfterValidator(_item_field)]


class TableSettings(BaseModel):
    """A table of the study file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def used_with(setting: str, values_by_name: Mapping[str, Sequence[str]]) -> Callable[[dict[str, Any]], None]:
    """For the JSON schema of a table: settings that depend on the value of another setting."""

    def note(schema: dict[str, Any]) -> None:
        for name, values in values_by_name.items():
            schema["properties"][name]["used_with"] = {setting: [str(value) for value in values]}

    return note


def problem_at(loc: tuple[str | int, ...], words: str, value: Any) -> InitErrorDetails:
    kind = PydanticCustomError("value_error", "Value error, {words}", {"words": words})
    return InitErrorDetails(type=kind, loc=loc, input=value)


def refuse(title: str, problems: Sequence[InitErrorDetails]) -> None:
    """Reports every problem at its position. A plain ValueError would be reported once for the whole table."""
    if problems:
        raise ValidationError.from_exception_data(title, list(problems))
