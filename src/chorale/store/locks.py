"""Locks that keep servers on one PostgreSQL apart. On SQLite, writing at all is the lock: there is one writer."""

from sqlalchemy import Connection, text

from chorale.store.schema import event, gate, response

# Any numbers will do, as long as they differ and every Chorale process takes the same ones.
_MIGRATION, _SETUP, _ARMS, _BUDGET, _PAYMENTS = range(7_205_011_962, 7_205_011_967)


def lock_migration(tx: Connection) -> None:
    """Let one process at a time change the schema."""
    _lock(tx, _MIGRATION)


def lock_setup(tx: Connection) -> None:
    """Let one process at a time bring a study in."""
    _lock(tx, _SETUP)


def lock_arms(tx: Connection) -> None:
    """Let one worker at a time be put in an arm: the order they come in decides."""
    _lock(tx, _ARMS)


def lock_budget(tx: Connection) -> None:
    """Let one transaction at a time promise money out of a budget."""
    _lock(tx, _BUDGET)


def lock_payments(tx: Connection) -> None:
    """Let one transaction at a time decide whom to pay."""
    _lock(tx, _PAYMENTS)


def lock_closing(tx: Connection) -> None:
    """Wait for whoever closes a gate, and keep others from it: several can end the same stage."""
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {gate.name} IN SHARE ROW EXCLUSIVE MODE"))


def await_others(tx: Connection) -> None:
    """Wait until whatever has a number is there to be read: with several servers, numbers are given out before that.

    Nobody writes a response or an event until this transaction ends.
    """
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {response.name}, {event.name} IN SHARE MODE"))


def _lock(tx: Connection, number: int) -> None:
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": number})
