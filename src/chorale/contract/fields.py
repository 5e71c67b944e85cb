"""The fields of an answer that is an object."""

from enum import StrEnum
from typing import NamedTuple


class FieldKind(StrEnum):
    """What a field of an answer holds."""

    LABEL = "label"
    """One of some options."""
    LABELS = "labels"
    """Any number of them."""
    RATING = "rating"
    """One of some options that have an order."""
    TEXT = "text"
    OTHER = "other"


class AnswerField(NamedTuple):
    """A field of an answer that is an object."""

    name: str
    kind: FieldKind
