"""Workers' sessions: started, ended, and checked with every action."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, exists, insert, select, update

from chorale.store.identity_schema import worker_session
from chorale.store.prepared import Prepared
from chorale.store.schema import worker


class SessionClaim(NamedTuple):
    """The claim of a signed cookie, to be checked against the database."""

    worker_id: int
    pseudonym: str
    epoch: str
    """The mark of its epoch."""
    digest: str


class SessionRow(NamedTuple):
    """A session, with the worker who has its number now."""

    worker_id: int
    pseudonym: str
    ended_at: int | None
    ended_by: str | None
    worker_pseudonym: str


def begin(tx: Connection, digest: str, worker_id: int, pseudonym: str, epoch: int, now: int) -> None:
    values = {"digest": digest, "worker_id": worker_id, "pseudonym": pseudonym, "epoch": epoch, "began_at": now}
    tx.execute(insert(worker_session).values(**values))


def holds(worker_id: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition: the session with the bound `digest` and `pseudonym` is open and belongs to this worker.

    It is part of the statements for every item and answer, to avoid a separate query.
    """
    return exists().where(
        worker_session.c.digest == bindparam("digest"),
        worker_session.c.worker_id == worker_id,
        worker_session.c.pseudonym == bindparam("pseudonym"),
        worker_session.c.ended_at.is_(None),
    )


_FIND = Prepared(
    select(
        worker_session.c.worker_id,
        worker_session.c.pseudonym,
        worker_session.c.ended_at,
        worker_session.c.ended_by,
        worker.c.pseudonym.label("worker_pseudonym"),
    )
    .join(worker, worker.c.id == worker_session.c.worker_id)
    .where(worker_session.c.digest == bindparam("digest"))
)


def find(tx: Connection, digest: str) -> SessionRow | None:
    row = _FIND.first(tx, digest=digest)
    return None if row is None else SessionRow._make(row)


def end(tx: Connection, digest: str, why: str, now: int) -> bool:
    """End one session; False if it has already ended."""
    return _end(tx, worker_session.c.digest == digest, why, now) > 0


def end_all_of(tx: Connection, worker_id: int, why: str, now: int) -> int:
    """End all sessions of a worker; returns how many."""
    return _end(tx, worker_session.c.worker_id == worker_id, why, now)


def end_all(tx: Connection, why: str, now: int) -> int:
    """End all sessions; returns how many."""
    return _end(tx, worker_session.c.digest.is_not(None), why, now)


def _end(tx: Connection, which: ColumnElement[bool], why: str, now: int) -> int:
    ending = update(worker_session).where(which, worker_session.c.ended_at.is_(None))
    return tx.execute(ending.values(ended_at=now, ended_by=why)).rowcount
