"""How somebody's part in a study ends for the platform they came from: with which code they may go back to it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Ending(StrEnum):
    COMPLETED = "completed"
    REMOVED = "removed"
    """Removed while they worked, by gold or by worker quality."""
    NOT_PASSED = "not passed"
    """They did not pass a quiz or a gate, and did nothing after it."""


class PartDone(NamedTuple):
    """What somebody did in a stage."""

    done: int
    """Answers, and other work beside the stage's items. After a gate that they did not pass: what they did since."""
    goes_on: bool
    """Whether there is more for them to do."""
    is_round: bool = False
    """Whether it is a round: practice, a quiz, a screening."""
    failure: Ending | None = None
    """Removed from it, or not passed by it."""


def ending(parts: Sequence[PartDone], after: int) -> Ending | None:
    """How somebody's part has ended; None if they may not go back yet.

    Work counts once there are `after` answers, or any if nothing is left to do. A round that is not finished does not
    count: people who fail a quiz must not have been given the completion code before. After a failure only work that
    is no round makes up for it.
    """
    goes_on = any(part.goes_on for part in parts)
    failures = {part.failure for part in parts if part.failure is not None}
    if failures and not any(part.done and not part.is_round and part.failure is None for part in parts):
        if goes_on or not any(part.done for part in parts):
            return None
        return Ending.REMOVED if Ending.REMOVED in failures else Ending.NOT_PASSED
    done = sum(part.done for part in parts if not (part.is_round and part.goes_on))
    return Ending.COMPLETED if done >= (after if goes_on else 1) else None
