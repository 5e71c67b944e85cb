"""The tables behind who somebody is: the epochs of the database, and workers' sessions."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from chorale.store.schema import metadata

# SQLite numbers rows itself only where the key's type is exactly INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")

# What happened since the database was made, or last restored. Restoring takes the newest rows away and gives their
# numbers to others: a number says who somebody is only within an epoch. Rows are only added.
epoch = Table(
    "epoch",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    # Random: of two restores of the same backup, each begins an epoch of its own.
    Column("mark", Text, nullable=False, unique=True),
    Column("began_at", BigInteger, nullable=False),
    # created or restored.
    Column("reason", Text, nullable=False),
    # The newest rows of earlier epochs.
    Column("last_worker", BigInteger, nullable=False),
    Column("last_response", BigInteger, nullable=False),
    Column("last_entry", BigInteger, nullable=False),
    Column("last_event", BigInteger, nullable=False),
    Column("evidence", Text, nullable=False),
)

worker_session = Table(
    "worker_session",
    metadata,
    # Of what the cookie carries, which is not kept: who reads the database can't take a session over.
    Column("digest", Text, primary_key=True),
    Column("worker_id", _Id, ForeignKey("worker.id"), nullable=False),
    Column("pseudonym", Text, nullable=False),
    Column("epoch", Integer, ForeignKey("epoch.number"), nullable=False),
    Column("began_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    # Why it ended: signed out, revoked, restored or key replaced.
    Column("ended_by", Text),
    Index("ix_worker_session_worker", "worker_id"),
)
