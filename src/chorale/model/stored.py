"""The types of a study as stored in its database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chorale.model.frozen import frozen
from chorale.model.nouns import GoldRecord, ItemState, Label, SourceItem


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the protocol. Its settings are in the study file."""

    id: int
    name: str
    position: int
    task: str
    task_version: int
    state: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item to be judged, and its state."""

    id: int
    stage: str
    key: str
    group: str
    payload: dict[str, Any]
    state: str
    wanted: int
    taken: int
    answer: Any
    confidence: float | None
    judgments: int
    released: bool
    is_gold: bool
    sampled: bool
    """Whether it was sampled for a different number of judgments."""
    response_id: int | None = None
    """The answer it was made from, if it was made from a single answer."""
    decision: dict[str, Any] | None = None
    """Reviewers' decisions, by field."""

    def label(self) -> Label | None:
        """The label of a complete item."""
        if self.state != ItemState.COMPLETE or self.confidence is None:
            return None
        decided = frozenset(self.decision or ())
        return Label(frozen(self.answer), self.confidence, self.judgments, self.released, decided)

    def as_source(self) -> SourceItem:
        return SourceItem(self.id, self.key, self.group, frozen(self.payload), self.label())


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker's pseudonym. The platform ID is stored separately."""

    id: int
    pseudonym: str
    arrived_at: int
    consented_at: int | None
    """When they first agreed to a consent form."""
    arm: str | None = None
    consent_version: int | None = None
    """The latest version of the consent form they agreed to."""


class Participation(NamedTuple):
    """A worker in a stage."""

    stage_id: int
    worker_id: int
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    fees: int
    exact_fees: int
    skipped: int = 0
    removed_after: int = 0
    """For a removed worker: the number of answers after which they are informed, or a `REMOVED_BY_…` code."""

    @property
    def gold(self) -> GoldRecord:
        return GoldRecord(self.gold_right, self.gold_answered, self.gold_recent)


class Assignment(NamedTuple):
    """An item given to a worker for a limited time."""

    id: int
    item_id: int
    group_key: str
    kind: str
    state: str
    leased_at: int
    expires_at: int
    stage_id: int
    worker_id: int


@dataclass(frozen=True, slots=True)
class Response:
    """A submitted answer with its details."""

    id: int
    stage: str
    task: str
    task_version: int
    item: str
    group: str
    worker: str
    kind: str
    answer: Any
    submitted_at: int
    duration_ms: int
    counts: bool
    """Whether it counts towards the item's label."""
    gold_answer: Any
    gold_score: float | None
    item_id: int
    item_payload: str
    """Stored JSON, which only exports parse."""
    item_state: str
    item_label: Any
    item_confidence: float | None
    item_released: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """A score of a response, by gold or by graders."""

    id: int
    response_id: int
    worker: str
    stage: str
    kind: str
    """The kind of the response."""
    source: str
    score: float
    reasons: tuple[str, ...]
    criteria: Mapping[str, float] | None
    graded_at: int


@dataclass(frozen=True, slots=True)
class Qualification:
    """A qualification that a worker has and stages may require."""

    worker: str
    name: str
    granted_at: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a worker, from draft to read."""

    id: int
    worker_id: int
    worker: str
    cause: str
    written_at: int
    title: str
    body: str
    state: str
    sent_at: int | None
    read_at: int | None


@dataclass(frozen=True, slots=True)
class Event:
    """A decision and the evidence for it."""

    id: int
    at: int
    kind: str
    stage: str | None
    worker: str | None
    item: str | None
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the pay ledger, in integer minor units."""

    id: int
    at: int
    worker: str
    stage: str
    kind: str
    amount: int
    reason: str
    cause: str
