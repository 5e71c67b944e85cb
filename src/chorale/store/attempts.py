"""Recent attempts to sign in."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from chorale.store.locks import Alone, lock
from chorale.store.schema import sign_in_attempt


class Attempts(NamedTuple):
    """The number of attempts, and the time of the first."""

    tries: int
    first_at: int


def attempts_since(tx: Connection, key: str, since: int) -> Attempts:
    """Attempts since a time; older ones are deleted. No other process counts until the transaction ends."""
    lock(tx, Alone.SIGNS_IN)
    tx.execute(delete(sign_in_attempt).where(sign_in_attempt.c.at <= since))
    counted = select(func.count(), func.coalesce(func.min(sign_in_attempt.c.at), since))
    return Attempts(*tx.execute(counted.where(sign_in_attempt.c.key == key)).one())


def note_attempt(tx: Connection, keys: Sequence[str], at: int) -> None:
    tx.execute(insert(sign_in_attempt), [{"key": key, "at": at} for key in keys])


def forget_attempts(tx: Connection, key: str) -> None:
    tx.execute(delete(sign_in_attempt).where(sign_in_attempt.c.key == key))


def forget_latest_attempt(tx: Connection, key: str) -> None:
    latest = select(func.max(sign_in_attempt.c.id)).where(sign_in_attempt.c.key == key).scalar_subquery()
    tx.execute(delete(sign_in_attempt).where(sign_in_attempt.c.id == latest))
