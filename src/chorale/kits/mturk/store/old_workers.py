"""Mechanical Turk worker IDs of people in the study."""

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from chorale.kits.mturk.store.schema import old_worker


def name(tx: Connection, old_id: str, worker_id: int) -> bool:
    """Maps an old ID to a worker. False if it was already mapped to this worker."""
    if worker_of(tx, old_id) == worker_id:
        return False
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    values = {"worker_id": worker_id}
    tx.execute(
        upsert(old_worker)
        .values(old_id=old_id, **values)
        .on_conflict_do_update(index_elements=[old_worker.c.old_id], set_=values)
    )
    return True


def worker_of(tx: Connection, old_id: str) -> int | None:
    return tx.execute(select(old_worker.c.worker_id).where(old_worker.c.old_id == old_id)).scalar()


def forget(tx: Connection, worker_id: int) -> int:
    """Erases the old IDs of a worker and returns their number."""
    return int(tx.execute(delete(old_worker).where(old_worker.c.worker_id == worker_id)).rowcount)
