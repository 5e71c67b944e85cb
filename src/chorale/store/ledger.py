"""The ledger: what was paid, to whom and for what. It can only grow."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, case, func, literal_column, not_, or_, select

from chorale.model import Entry, EntryKind
from chorale.store.database import STREAMED
from chorale.store.prepared import PreparedInsert, Scope
from chorale.store.schema import entry, stage, worker

NOT_FOR_WORKERS = (EntryKind.FEE.value, EntryKind.MODEL.value)
"""Kinds of entries that are paid to others than the worker they are about."""
_INSERT_ENTRY = PreparedInsert(
    entry, "cause", "at", "worker_id", "stage_id", "kind", "amount", "reason", scope=Scope(worker="worker_id")
)


def add_entry(
    tx: Connection, cause: str, now: int, worker_id: int, stage_id: int, kind: EntryKind, amount: int, reason: str
) -> None:
    _INSERT_ENTRY(
        tx, cause=cause, at=now, worker_id=worker_id, stage_id=stage_id, kind=kind.value, amount=amount, reason=reason
    )


def ledger_lines(tx: Connection, *, limit: int | None = None, pseudonym: str | None = None) -> Iterator[Entry]:
    """The ledger, newest first, streamed."""
    query: Select[Any] = (
        select(entry.c.id, entry.c.at, worker.c.pseudonym, stage.c.name, *entry.c["kind", "amount", "reason", "cause"])
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .order_by(entry.c.id.desc())
    )
    if limit is not None:
        query = query.limit(limit)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    for row in tx.execute(query, execution_options=STREAMED):
        yield Entry(*row)


class BonusLine(NamedTuple):
    """A bonus, or all of one kind that answers in a stage earned."""

    cause: str
    """The cause of a bonus that stands alone; else `parts`, `gold` or `correction`."""
    stage_id: int
    at: int
    """When it was paid, or the last of them."""
    amount: int
    times: int
    reason: str


# What answers earn on top is many small bonuses. Listed one by one, those for gold would show which items are gold.
_CAUSE = case(
    (entry.c.cause.like("response:%:parts"), "parts"),
    (entry.c.cause.like("response:%:gold"), "gold"),
    (entry.c.cause.like("correction:%"), "correction"),
    else_=entry.c.cause,
).label("shown_cause")
_OF_GOLD = _CAUSE.element.in_(("gold", "correction"))
_BONUSES = (
    select(
        _CAUSE,
        entry.c.stage_id,
        func.max(entry.c.at),
        func.sum(entry.c.amount),
        func.count(),
        func.max(entry.c.reason),
        func.count().over(),
    )
    .where(
        entry.c.worker_id == bindparam("worker_id"),
        entry.c.kind == literal_column("'bonus'"),
        # A sum that grows from one answer to the next would show as much.
        or_(not_(_OF_GOLD), entry.c.at < bindparam("today")),
    )
    .group_by("shown_cause", entry.c.stage_id)
    .order_by(func.max(entry.c.id).desc())
    .limit(bindparam("most"))
)


def bonuses_of(tx: Connection, worker_id: int, today: int, most: int) -> tuple[list[BonusLine], int]:
    """A worker's latest bonuses, the newest first, and how many there are in all.

    Those for gold are among them once their day is over; `today` is when this one began.
    """
    rows = tx.execute(_BONUSES, {"worker_id": worker_id, "today": today, "most": most}).fetchall()
    lines = [
        BonusLine(cause, stage_id, at, int(amount), times, reason)
        for cause, stage_id, at, amount, times, reason, _ in rows
    ]
    return lines, rows[0][-1] if rows else 0


def gold_bonuses_since(tx: Connection, worker_id: int, today: int) -> dict[int, int]:
    """What answers to gold have earned a worker on top since this day began, by stage."""
    query = (
        select(entry.c.stage_id, func.sum(entry.c.amount))
        .where(entry.c.worker_id == worker_id, entry.c.kind == literal_column("'bonus'"), _OF_GOLD, entry.c.at >= today)
        .group_by(entry.c.stage_id)
    )
    return {int(stage_id): int(amount) for stage_id, amount in tx.execute(query)}


def amounts(tx: Connection) -> Iterator[Row[int, int, str]]:
    """Of every entry when it was made, how much it is, and what for, streamed."""
    yield from tx.execute(select(entry.c.at, entry.c.amount, entry.c.cause), execution_options=STREAMED)


def paid_to_people(tx: Connection) -> Iterator[Row[str, str, str, int]]:
    """Of every entry but fees the stage, the worker, what it is for and how much, streamed."""
    query = (
        select(stage.c.name, worker.c.pseudonym, entry.c.cause, entry.c.amount)
        .select_from(entry)
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .where(entry.c.kind.not_in(NOT_FOR_WORKERS))
    )
    yield from tx.execute(query, execution_options=STREAMED)


def ledger_totals(tx: Connection) -> dict[str, int]:
    """The sum of every kind of entry."""
    sums = {
        str(kind): int(total)
        for kind, total in tx.execute(select(entry.c.kind, func.sum(entry.c.amount)).group_by(entry.c.kind))
    }
    return {kind: sums.get(kind, 0) for kind in EntryKind}


def paid_by_participation(tx: Connection) -> dict[tuple[str, str], tuple[int, int]]:
    """(stage, worker) → what the ledger says was paid, and its fees; of a model, what its calls cost."""
    query = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            func.sum(case((entry.c.kind.in_(NOT_FOR_WORKERS), 0), else_=entry.c.amount)),
            func.sum(case((entry.c.kind.in_(NOT_FOR_WORKERS), entry.c.amount), else_=0)),
        )
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .group_by(stage.c.name, worker.c.pseudonym)
    )
    return {(name, pseudonym): (int(paid), int(fees)) for name, pseudonym, paid, fees in tx.execute(query)}


def for_responses(tx: Connection, response_ids: Collection[int]) -> dict[int, int]:
    """What some responses have earned: with the judgment, for their parts, and as gold."""
    earned = dict.fromkeys(response_ids, 0)
    if not earned:
        return earned
    query = select(entry.c.cause, entry.c.amount).where(entry.c.cause.like("response:%"), entry.c.kind != EntryKind.FEE)
    for cause, amount in tx.execute(query, execution_options=STREAMED):
        _, number, kind = cause.split(":", 2)
        if int(number) in earned and kind in ("base", "parts", "gold"):
            earned[int(number)] += amount
    return earned
