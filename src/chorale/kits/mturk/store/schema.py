"""Tables of the Mechanical Turk API. Payments and messages are in the study's own tables."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from chorale.store.schema import metadata as of_study
from chorale.store.schema import worker

metadata = MetaData(naming_convention=of_study.naming_convention)

# SQLite assigns row numbers only if the key type is exactly INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")

key = Table(
    "mturk_key",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("access_key", Text, nullable=False, unique=True),
    # Stored in plain text, because checking a signature requires the secret.
    Column("secret", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
)

# Signatures of requests that changed data, until they expire.
signature = Table(
    "mturk_signature",
    metadata,
    Column("signature", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Index("ix_mturk_signature_at", "at"),
)

# A UniqueRequestToken and the result of its request.
request = Table(
    "mturk_request",
    metadata,
    Column("operation", Text, nullable=False),
    Column("token", Text, nullable=False),
    Column("made", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("operation", "token"),
)

hit_type = Table(
    "mturk_hit_type",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("reward", BigInteger, nullable=False),
    Column("assignment_seconds", BigInteger, nullable=False),
    Column("approval_seconds", BigInteger, nullable=False),
    Column("requirements", Text, nullable=False),
    # Destination and events of notifications about its HITs; default: none.
    Column("notification", Text),
    Column("notifying", Boolean, nullable=False),
)

hit = Table(
    "mturk_hit",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("type_id", _Id, ForeignKey("mturk_hit_type.id"), nullable=False),
    Column("question", Text, nullable=False),
    Column("annotation", Text, nullable=False),
    Column("layout", Text),
    Column("most", Integer, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("reviewing", Boolean, nullable=False),
    Column("disposed_at", BigInteger),
    # Sent notifications: expired, reviewable.
    Column("told", Text, nullable=False),
    # Review policies from the request, and the time of their review after the HIT ended.
    Column("policies", Text),
    Column("reviewed_at", BigInteger),
    # Final guarantee that no HIT gets more assignments than requested.
    CheckConstraint("taken >= 0 AND taken <= most", name="not_over_assigned"),
    Index("ix_mturk_hit_type", "type_id", "id"),
    Index(
        "ix_mturk_hit_review",
        "id",
        sqlite_where=text("policies IS NOT NULL AND reviewed_at IS NULL"),
        postgresql_where=text("policies IS NOT NULL AND reviewed_at IS NULL"),
    ),
    Index(
        "ix_mturk_hit_offered",
        "type_id",
        "expires_at",
        sqlite_where=text("disposed_at IS NULL AND taken < most"),
        postgresql_where=text("disposed_at IS NULL AND taken < most"),
    ),
)

assignment = Table(
    "mturk_assignment",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("hit_id", _Id, ForeignKey("mturk_hit.id"), nullable=False),
    Column("worker_id", _Id, ForeignKey(worker.c.id), nullable=False),
    # accepted, returned, abandoned, submitted, approved or rejected.
    Column("state", Text, nullable=False),
    Column("accepted_at", BigInteger, nullable=False),
    Column("deadline", BigInteger, nullable=False),
    Column("submitted_at", BigInteger),
    Column("approve_at", BigInteger),
    Column("approved_at", BigInteger),
    Column("rejected_at", BigInteger),
    Column("answer", Text),
    Column("feedback", Text),
    # Paid at the reward at the time of acceptance, even if the HIT type changes.
    Column("reward", BigInteger, nullable=False),
    # From acceptance (or the worker's last submission, if later) to submission, because people accept several at once
    # and do them one by one.
    Column("worked_ms", BigInteger),
    Index("ix_mturk_assignment_hit", "hit_id", "id"),
    Index("ix_mturk_assignment_submitted", "worker_id", "submitted_at"),
    Index("ix_mturk_assignment_worker", "worker_id", "hit_id"),
    # A worker can have a HIT only once.
    Index(
        "uq_mturk_assignment_held",
        "hit_id",
        "worker_id",
        unique=True,
        sqlite_where=text("state NOT IN ('returned', 'abandoned')"),
        postgresql_where=text("state NOT IN ('returned', 'abandoned')"),
    ),
    Index(
        "ix_mturk_assignment_deadline",
        "deadline",
        sqlite_where=text("state = 'accepted'"),
        postgresql_where=text("state = 'accepted'"),
    ),
    Index(
        "ix_mturk_assignment_approve",
        "approve_at",
        sqlite_where=text("state = 'submitted'"),
        postgresql_where=text("state = 'submitted'"),
    ),
)

bonus = Table(
    "mturk_bonus",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("assignment_id", _Id, ForeignKey("mturk_assignment.id"), nullable=False),
    Column("worker_id", _Id, ForeignKey(worker.c.id), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("ix_mturk_bonus_assignment", "assignment_id"),
)

# Actions of review policies: approved, rejected, extended.
review_action = Table(
    "mturk_review_action",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("hit_id", _Id, ForeignKey("mturk_hit.id"), nullable=False),
    Column("level", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("failure", Text),
    Column("at", BigInteger, nullable=False),
    Index("ix_mturk_review_action_hit", "hit_id"),
)

qualification_type = Table(
    "mturk_qualification_type",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("test", Text),
    Column("answer_key", Text),
    Column("test_seconds", BigInteger),
    Column("retry_seconds", BigInteger),
    Column("auto_value", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("deleted_at", BigInteger),
)

qualification = Table(
    "mturk_qualification",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("type_id", _Id, ForeignKey("mturk_qualification_type.id"), nullable=False),
    Column("worker_id", _Id, ForeignKey(worker.c.id), nullable=False),
    Column("value", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("granted_at", BigInteger, nullable=False),
    Index("uq_mturk_qualification_of", "type_id", "worker_id", unique=True),
)

qualification_request = Table(
    "mturk_qualification_request",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("type_id", _Id, ForeignKey("mturk_qualification_type.id"), nullable=False),
    Column("worker_id", _Id, ForeignKey(worker.c.id), nullable=False),
    # testing, open, granted or rejected.
    Column("state", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("answer", Text),
    Column("reason", Text),
    Index("ix_mturk_qualification_request_of", "type_id", "worker_id"),
)

block = Table(
    "mturk_block",
    metadata,
    Column("worker_id", _Id, ForeignKey(worker.c.id), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Mechanical Turk IDs of workers, from the requester's list. The most identifying data here, so they are never exported
# and are erased with the worker.
old_worker = Table(
    "mturk_old_worker",
    metadata,
    Column("old_id", Text, primary_key=True),
    Column("worker_id", _Id, ForeignKey(worker.c.id), nullable=False),
    Index("ix_mturk_old_worker", "worker_id"),
)

notification = Table(
    "mturk_notification",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("transport", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    # Time of the next attempt; None once the notification was sent or no more attempts are made.
    Column("due_at", BigInteger),
    Column("sent_at", BigInteger),
    Index(
        "ix_mturk_notification_due",
        "due_at",
        sqlite_where=text("due_at IS NOT NULL"),
        postgresql_where=text("due_at IS NOT NULL"),
    ),
)
