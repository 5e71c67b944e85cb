"""Request and response bodies of the workers' API."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from chorale.store.codec import storage_problem
from chorale.store.writing import WritingNumbers


class FirstAnswer(BaseModel):
    """An answer to an item, or the first part of an answer."""

    model_config = ConfigDict(extra="forbid")

    answer: Any = Field(description="The stage's task defines its form.")

    @field_validator("answer")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if problem := storage_problem(value):
            raise ValueError(problem)
        return value


class WritingBody(BaseModel):
    """Writing statistics of an answer, if the study records them."""

    model_config = ConfigDict(extra="forbid")

    characters: int = Field(ge=0, le=10**7)
    pasted: float = Field(ge=0, le=1)
    typing_ms: int = Field(ge=0, le=10**12)
    rhythm: float | None = Field(default=None, ge=0, le=10**6)
    left: int = Field(ge=0, le=10**6)
    away_ms: int = Field(ge=0, le=10**12)

    def numbers(self) -> WritingNumbers:
        return WritingNumbers(**self.model_dump())


class Submission(FirstAnswer):
    """A complete answer to an item."""

    key: str = Field(
        pattern=r"^[A-Za-z0-9_-]{8,64}$",
        description="Created once per answer, so that the answer can be sent again safely.",
    )
    duration_ms: int | None = Field(default=None, ge=0, le=10**12, description="How long the item was in view.")
    writing: WritingBody | None = Field(
        default=None, description="Writing statistics. Stored only if the study file says so."
    )


class ProgressBody(BaseModel):
    answered: int
    earned: int
    earned_text: str


class FirstStepBody(BaseModel):
    """The first step of a form in two steps."""

    fields: list[str]
    answer: dict[str, Any] | None
    """The stored first answer, if any; then `item` is complete."""


class AssignmentBody(BaseModel):
    id: str
    item: dict[str, Any]
    arrangement: dict[str, Any] | None = None
    suggestion: Any = None
    """A suggested answer for the worker to check and correct."""
    first: FirstStepBody | None = None
    expires_at: int
    server_now: int
    pay_text: str | None = None
    """The pay for this item, if it depends on length."""


class FollowingBody(BaseModel):
    """The next step for a worker when a part has no more work for them."""

    title: str
    url: str
    at_once: bool
    """Whether the page goes there automatically after some seconds."""


class OfferBody(BaseModel):
    status: Literal["item", "wait", "done", "none", "paused", "dropped", "limit", "locked", "round"]
    message: str
    progress: ProgressBody
    assignment: AssignmentBody | None = None
    skips_left: int | None = None
    """Number of skips left, including this item; unlimited if null."""
    following: FollowingBody | None = None


class FeedbackBody(BaseModel):
    explanation: str
    details: dict[str, Any] | None = None
    """How the answer compares with the expert's, for the form's module to show; in practice rounds only."""


class OutcomeBody(BaseModel):
    status: Literal["accepted", "already_submitted"]
    feedback: FeedbackBody | None
    right: bool | None
    """Whether the answer was correct; shown in practice rounds only."""
    standing: Literal["active", "dropped"]
    progress: ProgressBody


class RevealedBody(BaseModel):
    status: Literal["stored", "already_stored"]
    first: dict[str, Any]
    """The stored first answer: the one that was sent first."""
    item: dict[str, Any]


class ReturnedBody(BaseModel):
    status: Literal["returned"]


class LeaseBody(BaseModel):
    expires_at: int
    server_now: int


class ExtendedBody(BaseModel):
    status: Literal["extended"]
    assignment: LeaseBody


class ErrorDetail(BaseModel):
    code: str
    message: str


class ErrorBody(BaseModel):
    error: ErrorDetail


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 409, 410, 413, 422)
}
