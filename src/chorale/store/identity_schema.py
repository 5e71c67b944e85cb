"""Tables of identities: epochs of the database, workers' sessions, and annotators with a password."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from chorale.store.schema import metadata

# SQLite assigns row numbers only if the key's type is exactly INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")

# Periods since the database was created or restored. A restore removes the newest rows and reuses their numbers, so a
# number identifies a person only within an epoch. Rows are only added.
epoch = Table(
    "epoch",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    # Random, so that two restores of the same backup start different epochs.
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
    # A digest of the cookie's secret, so that the database can't be used to hijack a session.
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
    # The case-folded name: used to sign in, and as their id on the platform "team".
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
    # A digest of the link's secret.
    Column("digest", Text, primary_key=True),
    Column("member_id", _Id, ForeignKey("team_member.id"), nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    # Why it ended: used, replaced, deactivated or restored.
    Column("ended_by", Text),
    Index("ix_team_link_member", "member_id"),
)

# Assignees of items. Rows are added and ended, never changed, so that `verify` knows the assignees at any time.
item_assignee = Table(
    "item_assignee",
    metadata,
    Column("item_id", _Id, ForeignKey("item.id"), primary_key=True),
    Column("login", Text, primary_key=True),
    Column("added_at", BigInteger, primary_key=True),
    Column("removed_at", BigInteger),
    Index("ix_item_assignee_login", "login"),
)
