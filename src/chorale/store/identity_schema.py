"""The tables behind who somebody is: the epochs of the database, workers' sessions, and annotators with a password."""

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

team_member = Table(
    "team_member",
    metadata,
    Column("id", _Id, primary_key=True),
    # The name without regard to case: what they sign in with, and their id on the platform "team".
    Column("login", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("password_hash", Text),
    Column("session_version", Integer, nullable=False),
    Column("invited_at", BigInteger, nullable=False),
    Column("signed_in_at", BigInteger),
    Column("deactivated_at", BigInteger),
)

team_link = Table(
    "team_link",
    metadata,
    # Of what the link carries, which is not kept.
    Column("digest", Text, primary_key=True),
    Column("member_id", _Id, ForeignKey("team_member.id"), nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    # Why it ended: used, replaced, deactivated or restored.
    Column("ended_by", Text),
    Index("ix_team_link_member", "member_id"),
)

# Who an item is for. Rows are added and ended, never changed: `verify` reads who could have it at any time.
item_assignee = Table(
    "item_assignee",
    metadata,
    Column("item_id", _Id, ForeignKey("item.id"), primary_key=True),
    Column("login", Text, primary_key=True),
    Column("added_at", BigInteger, primary_key=True),
    Column("removed_at", BigInteger),
    Index("ix_item_assignee_login", "login"),
)
