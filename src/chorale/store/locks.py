"""Locks between servers on one PostgreSQL. On SQLite, the single writer needs no locks."""

from enum import IntEnum

from sqlalchemy import Connection, text

from chorale.store.schema import event, gate, response


class Alone(IntEnum):
    """Actions that only one transaction may do at a time.

    The numbers are arbitrary, but must be the same in all processes.
    """

    WRITES = 7_205_011_961
    """Taken first by everything except reading."""
    BRINGS_STUDY_IN = 7_205_011_963
    DRAWS_ARMS = 7_205_011_964
    """For decisions that depend on the order of arrival."""
    PLANS_PAYMENTS = 7_205_011_966
    ADMITS_TO_TRAINING = 7_205_011_967
    SIGNS_IN = 7_205_011_990
    RUNS_MODELS = 7_205_011_991
    """Held by a process, not by a transaction: see `holding`."""


def lock(tx: Connection, purpose: Alone) -> None:
    """Take a lock until the transaction ends, waiting for other holders."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": int(purpose)})


def lock_closing(tx: Connection) -> None:
    """Take the lock for closing gates, since several gates can end the same stage."""
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {gate.name} IN SHARE ROW EXCLUSIVE MODE"))


def await_others(tx: Connection) -> None:
    """Wait until all numbered rows are visible: with several servers, rows get their numbers before they are visible.

    No response or event is written until this transaction ends.
    """
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {response.name}, {event.name} IN SHARE MODE"))
