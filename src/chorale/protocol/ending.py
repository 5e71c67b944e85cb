"""How a person's participation ends for their platform, and with which code they return to it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Ending(StrEnum):
    COMPLETED = "completed"
    REMOVED = "removed"
    """Removed during work, by gold or worker quality."""
    NOT_PASSED = "not passed"
    """Did not pass a quiz or gate, and did no other work."""


class PartDone(NamedTuple):
    """A person's work in a stage."""

    done: int
    """Number of answers, including work other than items."""
    goes_on: bool
    """Whether more work is available to them."""
    is_round: bool = False
    """Whether it is a round: practice, a quiz, a screening."""
    failure: Ending | None = None
    """Whether they were removed from it or did not pass it."""
    waits: bool = False
    """Whether they have qualified for it, and its items may still come."""


def ending(parts: Sequence[PartDone], after: int) -> Ending | None:
    """How a person's participation has ended; None if they may not return yet.

    Participation is complete after `after` answers that count, or after one if no work is left. An unfinished round
    does not count, so that nobody gets the completion code and then fails a quiz. After a failure, rounds and the
    failed part do not count. Work in other parts counts, whether it was done before or after the failure: it was
    accepted and is paid. Passed rounds also count while the person waits for a part they have qualified for: the study
    does not end for them.
    """
    goes_on = any(part.goes_on for part in parts)
    failures = {part.failure for part in parts if part.failure is not None}
    if failures:
        is_over = not any(part.waits for part in parts)
        counted = [part for part in parts if part.failure is None and not (part.is_round and (is_over or part.goes_on))]
        done = sum(part.done for part in counted)
        if not done:
            if goes_on or not any(part.done for part in parts):
                return None
            return Ending.REMOVED if Ending.REMOVED in failures else Ending.NOT_PASSED
    else:
        done = sum(part.done for part in parts if not (part.is_round and part.goes_on))
    return Ending.COMPLETED if done >= (after if goes_on else 1) else None
