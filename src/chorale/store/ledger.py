"""The ledger: what was paid, to whom and for what. It can only grow."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from chorale.model import EntryKind
from chorale.store.database import STREAMED
from chorale.store.prepared import prepared_insert
from chorale.store.schema import entry, stage, worker

_INSERT_ENTRY = prepared_insert(entry, "cause", "at", "worker_id", "stage_id", "kind", "amount", "reason")


def add_entry(
    tx: Connection,
    cause: str,
    now: int,
    worker_id: int,
    stage_id: int,
    kind: EntryKind,
    amount: int,
    reason: str,
) -> None:
    _INSERT_ENTRY(
        tx,
        {
            "cause": cause,
            "at": now,
            "worker_id": worker_id,
            "stage_id": stage_id,
            "kind": kind.value,
            "amount": amount,
            "reason": reason,
        },
    )


@dataclass(frozen=True, slots=True)
class LedgerLine:
    id: int
    at: int
    worker: str
    stage: str
    kind: str
    amount: int
    reason: str
    cause: str


def ledger_lines(tx: Connection, *, limit: int | None = None, pseudonym: str | None = None) -> Iterator[LedgerLine]:
    """The ledger, newest first, streamed."""
    query: Select[Any] = (
        select(
            entry.c.id,
            entry.c.at,
            worker.c.pseudonym,
            stage.c.name,
            entry.c.kind,
            entry.c.amount,
            entry.c.reason,
            entry.c.cause,
        )
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .order_by(entry.c.id.desc())
    )
    if limit is not None:
        query = query.limit(limit)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    for row in tx.execute(query, execution_options=STREAMED):
        yield LedgerLine(*row)


def ledger_totals(tx: Connection) -> dict[str, int]:
    """The sum of every kind of entry."""
    sums = {
        str(kind): int(total)
        for kind, total in tx.execute(select(entry.c.kind, func.sum(entry.c.amount)).group_by(entry.c.kind))
    }
    return {kind: sums.get(kind, 0) for kind in EntryKind}


def paid_by_participation(tx: Connection) -> dict[tuple[str, str], tuple[int, int]]:
    """(stage, worker) → what the ledger says was paid, and its fees."""
    query = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            func.sum(case((entry.c.kind == EntryKind.FEE, 0), else_=entry.c.amount)),
            func.sum(case((entry.c.kind == EntryKind.FEE, entry.c.amount), else_=0)),
        )
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .group_by(stage.c.name, worker.c.pseudonym)
    )
    return {(name, pseudonym): (int(paid), int(fees)) for name, pseudonym, paid, fees in tx.execute(query)}
