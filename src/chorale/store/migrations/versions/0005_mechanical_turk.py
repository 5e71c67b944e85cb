"""Mechanical Turk's interface

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "mturk_key",
        sa.Column("id", _ID, nullable=False),
        sa.Column("access_key", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_key")),
        sa.UniqueConstraint("access_key", name=op.f("uq_mturk_key_access_key")),
    )
    op.create_table(
        "mturk_signature",
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("signature", name=op.f("pk_mturk_signature")),
    )
    op.create_index("ix_mturk_signature_at", "mturk_signature", ["at"])
    op.create_table(
        "mturk_request",
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("made", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("operation", "token", name=op.f("pk_mturk_request")),
    )
    op.create_table(
        "mturk_hit_type",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("reward", sa.BigInteger(), nullable=False),
        sa.Column("assignment_seconds", sa.BigInteger(), nullable=False),
        sa.Column("approval_seconds", sa.BigInteger(), nullable=False),
        sa.Column("requirements", sa.Text(), nullable=False),
        sa.Column("notification", sa.Text(), nullable=True),
        sa.Column("notifying", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_hit_type")),
        sa.UniqueConstraint("name", name=op.f("uq_mturk_hit_type_name")),
    )
    op.create_table(
        "mturk_hit",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type_id", _ID, nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("annotation", sa.Text(), nullable=False),
        sa.Column("layout", sa.Text(), nullable=True),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("reviewing", sa.Boolean(), nullable=False),
        sa.Column("disposed_at", sa.BigInteger(), nullable=True),
        sa.Column("told", sa.Text(), nullable=False),
        sa.CheckConstraint("taken >= 0 AND taken <= most", name=op.f("ck_mturk_hit_not_over_assigned")),
        sa.ForeignKeyConstraint(["type_id"], ["mturk_hit_type.id"], name=op.f("fk_mturk_hit_type_id_mturk_hit_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_hit")),
        sa.UniqueConstraint("name", name=op.f("uq_mturk_hit_name")),
    )
    op.create_index(
        "ix_mturk_hit_offered",
        "mturk_hit",
        ["type_id", "expires_at"],
        sqlite_where=sa.text("disposed_at IS NULL AND taken < most"),
        postgresql_where=sa.text("disposed_at IS NULL AND taken < most"),
    )
    op.create_index("ix_mturk_hit_type", "mturk_hit", ["type_id", "id"])
    op.create_table(
        "mturk_assignment",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hit_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("submitted_at", sa.BigInteger(), nullable=True),
        sa.Column("approve_at", sa.BigInteger(), nullable=True),
        sa.Column("approved_at", sa.BigInteger(), nullable=True),
        sa.Column("rejected_at", sa.BigInteger(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("feedback", sa.Text(), nullable=True),
        sa.Column("reward", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["hit_id"], ["mturk_hit.id"], name=op.f("fk_mturk_assignment_hit_id_mturk_hit")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_mturk_assignment_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_assignment")),
        sa.UniqueConstraint("name", name=op.f("uq_mturk_assignment_name")),
    )
    op.create_index(
        "ix_mturk_assignment_approve",
        "mturk_assignment",
        ["approve_at"],
        sqlite_where=sa.text("state = 'submitted'"),
        postgresql_where=sa.text("state = 'submitted'"),
    )
    op.create_index(
        "ix_mturk_assignment_deadline",
        "mturk_assignment",
        ["deadline"],
        sqlite_where=sa.text("state = 'accepted'"),
        postgresql_where=sa.text("state = 'accepted'"),
    )
    op.create_index("ix_mturk_assignment_hit", "mturk_assignment", ["hit_id", "id"])
    op.create_index("ix_mturk_assignment_worker", "mturk_assignment", ["worker_id", "hit_id"])
    op.create_index(
        "uq_mturk_assignment_held",
        "mturk_assignment",
        ["hit_id", "worker_id"],
        unique=True,
        sqlite_where=sa.text("state NOT IN ('returned', 'abandoned')"),
        postgresql_where=sa.text("state NOT IN ('returned', 'abandoned')"),
    )
    op.create_table(
        "mturk_bonus",
        sa.Column("id", _ID, nullable=False),
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["mturk_assignment.id"], name=op.f("fk_mturk_bonus_assignment_id_mturk_assignment")
        ),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_mturk_bonus_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_bonus")),
    )
    op.create_index("ix_mturk_bonus_assignment", "mturk_bonus", ["assignment_id"])
    op.create_table(
        "mturk_qualification_type",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("test", sa.Text(), nullable=True),
        sa.Column("answer_key", sa.Text(), nullable=True),
        sa.Column("test_seconds", sa.BigInteger(), nullable=True),
        sa.Column("retry_seconds", sa.BigInteger(), nullable=True),
        sa.Column("auto_value", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_qualification_type")),
        sa.UniqueConstraint("name", name=op.f("uq_mturk_qualification_type_name")),
    )
    op.create_table(
        "mturk_qualification",
        sa.Column("id", _ID, nullable=False),
        sa.Column("type_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["type_id"],
            ["mturk_qualification_type.id"],
            name=op.f("fk_mturk_qualification_type_id_mturk_qualification_type"),
        ),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_mturk_qualification_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_qualification")),
    )
    op.create_index("uq_mturk_qualification_of", "mturk_qualification", ["type_id", "worker_id"], unique=True)
    op.create_table(
        "mturk_qualification_request",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["type_id"],
            ["mturk_qualification_type.id"],
            name=op.f("fk_mturk_qualification_request_type_id_mturk_qualification_type"),
        ),
        sa.ForeignKeyConstraint(
            ["worker_id"], ["worker.id"], name=op.f("fk_mturk_qualification_request_worker_id_worker")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_qualification_request")),
        sa.UniqueConstraint("name", name=op.f("uq_mturk_qualification_request_name")),
    )
    op.create_index("ix_mturk_qualification_request_of", "mturk_qualification_request", ["type_id", "worker_id"])
    op.create_table(
        "mturk_block",
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_mturk_block_worker_id_worker")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_mturk_block")),
    )
    op.create_table(
        "mturk_notification",
        sa.Column("id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("transport", sa.Text(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_notification")),
    )
    op.create_index(
        "ix_mturk_notification_due",
        "mturk_notification",
        ["due_at"],
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
