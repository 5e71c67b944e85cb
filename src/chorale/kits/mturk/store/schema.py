"""The tables behind Mechanical Turk's interface. Pay and messages are in the study's own."""

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

# SQLite numbers rows itself only where the key's type is exactly INTEGER.
_Id = BigInteger().with_variant(Integer, "sqlite")

key = Table(
    "mturk_key",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("access_key", Text, nullable=False, unique=True),
    # Kept as it is: a signature can only be checked by making it again.
    Column("secret", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
)

# A signature that changed something, for as long as it could be used again.
signature = Table(
    "mturk_signature",
    metadata,
    Column("signature", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Index("ix_mturk_signature_at", "at"),
)

# A UniqueRequestToken and what its request made.
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
    # Where to send notifications about its HITs, and about what; default: none.
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
    # What notifications were sent: expired, reviewable.
    Column("told", Text, nullable=False),
    # Review policies as the request had them, and when the HIT was reviewed by them once it was over.
    Column("policies", Text),
    Column("reviewed_at", BigInteger),
    # The last guard of the promise that no HIT is done more often than was asked for.
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
    # Paid by what it was promised when it was accepted, whatever becomes of the HIT's type.
    Column("reward", BigInteger, nullable=False),
    # From accepting it, or from the worker's last submission if that was later, to submitting it: people accept
    # several at once and do one after the other.
    Column("worked_ms", BigInteger),
    Index("ix_mturk_assignment_hit", "hit_id", "id"),
    Index("ix_mturk_assignment_submitted", "worker_id", "submitted_at"),
    Index("ix_mturk_assignment_worker", "worker_id", "hit_id"),
    # Nobody does a HIT twice, or holds it twice.
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

# What review policies have done: approved, rejected, extended.
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

# Who somebody was on Mechanical Turk, by the requester's own list. It says more of a person than anything else here, so
# it is in no export, and erased with them.
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
    # When it is tried next; None once it was sent or given up.
    Column("due_at", BigInteger),
    Column("sent_at", BigInteger),
    Index(
        "ix_mturk_notification_due",
        "due_at",
        sqlite_where=text("due_at IS NOT NULL"),
        postgresql_where=text("due_at IS NOT NULL"),
    ),
)
