"""What a study is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

Payload = Mapping[str, Any]
"""The content of an item: JSON values, shaped by the item type of its task."""

Answer = Any
"""A parsed answer: a JSON value, shaped by the response type of its task."""


def responses_behind(item_key: str) -> tuple[int, ...]:
    """The answers that an item was made of, by the end of its key; none for an item of a file.

    >>> responses_behind("s1:4/12+15"), responses_behind("s1:4")
    ((12, 15), ())
    """
    _, slash, numbers = item_key.rpartition("/")
    return tuple(int(number) for number in numbers.split("+") if number.isdigit()) if slash else ()


MODEL_PREFIX = "model:"
"""How the pseudonyms of models begin; what follows is the name that the study file gives them."""


def is_model(pseudonym: str) -> bool:
    """Whether a worker is a model."""
    return pseudonym.startswith(MODEL_PREFIX)


class AssignmentKind(StrEnum):
    """Why a worker was given an item."""

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
    """A model answers first: whether people are asked is not decided yet."""
    OPEN = "open"
    """Still wants judgments."""
    COMPLETE = "complete"
    """Has all the judgments its stage asks for."""
    WITHDRAWN = "withdrawn"
    """Derived from a result that no longer holds; not offered, not exported, its responses kept."""


class StageState(StrEnum):
    OPEN = "open"
    PAUSED = "paused"


class MessageState(StrEnum):
    DRAFT = "draft"
    """Waits for an expert to read it."""
    SENT = "sent"


class Standing(StrEnum):
    """A worker's standing in one stage."""

    ACTIVE = "active"
    DROPPED = "dropped"


class EntryKind(StrEnum):
    BASE = "base"
    BONUS = "bonus"
    FEE = "fee"
    MODEL = "model"
    """What calls of a model cost: paid to no worker."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item about to enter a stage."""

    key: str
    payload: Payload
    group: str
    """Items of one group are parts of one thing; no worker sees two of them in a stage."""
    sources: tuple[int, ...] = ()
    """The items this one was derived from."""
    response: int | None = None
    """The answer this one was made from, where it was made from one."""


class Judgment(NamedTuple):
    """One worker's counted answer to an item, with the worker's present trust."""

    worker: str
    answer: Answer
    trust: float
    response: int = 0
    """The response it came in."""
    draw: int = 0
    """A random number of the item, which decides between tied answers. It is 0 where the first by name is taken, as in
    studies that began when ties went by name."""


@dataclass(frozen=True, slots=True)
class Label:
    """The crowd's answer to an item."""

    answer: Answer
    confidence: float
    judgments: int
    released: bool
    """Complete, and confident enough for the stage to stand behind it."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A finished item of an earlier stage, as a task sees it when it derives new items."""

    id: int
    key: str
    group: str
    payload: Payload
    label: Label | None
    judgments: tuple[Judgment, ...] = ()
    """The counted answers themselves, for items that are made from what people wrote."""


class GoldRecord(NamedTuple):
    """How a worker did on the gold of a stage."""

    right: int = 0
    answered: int = 0
    recent: str = ""
    """The latest answers, oldest first: 1 for right, 0 for wrong."""


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
    """The score of each criterion, where it was graded by several."""
    grade_id: int = 0
    expert: Any = None
    """The answer it was graded by, if an expert's was known."""
