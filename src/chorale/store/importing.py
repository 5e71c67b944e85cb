"""Bulk insertion of finished work: workers, assignments, responses and pay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from chorale.model import Standing
from chorale.store.prepared import PreparedInsert
from chorale.store.schema import assignment, entry, item, participation, response, worker, worker_identity
from chorale.store.staging import Staging

_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class PaidEach:
    """The pay per response of a stage."""

    amount: int
    reason: str


class NewWorker(NamedTuple):
    """A worker of imported work."""

    pseudonym: str
    panel: str
    external_id: str
    arrived_at: int


_INSERT_WORKER = PreparedInsert(worker, "id", "pseudonym", "arrived_at")
_INSERT_IDENTITY = PreparedInsert(worker_identity, "worker_id", "panel", "external_id", "visit")


def add_workers(tx: Connection, new: Sequence[NewWorker]) -> range:
    """Add workers; returns their numbers, in the same order."""
    first = (tx.execute(select(func.max(worker.c.id))).scalar() or 0) + 1
    numbers = range(first, first + len(new))
    numbered = list(zip(numbers, new, strict=True))
    # Their consent is unknown, since the work was done elsewhere.
    _INSERT_WORKER.rows(tx, [(number, one.pseudonym, one.arrived_at) for number, one in numbered])
    _INSERT_IDENTITY.rows(tx, [(number, one.panel, one.external_id, "{}") for number, one in numbered])
    return numbers


def _first_item(tx: Connection, stage_id: int) -> int:
    """The number of a stage's first item; the others have consecutive numbers."""
    query = select(func.min(item.c.id), func.max(item.c.id), func.count()).where(item.c.stage_id == stage_id)
    first, last, count = tx.execute(query).one()
    if last - first + 1 != count:
        raise RuntimeError(f"the items of stage {stage_id} are not numbered one after the other")
    return int(first)


_INSERT_ASSIGNMENT = PreparedInsert(
    assignment,
    *("id", "token", "stage_id", "item_id", "worker_id", "group_key", "kind", "state"),
    *("leased_at", "expires_at", "ended_at"),
)
_INSERT_RESPONSE = PreparedInsert(
    response,
    *("id", "assignment_id", "stage_id", "item_id", "worker_id", "kind", "answer", "task_version"),
    *("submitted_at", "duration_ms", "idempotency_key"),
)
_INSERT_ENTRY = PreparedInsert(entry, "cause", "at", "worker_id", "stage_id", "kind", "amount", "reason")
_INSERT_PARTICIPATION = PreparedInsert(
    participation,
    *("stage_id", "worker_id", "standing", "entered_at", "seed", "served", "answered", "gold_answered", "gold_right"),
    *("gold_recent", "earned", "fees", "exact_fees", "worked_ms", "item_cursor", "changes", "settled"),
)


@dataclass(frozen=True, slots=True)
class AddedWork:
    """The position of inserted work."""

    before: int
    """The number before that of the first response."""
    first_item: int


def add_done_work(
    tx: Connection,
    stage_id: int,
    task_version: int,
    staging: Staging,
    judgments: int,
    now: int,
    paid: PaidEach | None,
    done: Callable[[int], None],
) -> AddedWork:
    """Insert staged judgments in order, with their rows in other tables. Judgments without a time get `now`. The caller
    makes the labels and counts the taken places of items. `done` is called with the number inserted.
    """
    # Numbered here, so that related rows need not be looked up one by one.
    values: dict[str, Any] = {
        "stage": stage_id,
        "version": task_version,
        "now": now,
        "item": _first_item(tx, stage_id) - 1,
        "assignment": tx.execute(select(func.max(assignment.c.id))).scalar() or 0,
        "response": tx.execute(select(func.max(response.c.id))).scalar() or 0,
        "amount": 0 if paid is None else paid.amount,
        "reason": "" if paid is None else paid.reason,
    }
    for first in range(1, judgments + 1, _BATCH):
        values |= {"first": first, "last": first + _BATCH - 1}
        _INSERT_ASSIGNMENT.rows(tx, staging.assignments(values))
        _INSERT_RESPONSE.rows(tx, staging.responses(values))
        if paid is not None:
            _INSERT_ENTRY.rows(tx, staging.entries(values))
        done(min(judgments, first + _BATCH - 1))
    _INSERT_PARTICIPATION.rows(tx, [_participation(stage_id, values["amount"], *one) for one in staging.worked(now)])
    return AddedWork(values["response"], values["item"] + 1)


def _participation(
    stage_id: int, amount: int, worker_id: int, answered: int, worked_ms: int, entered_at: int
) -> tuple[Any, ...]:
    return (
        *(stage_id, worker_id, Standing.ACTIVE.value, entered_at, 0, answered, answered, 0, 0),
        *("", amount * answered, 0, 0, worked_ms, 0, 0, 0),
    )
