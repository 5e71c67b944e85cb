"""Encrypted payout addresses, readable only with the study's key."""

from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from chorale.store.prepared import upsert
from chorale.store.recruiting_schema import payout_address


class SealedAddress(NamedTuple):
    method: str
    sealed: str
    left_at: int


def leave(tx: Connection, worker_id: int, method: str, sealed: str, now: int) -> None:
    """Store a worker's payout address, replacing an earlier one."""
    row = {"method": method, "sealed": sealed, "left_at": now}
    made = upsert(tx, payout_address).values(worker_id=worker_id, **row)
    tx.execute(made.on_conflict_do_update(index_elements=[payout_address.c.worker_id], set_=row))


def sealed_of(tx: Connection, worker_id: int) -> SealedAddress | None:
    columns = payout_address.c["method", "sealed", "left_at"]
    row = tx.execute(select(*columns).where(payout_address.c.worker_id == worker_id)).first()
    return None if row is None else SealedAddress(*row)


def all_sealed(tx: Connection) -> dict[int, SealedAddress]:
    """All encrypted addresses, by worker."""
    return {row[0]: SealedAddress(*row[1:]) for row in tx.execute(select(payout_address))}


def erase(tx: Connection, worker_id: int) -> int:
    """Erase a worker's address; returns how many."""
    return int(tx.execute(delete(payout_address).where(payout_address.c.worker_id == worker_id)).rowcount)
