"""The tables of a study.

Times are integer milliseconds since 1970 UTC, amounts are integer minor units, and JSON is text.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnClause,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal_column,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite assigns row numbers only if the key's type is exactly INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")


def _index_where(condition: str, name: str, *columns: str, unique: bool = False) -> Index:
    """A partial index."""
    only = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=only, postgresql_where=only)


setting = Table("setting", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

stage = Table(
    "stage",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("position", Integer, nullable=False),
    Column("task", Text, nullable=False),
    Column("task_version", Integer, nullable=False),
    Column("state", Text, nullable=False),
)

item = Table(
    "item",
    metadata,
    Column("id", Id, primary_key=True),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("group_key", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("wanted", Integer, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("label", Text),
    Column("confidence", Double),
    Column("counted", Integer, nullable=False),
    Column("released", Boolean, nullable=False),
    # The single answer the item was made from, if any: grades of the item are grades of this answer.
    Column("response_id", Id, ForeignKey("response.id", use_alter=True)),
    # Sampled for a different number of judgments.
    Column("sampled", Boolean, nullable=False, server_default=false()),
    # Number of words it shows, counted once if pay depends on it.
    Column("words", Integer),
    # Reviewers' decisions by field, which override the judgments.
    Column("decision", Text),
    UniqueConstraint("stage_id", "key"),
    # The final guarantee that no item gets more judgments than its stage needs.
    CheckConstraint("taken >= 0 AND taken <= wanted", name="not_over_assigned"),
    Index("ix_item_group", "stage_id", "group_key"),
    # For the console: counts by state, and the least confident first.
    Index("ix_item_state", "stage_id", "state", "released"),
    Index("ix_item_confidence", "stage_id", "confidence", "key"),
    _index_where("state = 'open'", "ix_item_open", "stage_id"),
    _index_where("state = 'open' AND taken < wanted", "ix_item_offered", "stage_id", "position"),
)

WANTING: tuple[ColumnClause[str], ...] = tuple(literal_column(f"'{state}'") for state in ("open", "waiting"))
"""The states of items that need judgments, or may need them after a model has answered."""

item_source = Table(
    "item_source",
    metadata,
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    Column("source_id", Id, ForeignKey("item.id"), nullable=False),
    PrimaryKeyConstraint("item_id", "source_id"),
    Index("ix_item_source_source", "source_id"),
)

gold = Table(
    "gold",
    metadata,
    Column("item_id", Id, ForeignKey("item.id"), primary_key=True),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),
    Column("explanation", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    # Number of workers who got it in this turn, and the target: the number who get an item. Then other gold has its
    # turn.
    Column("taken", Integer, nullable=False, server_default="0"),
    Column("wanted", Integer, nullable=False, server_default="1"),
    Column("turns", Integer, nullable=False, server_default="0"),
    Index("ix_gold_stage", "stage_id", "position"),
)

worker = Table(
    "worker",
    metadata,
    Column("id", Id, primary_key=True),
    Column("pseudonym", Text, nullable=False, unique=True),
    Column("arrived_at", BigInteger, nullable=False),
    Column("consented_at", BigInteger),
    # Assigned randomly, once, and shown only to the requester.
    Column("arm", Text),
    # The latest version of the consent form they agreed to; 0 for experts, who need no consent.
    Column("consent_version", Integer),
)

consent_text = Table(
    "consent_text",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("sha256", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)

# Stored separately from everything else about a worker, and never exported.
worker_identity = Table(
    "worker_identity",
    metadata,
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("panel", Text, nullable=False),
    Column("external_id", Text, nullable=False),
    # Other values from the panel at the first arrival: its ids of the study and the visit.
    Column("visit", Text, nullable=False),
    PrimaryKeyConstraint("panel", "external_id"),
    Index("ix_worker_identity_worker", "worker_id"),
)

participation = Table(
    "participation",
    metadata,
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("standing", Text, nullable=False),
    Column("entered_at", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("served", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Column("gold_answered", Integer, nullable=False),
    Column("gold_right", Integer, nullable=False),
    # The latest gold answers, oldest first: 1 for correct, 0 for wrong.
    Column("gold_recent", Text, nullable=False, server_default=""),
    Column("earned", BigInteger, nullable=False),
    Column("fees", BigInteger, nullable=False),
    # Before rounding, in ten-thousandths of a minor unit.
    Column("exact_fees", BigInteger, nullable=False),
    Column("worked_ms", BigInteger, nullable=False),
    Column("item_cursor", BigInteger, nullable=False),
    # The number of changes of the worker's trust or status, and up to which of them their labels have been updated.
    Column("changes", Integer, nullable=False),
    Column("settled", Integer, nullable=False),
    # Number of skipped items.
    Column("skipped", Integer, nullable=False, server_default="0"),
    # The number of answers after which a removed worker is informed: later than the gold that caused it. Negative
    # numbers are codes of removals that have other causes.
    Column("removed_after", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("stage_id", "worker_id"),
    Index("ix_participation_worker", "worker_id"),
    _index_where("changes > settled", "ix_participation_unsettled", "stage_id"),
)

assignment = Table(
    "assignment",
    metadata,
    Column("id", Id, primary_key=True),
    Column("token", Text, nullable=False, unique=True),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("group_key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("leased_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    # The final guarantee that no worker gets an item twice, or two items of a group.
    UniqueConstraint("worker_id", "stage_id", "group_key"),
    Index("ix_assignment_item", "item_id", "worker_id"),
    _index_where("state = 'live'", "uq_assignment_live", "worker_id", "stage_id", unique=True),
    _index_where("state = 'live'", "ix_assignment_expiry", "expires_at"),
)

response = Table(
    "response",
    metadata,
    Column("id", Id, primary_key=True),
    Column("assignment_id", Id, ForeignKey("assignment.id"), nullable=False, unique=True),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("item_id", Id, ForeignKey("item.id"), nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("task_version", Integer, nullable=False),
    Column("submitted_at", BigInteger, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("idempotency_key", Text, nullable=False),
    # The time of erasure; the answer is null since then.
    Column("erased_at", BigInteger),
    Index("ix_response_item", "item_id"),
    Index("ix_response_worker", "worker_id", "stage_id"),
    Index("ix_response_stage", "stage_id", "id"),
)

# First answers of forms in two steps, given before the rest of the item was shown.
first_answer = Table(
    "first_answer",
    metadata,
    Column("assignment_id", Id, ForeignKey("assignment.id"), primary_key=True, autoincrement=False),
    Column("answer", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

grade = Table(
    "grade",
    metadata,
    Column("id", Id, primary_key=True),
    Column("response_id", Id, ForeignKey("response.id"), nullable=False),
    Column("source", Text, nullable=False),
    Column("score", Double, nullable=False),
    Column("reasons", Text, nullable=False),
    # The score of each criterion, if there are several.
    Column("criteria", Text),
    Column("graded_at", BigInteger, nullable=False),
    UniqueConstraint("response_id", "source"),
)

event = Table(
    "event",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id")),
    Column("worker_id", Id, ForeignKey("worker.id")),
    Column("item_id", Id, ForeignKey("item.id")),
    Column("evidence", Text, nullable=False),
    Index("ix_event_kind", "kind", "id"),
    Index("ix_event_worker", "worker_id"),
    Index("ix_event_item", "item_id"),
)

entry = Table(
    "entry",
    metadata,
    Column("id", Id, primary_key=True),
    # The cause, e.g. "response:17:base". Unique, so that nothing is paid twice.
    Column("cause", Text, nullable=False, unique=True),
    Column("at", BigInteger, nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("stage_id", Id, ForeignKey("stage.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Index("ix_entry_worker", "worker_id", "kind"),
    _index_where("kind = 'bonus'", "ix_entry_bonus", "amount"),
)

qualification = Table(
    "qualification",
    metadata,
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("granted_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("worker_id", "name"),
)

# A gate decides about a worker only once.
verdict = Table(
    "verdict",
    metadata,
    Column("gate", Text, nullable=False),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("score", Double, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("evidence", Text, nullable=False),
    PrimaryKeyConstraint("gate", "worker_id"),
    Index("ix_verdict_worker", "worker_id"),
)

# Erasures and their reasons, without the erased data.
erasure = Table(
    "erasure",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    # The worker, the requester, or a date in the study file.
    Column("by", Text, nullable=False),
    # Whether it erased the identity, and the answers.
    Column("identity", Boolean, nullable=False),
    Column("answers", Boolean, nullable=False),
    # Numbers of erased rows, by kind.
    Column("erased", Text, nullable=False),
    # Null only within the erasing transaction: see `append_only`.
    Column("ended_at", BigInteger),
    Index("ix_erasure_worker", "worker_id"),
)

# Hashes of used signed links, until they expire.
used_token = Table(
    "used_token",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("expires_at", BigInteger, nullable=False),
)

gate = Table("gate", metadata, Column("name", Text, primary_key=True), Column("closed_at", BigInteger, nullable=False))

message = Table(
    "message",
    metadata,
    Column("id", Id, primary_key=True),
    Column("worker_id", Id, ForeignKey("worker.id"), nullable=False),
    # The cause, e.g. "gate:trained": nobody gets the same message twice.
    Column("cause", Text, nullable=False),
    Column("written_at", BigInteger, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("sent_at", BigInteger),
    Column("read_at", BigInteger),
    UniqueConstraint("worker_id", "cause"),
)

requester = Table(
    "requester",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password_hash", Text),
    # Part of every session of this person: changing it ends all sessions.
    Column("session_version", Integer, nullable=False),
    # When their link was revoked.
    Column("revoked_at", BigInteger),
)

# Counted in the database, so that all processes of a site share the count.
sign_in_attempt = Table(
    "sign_in_attempt",
    metadata,
    Column("id", Id, primary_key=True),
    # A keyed hash of the address or user name of an attempt.
    Column("key", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("ix_sign_in_attempt_key", "key", "at"),
)
