"""Epochs: the periods since the database was created or restored from a backup."""

import secrets
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, func, insert, select

from chorale.store.codec import as_text, from_text
from chorale.store.identity_schema import epoch
from chorale.store.schema import entry, event, response, worker

CREATED = "created"
RESTORED = "restored"


class Epoch(NamedTuple):
    number: int
    mark: str
    """A random mark, stored in every cookie."""
    began_at: int
    reason: str
    last_worker: int
    """Number of the newest worker when the epoch began; the next fields are for responses, the ledger and events."""
    last_response: int
    last_entry: int
    last_event: int
    evidence: dict[str, Any]
    """For a restored database: the time and hash of the backup."""

    @property
    def backup_at(self) -> int | None:
        """The time of the backup that was restored."""
        made_at = self.evidence.get("backup made at")
        return None if made_at is None else int(made_at)


def begin(tx: Connection, now: int, reason: str, evidence: dict[str, Any]) -> Epoch:
    """Start the next epoch."""
    before = latest(tx)
    values: dict[str, Any] = {
        "number": 1 if before is None else before.number + 1,
        "mark": secrets.token_urlsafe(9),
        "began_at": now,
        "reason": reason,
        "last_worker": _newest(tx, worker.c.id),
        "last_response": _newest(tx, response.c.id),
        "last_entry": _newest(tx, entry.c.id),
        "last_event": _newest(tx, event.c.id),
    }
    tx.execute(insert(epoch).values(**values, evidence=as_text(evidence)))
    return Epoch(**values, evidence=evidence)


def begin_first(tx: Connection, now: int) -> None:
    """Start the first epoch of a new database, or of one from before epochs."""
    if latest(tx) is None:
        begin(tx, now, CREATED, {})


def latest(tx: Connection) -> Epoch | None:
    row = tx.execute(select(epoch).order_by(epoch.c.number.desc()).limit(1)).first()
    return None if row is None else _as_epoch(row)


def current(tx: Connection) -> Epoch:
    """The current epoch of an open study; opening starts the first one."""
    now = latest(tx)
    if now is None:
        raise RuntimeError("the database of an open study has no epoch")
    return now


def all_epochs(tx: Connection) -> list[Epoch]:
    """All epochs, in order."""
    return [_as_epoch(row) for row in tx.execute(select(epoch).order_by(epoch.c.number))]


def _as_epoch(row: Any) -> Epoch:
    return Epoch._make((*row[:-1], from_text(row[-1])))


def _newest(tx: Connection, number: Column[Any]) -> int:
    return int(tx.execute(select(func.max(number))).scalar() or 0)
