"""How somebody's part in a study ends for the platform they came from: with which code they may go back to it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Ending(StrEnum):
    COMPLETED = "completed"
    REMOVED = "removed"
    """Removed while they worked, by gold or by worker quality."""
    NOT_PASSED = "not passed"
    """They did not pass a quiz or a gate, and did no other work."""


class PartDone(NamedTuple):
    """What somebody did in a stage."""

    done: int
    """Answers, and other work beside the stage's items."""
    goes_on: bool
    """Whether there is more for them to do."""
    is_round: bool = False
    """Whether it is a round: practice, a quiz, a screening."""
    failure: Ending | None = None
    """Removed from it, or not passed by it."""


def ending(parts: Sequence[PartDone], after: int) -> Ending | None:
    """How somebody's part has ended; None if they may not go back yet.

    Work counts once there are `after` answers, or any if nothing is left to do. A round that is not finished does not
    count: people who fail a quiz must not have been given the completion code before. After a failure rounds do not
    count at all, and neither does the part that was failed. Work in other parts does, whether it was done before the
    failure or after it: it was accepted and is paid.
    """
    goes_on = any(part.goes_on for part in parts)
    failures = {part.failure for part in parts if part.failure is not None}
    if failures:
        done = sum(part.done for part in parts if not part.is_round and part.failure is None)
        if not done:
            if goes_on or not any(part.done for part in parts):
                return None
            return Ending.REMOVED if Ending.REMOVED in failures else Ending.NOT_PASSED
    else:
        done = sum(part.done for part in parts if not (part.is_round and part.goes_on))
    return Ending.COMPLETED if done >= (after if goes_on else 1) else None
