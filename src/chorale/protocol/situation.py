"""What a worker may do in a stage now, and why.

The overview page, the next item, late answers, HITs and simulations all use `situation`, so they always agree. The
order of its rules is defined only here.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from chorale.model import REMOVED_BY_QUALITY, REMOVED_BY_STAFF, Standing
from chorale.protocol.eligibility import Admission
from chorale.protocol.training import NO_LIMIT, Places


class State(StrEnum):
    """What a worker may do in a stage."""

    NO_CONSENT = "no consent"
    AVAILABLE = "available"
    """There is an item for them: one they hold, or a new one."""
    WAITING = "waiting"
    FINISHED = "finished"
    LOCKED = "locked"
    PAUSED = "paused"
    REMOVED = "removed"
    LIMIT = "limit"


class Reason(StrEnum):
    """Why a worker is in that state, in the words of the console."""

    NO_CONSENT = "no consent"
    BELOW_GOLD = "low gold accuracy"
    """Removed: too many wrong answers to gold."""
    BELOW_QUALITY = "low worker quality"
    """Removed: too little agreement with others."""
    REMOVED_BY_STAFF = "removed by the study's team"
    BLOCKED = "blocked"
    """Removed: a requester's script has blocked them."""
    HOLDS_ITEM = "holds an item"
    HAS_ROOM = "has items to do"
    """There is an item for them that they do not hold yet."""
    ROUND_FINISHED = "round finished"
    ENDED = "ended"
    """A gate has ended the stage."""
    NOT_ADMITTED = "not admitted"
    NO_PLACES = "training is full"
    """Enough people are in training for the work that is left."""
    NO_WORK_LEFT = "no work left"
    """The work that the training leads to is already done."""
    PAUSED = "paused"
    BUDGET = "budget reached"
    LIMIT = "limit"
    MORE_MAY_COME = "more items may follow"
    NOTHING_LEFT = "no items left"
    TOO_LATE = "no items left for them"
    """Nothing is left, and they never had an item."""


def removal_reason(standing: str, answered: int, removed_after: int, *, has_gold: bool) -> Reason | None:
    """Why a worker was removed; None if they were not, or are not informed yet after this number of answers."""
    if standing != Standing.DROPPED or answered < removed_after:
        return None
    if removed_after == REMOVED_BY_STAFF:
        return Reason.REMOVED_BY_STAFF
    return Reason.BELOW_GOLD if has_gold and removed_after != REMOVED_BY_QUALITY else Reason.BELOW_QUALITY


class Facts(NamedTuple):
    """The facts about a worker in a stage. Facts that need a query are functions, called only if they matter."""

    admission: Callable[[], Admission]
    has_room: Callable[[], bool]
    """Whether the stage has an item for this worker that they do not hold."""
    within_budget: Callable[[], bool]
    """Whether the budget covers one more item."""
    more_may_come: Callable[[], bool]
    """Whether the stage, or one of its source stages, still needs judgments."""
    consented: bool = True
    removal: Reason | None = None
    """Why they were removed from the stage, if they were."""
    holds_item: bool = False
    answered: int = 0
    round_size: int | None = None
    max_per_worker: int | None = None
    ended: bool = False
    """Whether a gate has ended the stage."""
    paused: bool = False
    """Whether the requester has paused the stage."""
    places: Callable[[], Places] = lambda: NO_LIMIT
    """Number of further people a training round admits; for workers who have not started it."""


class Situation(NamedTuple):
    state: State
    reason: Reason
    admission: Admission | None = None
    """The decision on admission, if they are not admitted."""
    places: int | None = None
    """Number of places left in a training round, if they have not started it and places are limited."""


_NO_CONSENT = Situation(State.NO_CONSENT, Reason.NO_CONSENT)
_HOLDS_ITEM = Situation(State.AVAILABLE, Reason.HOLDS_ITEM)
_HAS_ROOM = Situation(State.AVAILABLE, Reason.HAS_ROOM)
_ROUND_FINISHED = Situation(State.FINISHED, Reason.ROUND_FINISHED)
_ENDED = Situation(State.FINISHED, Reason.ENDED)
_NO_PLACES = Situation(State.LOCKED, Reason.NO_PLACES)
_NO_WORK_LEFT = Situation(State.LOCKED, Reason.NO_WORK_LEFT)
_PAUSED = Situation(State.PAUSED, Reason.PAUSED)
_BUDGET = Situation(State.PAUSED, Reason.BUDGET)
_LIMIT = Situation(State.LIMIT, Reason.LIMIT)
_MORE_MAY_COME = Situation(State.WAITING, Reason.MORE_MAY_COME)
_NOTHING_LEFT = Situation(State.FINISHED, Reason.NOTHING_LEFT)
_TOO_LATE = Situation(State.FINISHED, Reason.TOO_LATE)


def situation(facts: Facts) -> Situation:
    """What a worker may do in a stage, and why.

    A worker who holds an item may finish it, even if the stage or their admission has changed since. A worker who
    was removed from the stage may not.
    """
    if not facts.consented:
        return _NO_CONSENT
    if facts.removal is not None:
        return Situation(State.REMOVED, facts.removal)
    if facts.holds_item:
        return _HOLDS_ITEM
    answered, round_size = facts.answered, facts.round_size
    if round_size is not None and answered >= round_size:
        return _ROUND_FINISHED
    if facts.ended and answered:
        return _ENDED
    admission = facts.admission()
    if not admission.allowed:
        return Situation(State.LOCKED, Reason.NOT_ADMITTED, admission)
    if facts.paused:
        return _PAUSED
    if facts.max_per_worker is not None and answered >= facts.max_per_worker:
        return _LIMIT
    places = facts.places()
    if places.left == 0:
        return _NO_PLACES if places.may_open else _NO_WORK_LEFT
    if facts.has_room():
        if not facts.within_budget():
            return _BUDGET
        return _HAS_ROOM if places.left is None else _HAS_ROOM._replace(places=places.left)
    if round_size is not None:
        return _ROUND_FINISHED
    return _MORE_MAY_COME if facts.more_may_come() else (_NOTHING_LEFT if answered else _TOO_LATE)


def after_held_item(facts: Facts) -> Situation:
    """What a worker who holds an item may do after submitting it, by the current facts."""
    return situation(facts._replace(holds_item=False, answered=facts.answered + 1))


def for_late_answer(facts: Facts) -> Situation:
    """The situation that decides about a late answer: it is accepted if the worker could get the item now.

    A pause does not matter, since the item was assigned before the pause. Another item that the worker holds does not
    matter either.
    """
    return situation(facts._replace(holds_item=False, paused=False))


def always() -> bool:
    """A fact that is always true."""
    return True


def never() -> bool:
    """A fact that is never true."""
    return False
