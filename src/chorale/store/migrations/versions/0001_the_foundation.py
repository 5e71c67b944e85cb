"""The foundation

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "requester",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requester")),
        sa.UniqueConstraint("name", name=op.f("uq_requester_name")),
    )
    op.create_table(
        "setting",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_setting")),
    )
    op.create_table(
        "stage",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("task_version", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stage")),
        sa.UniqueConstraint("name", name=op.f("uq_stage_name")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("arrived_at", sa.BigInteger(), nullable=False),
        sa.Column("consented_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
        sa.UniqueConstraint("pseudonym", name=op.f("uq_worker_pseudonym")),
    )
    op.create_table(
        "entry",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_entry_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_entry_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entry")),
        sa.UniqueConstraint("cause", name=op.f("uq_entry_cause")),
    )
    op.create_index("ix_entry_worker", "entry", ["worker_id", "kind"], unique=False)
    op.create_table(
        "item",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("group_key", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("counted", sa.Integer(), nullable=False),
        sa.Column("released", sa.Boolean(), nullable=False),
        sa.CheckConstraint("taken >= 0 AND taken <= wanted", name=op.f("ck_item_not_over_assigned")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_item_stage_id_stage")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("stage_id", "key", name=op.f("uq_item_stage_id_key")),
    )
    op.create_index("ix_item_group", "item", ["stage_id", "group_key"], unique=False)
    op.create_index(
        "ix_item_offered",
        "item",
        ["stage_id", "position"],
        unique=False,
        sqlite_where=sa.text("state = 'open' AND taken < wanted"),
        postgresql_where=sa.text("state = 'open' AND taken < wanted"),
    )
    op.create_index(
        "ix_item_open",
        "item",
        ["stage_id"],
        unique=False,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "participation",
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("standing", sa.Text(), nullable=False),
        sa.Column("entered_at", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("served", sa.Integer(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("gold_answered", sa.Integer(), nullable=False),
        sa.Column("gold_right", sa.Integer(), nullable=False),
        sa.Column("earned", sa.BigInteger(), nullable=False),
        sa.Column("fees", sa.BigInteger(), nullable=False),
        sa.Column("exact_fees", sa.BigInteger(), nullable=False),
        sa.Column("worked_ms", sa.BigInteger(), nullable=False),
        sa.Column("item_cursor", sa.BigInteger(), nullable=False),
        sa.Column("gold_cursor", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("settled", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_participation_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_participation_worker_id_worker")),
        sa.PrimaryKeyConstraint("stage_id", "worker_id", name=op.f("pk_participation")),
    )
    op.create_index(
        "ix_participation_unsettled",
        "participation",
        ["stage_id"],
        unique=False,
        sqlite_where=sa.text("changes > settled"),
        postgresql_where=sa.text("changes > settled"),
    )
    op.create_index("ix_participation_worker", "participation", ["worker_id"], unique=False)
    op.create_table(
        "worker_identity",
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("panel", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("visit", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_worker_identity_worker_id_worker")),
        sa.PrimaryKeyConstraint("panel", "external_id", name=op.f("pk_worker_identity")),
    )
    op.create_index("ix_worker_identity_worker", "worker_identity", ["worker_id"], unique=False)
    op.create_table(
        "assignment",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("leased_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_assignment_item_id_item")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_assignment_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_assignment_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("token", name=op.f("uq_assignment_token")),
        sa.UniqueConstraint(
            "worker_id", "stage_id", "group_key", name=op.f("uq_assignment_worker_id_stage_id_group_key")
        ),
    )
    op.create_index(
        "ix_assignment_expiry",
        "assignment",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_index("ix_assignment_item", "assignment", ["item_id"], unique=False)
    op.create_index(
        "uq_assignment_live",
        "assignment",
        ["worker_id", "stage_id"],
        unique=True,
        sqlite_where=sa.text("state = 'live'"),
        postgresql_where=sa.text("state = 'live'"),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_event_item_id_item")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_event_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_event_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index("ix_event_kind", "event", ["kind", "id"], unique=False)
    op.create_index("ix_event_item", "event", ["item_id"], unique=False)
    op.create_index("ix_event_worker", "event", ["worker_id"], unique=False)
    op.create_table(
        "gold",
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("explanation", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_gold_item_id_item")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_gold_stage_id_stage")),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_gold")),
    )
    op.create_index("ix_gold_stage", "gold", ["stage_id", "position"], unique=False)
    op.create_table(
        "item_source",
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_source_item_id_item")),
        sa.ForeignKeyConstraint(["source_id"], ["item.id"], name=op.f("fk_item_source_source_id_item")),
        sa.PrimaryKeyConstraint("item_id", "source_id", name=op.f("pk_item_source")),
    )
    op.create_index("ix_item_source_source", "item_source", ["source_id"], unique=False)
    op.create_table(
        "response",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("assignment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("stage_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("worker_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("task_version", sa.Integer(), nullable=False),
        sa.Column("submitted_at", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_response_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_response_item_id_item")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_response_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_response_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response")),
        sa.UniqueConstraint("assignment_id", name=op.f("uq_response_assignment_id")),
    )
    op.create_index("ix_response_item", "response", ["item_id"], unique=False)
    op.create_index("ix_response_worker", "response", ["worker_id", "stage_id"], unique=False)
    op.create_table(
        "grade",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("response_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("graded_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["response_id"], ["response.id"], name=op.f("fk_grade_response_id_response")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grade")),
        sa.UniqueConstraint("response_id", "source", name=op.f("uq_grade_response_id_source")),
    )
