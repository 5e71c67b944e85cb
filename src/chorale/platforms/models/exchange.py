"""Requests to models and their replies, independent of the server."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

_MOST_TOKENS = 2**31
"""Maximum length of an output: more fits neither a database column nor a model."""


class CallOutcome(StrEnum):
    """The outcome of a request."""

    ANSWER = "answer"
    """Some text; the task decides whether it is an answer to the item."""
    UNPARSABLE = "unparsable"
    """Text that is not a valid answer."""
    REFUSAL = "refusal"
    EMPTY = "empty"
    CUT = "cut"
    """The answer was longer than `max_tokens`."""
    TOO_LONG = "too long"
    """The prompt is longer than `max_prompt_tokens`; nothing was sent."""
    TIMEOUT = "timeout"
    BUSY = "busy"
    """Still rate-limited after all attempts."""
    SERVER = "server error"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"
    """The server rejects all requests: a wrong key, no money left or an unknown model."""
    DECLINED = "declined"
    """The server rejects this request: its prompt is too long, or a filter stops it."""

    @property
    def may_be_better_later(self) -> bool:
        """Whether the same request may succeed in another run."""
        return self in (
            CallOutcome.TIMEOUT,
            CallOutcome.BUSY,
            CallOutcome.SERVER,
            CallOutcome.UNREACHABLE,
            CallOutcome.REJECTED,
        )


class ChatMessage(NamedTuple):
    role: str
    """`user` or `assistant`."""
    text: str


class ModelRequest(NamedTuple):
    """A request to a model."""

    system: str
    messages: Sequence[ChatMessage]
    schema: Mapping[str, Any]
    stage: str
    item: str
    """Stage and key of the item, to look up recorded answers. They are never sent."""
    prompt_sha256: str
    number: int = 0
    """The number of the sample for an item."""
    may_repeat: Callable[[], Awaitable[bool]] | None = None
    """Whether a request may be repeated after its answer was lost; the lost one may have cost something.

    Called before each repetition. If it returns True, the loss is recorded.
    """


class Reply(NamedTuple):
    """The outcome of a request after all attempts."""

    outcome: CallOutcome
    output: str = ""
    version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    tries: int = 1
    faults: Mapping[str, int] = {}
    """Number of faults, by kind."""
    recorded: int = 0
    """Number of lost attempts recorded by `may_repeat`."""
    lost: int = 0
    """Number of attempts that may have been answered and billed without their answer being read."""
    reason: str | None = None
    confidence: float | None = None
    """The probability of the output's tokens, if the server reports it."""


def whole(value: Any) -> int | None:
    """A model's token count; None if it is not a valid count."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return value if is_count else None


class ModelClient(Protocol):
    """A client that answers requests."""

    async def ask(self, asked: ModelRequest) -> Reply:
        """Send a request. Failures are returned as replies."""

    async def close(self) -> None:
        """Release its resources."""
