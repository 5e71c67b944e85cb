"""The stages, gates and other parts of a study that have started, and so fix some settings."""

from typing import Any

from sqlalchemy import Connection, Select, func, select

from chorale.store.schema import entry, participation, stage, verdict, worker


def stages_begun(tx: Connection) -> set[str]:
    """The stages that workers have started."""
    query = select(stage.c.name).distinct().join(participation, participation.c.stage_id == stage.c.id)
    return set(tx.execute(query).scalars())


def gates_decided(tx: Connection) -> set[str]:
    """The gates that have made decisions."""
    return set(tx.execute(select(verdict.c.gate).distinct()).scalars())


def anybody_in_arm(tx: Connection) -> bool:
    return _any(tx, select(worker.c.id).where(worker.c.arm.is_not(None)))


def anything_in_ledger(tx: Connection) -> bool:
    return _any(tx, select(entry.c.id))


def first_entry_at(tx: Connection) -> int | None:
    """When the first entry of the ledger was made."""
    return tx.execute(select(func.min(entry.c.at))).scalar()


def _any(tx: Connection, query: Select[Any]) -> bool:
    return tx.execute(query.limit(1)).first() is not None
