"""Locks that keep servers on one PostgreSQL apart. On SQLite, writing at all is the lock: there is one writer."""

from enum import IntEnum

from sqlalchemy import Connection, text

from chorale.store.schema import event, gate, response


class Alone(IntEnum):
    """What one transaction at a time may do. Any numbers will do, as long as all Chorale processes take the same."""

    WRITES = 7_205_011_961
    """Everything but reading takes this first."""
    BRINGS_STUDY_IN = 7_205_011_963
    DRAWS_ARMS = 7_205_011_964
    """The order people come in decides."""
    PLANS_PAYMENTS = 7_205_011_966
    ADMITS_TO_TRAINING = 7_205_011_967
    SIGNS_IN = 7_205_011_990
    RUNS_MODELS = 7_205_011_991
    """Held by a process, not by a transaction: see `holding`."""


def lock(tx: Connection, purpose: Alone) -> None:
    """Wait for anyone who does this, and keep others from it until the transaction ends."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": int(purpose)})


def lock_closing(tx: Connection) -> None:
    """Wait for anyone who closes a gate, and keep others from it: several can end the same stage."""
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {gate.name} IN SHARE ROW EXCLUSIVE MODE"))


def await_others(tx: Connection) -> None:
    """Wait until whatever has a number is there to be read: with several servers, numbers are assigned before that.

    Nobody writes a response or an event until this transaction ends.
    """
    if tx.dialect.name == "postgresql":
        tx.execute(text(f"LOCK TABLE {response.name}, {event.name} IN SHARE MODE"))
