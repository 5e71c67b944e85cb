"""What is sent to a model, and what comes back, whatever runs it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

_MOST_TOKENS = 2**31
"""More than this fits no column, and no model."""


class CallOutcome(StrEnum):
    """The outcome of a request."""

    ANSWER = "answer"
    """Some text; whether it is an answer to the item is for the task to say."""
    UNPARSABLE = "unparsable"
    """Text that is no answer."""
    REFUSAL = "refusal"
    EMPTY = "empty"
    CUT = "cut"
    """The answer was longer than `max_tokens`."""
    TOO_LONG = "too long"
    """The prompt is longer than `max_prompt_tokens`; nothing was sent."""
    TIMEOUT = "timeout"
    BUSY = "busy"
    """A rate limit, still after all tries."""
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
    """user or assistant."""
    text: str


class ModelRequest(NamedTuple):
    """A request to a model."""

    system: str
    messages: Sequence[ChatMessage]
    schema: Mapping[str, Any]
    stage: str
    item: str
    """Stage and key of the item, by which recorded answers are found. They are never sent."""
    prompt_sha256: str
    number: int = 0
    """Which sample of an item it is."""
    may_repeat: Callable[[], Awaitable[bool]] | None = None
    """Whether a request may be sent again whose answer was lost, and that may have cost something. Asked before each
    such repetition, and answered with yes, that loss is on record."""


class Reply(NamedTuple):
    """The outcome of a request after all tries."""

    outcome: CallOutcome
    output: str = ""
    version: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    tries: int = 1
    faults: Mapping[str, int] = {}
    """How often each fault was met on the way."""
    recorded: int = 0
    """How many lost tries `may_repeat` has put on record."""
    lost: int = 0
    """How many tries may have been answered, and paid for, without the answer being read."""
    reason: str | None = None
    confidence: float | None = None
    """The probability of the output by its tokens, where the server gives that."""


def whole(value: Any) -> int | None:
    """A count of tokens as a model gives it; None if it is no count."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return value if is_count else None


class ModelClient(Protocol):
    """Something that answers requests."""

    async def ask(self, asked: ModelRequest) -> Reply:
        """The reply to a request. Failures are replies too."""

    async def close(self) -> None:
        """Free what it holds."""
