"""Finished work put into a database as it was done: people, assignments, responses and pay, many at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, select, update

from chorale.model import AssignmentKind, AssignmentState, EntryKind, Standing
from chorale.store.schema import assignment, entry, item, participation, response, worker, worker_identity

_BATCH = 5_000


class DoneWork(NamedTuple):
    """A response that was given elsewhere."""

    worker_id: int
    item_id: int
    group_key: str
    answer: str
    submitted_at: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class PaidEach:
    """What every response of a stage earned."""

    amount: int
    reason: str


def add_worker(tx: Connection, pseudonym: str, panel: str, external_id: str, arrived_at: int) -> int:
    values = {"pseudonym": pseudonym, "arrived_at": arrived_at, "consented_at": arrived_at}
    worker_id = int(tx.execute(insert(worker).values(**values).returning(worker.c.id)).scalar_one())
    tx.execute(insert(worker_identity).values(worker_id=worker_id, panel=panel, external_id=external_id, visit="{}"))
    return worker_id


def item_ids(tx: Connection, stage_id: int) -> dict[str, tuple[int, str]]:
    """Number and group of a stage's items, by key."""
    query = select(item.c.key, item.c.id, item.c.group_key).where(item.c.stage_id == stage_id)
    return {key: (item_id, group) for key, item_id, group in tx.execute(query)}


def add_done_work(
    tx: Connection, stage_id: int, task_version: int, done: Sequence[DoneWork], paid: PaidEach | None
) -> None:
    """Put responses in, in this order, with everything that stands for them elsewhere in the database.

    Labels are for whoever calls this to make.
    """
    tx.execute(insert(participation), list(_participations(stage_id, done, 0 if paid is None else paid.amount)))
    places = Counter(one.item_id for one in done)
    tx.execute(
        update(item).where(item.c.id == bindparam("of_item")).values(taken=bindparam("all"), wanted=bindparam("all")),
        [{"of_item": item_id, "all": count} for item_id, count in places.items()],
    )
    # Numbered here, so that what belongs together need not be looked up row by row.
    assignments = (tx.execute(select(func.max(assignment.c.id))).scalar() or 0) + 1
    responses = (tx.execute(select(func.max(response.c.id))).scalar() or 0) + 1
    for start, part in _parts(done):
        tx.execute(
            insert(assignment), [_assignment(assignments + start + n, stage_id, one) for n, one in enumerate(part)]
        )
        rows = [
            _response(responses + start + n, assignments + start + n, stage_id, task_version, one)
            for n, one in enumerate(part)
        ]
        tx.execute(insert(response), rows)
        if paid is not None:
            tx.execute(
                insert(entry), [_entry(responses + start + n, stage_id, one, paid) for n, one in enumerate(part)]
            )


def _parts(done: Sequence[DoneWork]) -> Iterator[tuple[int, list[DoneWork]]]:
    iterator: Iterable[DoneWork] = iter(done)
    start = 0
    while part := list(islice(iterator, _BATCH)):
        yield start, part
        start += len(part)


def _participations(stage_id: int, done: Sequence[DoneWork], amount: int) -> Iterator[Mapping[str, Any]]:
    by_worker: dict[int, list[DoneWork]] = {}
    for one in done:
        by_worker.setdefault(one.worker_id, []).append(one)
    for worker_id, given in by_worker.items():
        yield {
            "stage_id": stage_id,
            "worker_id": worker_id,
            "standing": Standing.ACTIVE,
            "entered_at": min(one.submitted_at - one.duration_ms for one in given),
            "seed": 0,
            "served": len(given),
            "answered": len(given),
            "gold_answered": 0,
            "gold_right": 0,
            "gold_recent": "",
            "earned": amount * len(given),
            "fees": 0,
            "exact_fees": 0,
            "worked_ms": sum(one.duration_ms for one in given),
            "item_cursor": 0,
            "gold_cursor": 0,
            "changes": 0,
            "settled": 0,
        }


def _assignment(number: int, stage_id: int, one: DoneWork) -> dict[str, Any]:
    return {
        "id": number,
        "token": f"imported-{number}",
        "stage_id": stage_id,
        "item_id": one.item_id,
        "worker_id": one.worker_id,
        "group_key": one.group_key,
        "kind": AssignmentKind.PRODUCTION,
        "state": AssignmentState.SUBMITTED,
        "leased_at": one.submitted_at - one.duration_ms,
        "expires_at": one.submitted_at,
        "ended_at": one.submitted_at,
    }


def _response(number: int, assignment_id: int, stage_id: int, task_version: int, one: DoneWork) -> dict[str, Any]:
    return {
        "id": number,
        "assignment_id": assignment_id,
        "stage_id": stage_id,
        "item_id": one.item_id,
        "worker_id": one.worker_id,
        "kind": AssignmentKind.PRODUCTION,
        "answer": one.answer,
        "task_version": task_version,
        "submitted_at": one.submitted_at,
        "duration_ms": one.duration_ms,
        "idempotency_key": f"imported-{number}",
    }


def _entry(response_id: int, stage_id: int, one: DoneWork, paid: PaidEach) -> dict[str, Any]:
    return {
        "cause": f"response:{response_id}:base",
        "at": one.submitted_at,
        "worker_id": one.worker_id,
        "stage_id": stage_id,
        "kind": EntryKind.BASE,
        "amount": paid.amount,
        "reason": paid.reason,
    }
