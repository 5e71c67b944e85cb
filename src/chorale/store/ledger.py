"""The ledger: what was paid, to whom and for what. It can only grow."""

from sqlalchemy import Connection

from chorale.model import EntryKind
from chorale.store.prepared import prepared_insert
from chorale.store.schema import entry

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
            "kind": kind,
            "amount": amount,
            "reason": reason,
        },
    )
