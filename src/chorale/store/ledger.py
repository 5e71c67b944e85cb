"""The ledger of earnings. It is append-only."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, case, func, literal_column, not_, or_, select

from chorale.model import Entry, EntryKind
from chorale.store.database import STREAMED
from chorale.store.prepared import PreparedInsert, Scope
from chorale.store.schema import entry, stage, worker

NOT_FOR_WORKERS = (EntryKind.FEE.value, EntryKind.MODEL.value)
"""Kinds of entries that are not paid to the worker, such as fees."""
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
    """A bonus, or the sum of all bonuses of one kind for answers in a stage."""

    cause: str
    """The cause of a single bonus; otherwise `parts`, `gold` or `correction`."""
    stage_id: int
    at: int
    """The time of the (last) bonus."""
    amount: int
    times: int
    reason: str


# Bonuses for answers are many and small. Listed one by one, they would reveal which items are gold.
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
        # A sum that grows with an answer would reveal gold as well.
        or_(not_(_OF_GOLD), entry.c.at < bindparam("today")),
    )
    .group_by("shown_cause", entry.c.stage_id)
    .order_by(func.max(entry.c.id).desc())
    .limit(bindparam("most"))
)


def bonuses_of(tx: Connection, worker_id: int, today: int, most: int) -> tuple[list[BonusLine], int]:
    """A worker's latest bonuses, newest first, and their total number.

    Gold bonuses are included after their day is over; `today` is the start of the current day.
    """
    rows = tx.execute(_BONUSES, {"worker_id": worker_id, "today": today, "most": most}).fetchall()
    lines = [
        BonusLine(cause, stage_id, at, int(amount), times, reason)
        for cause, stage_id, at, amount, times, reason, _ in rows
    ]
    return lines, rows[0][-1] if rows else 0


def gold_bonuses_since(tx: Connection, worker_id: int, today: int) -> dict[int, int]:
    """A worker's gold bonuses since the start of the day, by stage."""
    query = (
        select(entry.c.stage_id, func.sum(entry.c.amount))
        .where(entry.c.worker_id == worker_id, entry.c.kind == literal_column("'bonus'"), _OF_GOLD, entry.c.at >= today)
        .group_by(entry.c.stage_id)
    )
    return {int(stage_id): int(amount) for stage_id, amount in tx.execute(query)}


def amounts(tx: Connection) -> Iterator[Row[int, int, str]]:
    """Time, amount and kind of every entry, streamed."""
    yield from tx.execute(select(entry.c.at, entry.c.amount, entry.c.cause), execution_options=STREAMED)


def paid_to_people(tx: Connection) -> Iterator[Row[str, str, str, int]]:
    """Stage, worker, kind and amount of every entry except fees, streamed."""
    query = (
        select(stage.c.name, worker.c.pseudonym, entry.c.cause, entry.c.amount)
        .select_from(entry)
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .where(entry.c.kind.not_in(NOT_FOR_WORKERS))
    )
    yield from tx.execute(query, execution_options=STREAMED)


def ledger_totals(tx: Connection) -> dict[str, int]:
    """The sums of entries, by kind."""
    sums = {
        str(kind): int(total)
        for kind, total in tx.execute(select(entry.c.kind, func.sum(entry.c.amount)).group_by(entry.c.kind))
    }
    return {kind: sums.get(kind, 0) for kind in EntryKind}


def paid_by_participation(tx: Connection) -> dict[tuple[str, str], tuple[int, int]]:
    """Earnings and fees in the ledger by stage and worker; for a model, the cost of its calls."""
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
    """The earnings of some responses: for the judgment, for parts, and as gold."""
    earned = dict.fromkeys(response_ids, 0)
    if not earned:
        return earned
    query = select(entry.c.cause, entry.c.amount).where(entry.c.cause.like("response:%"), entry.c.kind != EntryKind.FEE)
    for cause, amount in tx.execute(query, execution_options=STREAMED):
        _, number, kind = cause.split(":", 2)
        if int(number) in earned and kind in ("base", "parts", "gold"):
            earned[int(number)] += amount
    return earned
