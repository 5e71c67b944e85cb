"""The basic types of a study."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

Payload = Mapping[str, Any]
"""The content of an item: JSON values of its task's item type."""

Answer = Any
"""A parsed answer: a JSON value of its task's answer type."""


def responses_behind(item_key: str) -> tuple[int, ...]:
    """The numbers of the answers that an item was made from. Its key ends in them; empty for an item from a file.

    >>> responses_behind("s1:4/12+15"), responses_behind("s1:4")
    ((12, 15), ())
    """
    _, slash, numbers = item_key.rpartition("/")
    return tuple(int(number) for number in numbers.split("+") if number.isdigit()) if slash else ()


MODEL_PREFIX = "model:"
"""The prefix of models' pseudonyms, before their name in the study file."""


def is_model(pseudonym: str) -> bool:
    """Whether a worker is a model."""
    return pseudonym.startswith(MODEL_PREFIX)


class AssignmentKind(StrEnum):
    """Why an item was assigned to a worker."""

    TRAINING = "training"
    QUALIFICATION = "qualification"
    GOLD = "gold"
    PRODUCTION = "production"


class AssignmentState(StrEnum):
    LIVE = "live"
    SUBMITTED = "submitted"
    RETURNED = "returned"
    EXPIRED = "expired"


class ItemState(StrEnum):
    WAITING = "waiting"
    """A model answers first, and it has not been decided yet whether people are asked."""
    OPEN = "open"
    """Still needs judgments."""
    COMPLETE = "complete"
    """Has all judgments that its stage requires."""
    WITHDRAWN = "withdrawn"
    """Derived from a result that has changed; not assigned or exported, but its responses are kept."""


class StageState(StrEnum):
    OPEN = "open"
    PAUSED = "paused"


class MessageState(StrEnum):
    DRAFT = "draft"
    """Waiting for review by an expert."""
    SENT = "sent"


class Standing(StrEnum):
    """A worker's status in one stage."""

    ACTIVE = "active"
    DROPPED = "dropped"


REMOVED_BY_STAFF, REMOVED_BY_QUALITY = -1, -2
"""Values of `Participation.removed_after` for removals whose cause is not gold."""


class EntryKind(StrEnum):
    BASE = "base"
    BONUS = "bonus"
    FEE = "fee"
    MODEL = "model"
    """The cost of model calls, which is not paid to a worker."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to be added to a stage."""

    key: str
    payload: Payload
    group: str
    """Related items, of which no worker sees two in a stage."""
    sources: tuple[int, ...] = ()
    """The items this one was derived from."""
    response: int | None = None
    """The answer it was made from, if it was made from a single answer."""


class Judgment(NamedTuple):
    """One worker's counted answer to an item, with the worker's current trust."""

    worker: str
    answer: Answer
    trust: float
    response: int = 0
    """The number of its response."""
    draw: int = 0
    """A random number of the item, which breaks ties.

    It is 0 if the first label by name wins, as in studies started by earlier versions.
    """


@dataclass(frozen=True, slots=True)
class Label:
    """The aggregated label of an item."""

    answer: Answer
    confidence: float
    judgments: int
    released: bool
    """Whether the label is complete and reaches the stage's confidence threshold."""
    decided: frozenset[str] = frozenset()
    """The fields that a reviewer decided."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A complete item of an earlier stage, from which a task derives new items."""

    id: int
    key: str
    group: str
    payload: Payload
    label: Label | None
    judgments: tuple[Judgment, ...] = ()
    """The counted answers, for items that are made from people's texts."""


class GoldRecord(NamedTuple):
    """A worker's results on the gold of a stage."""

    right: int = 0
    answered: int = 0
    recent: str = ""
    """The latest answers, oldest first: 1 for correct, 0 for wrong."""


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer and its latest grade."""

    worker_id: int
    worker: str
    response_id: int
    stage_id: int
    score: float
    reasons: tuple[str, ...]
    answer: Any
    payload: Any
    criteria: Mapping[str, float]
    """The score of each criterion, if there are several."""
    grade_id: int = 0
    expert: Any = None
    """The expert's answer it was compared with, if known."""
