"""Epochs of the database, and workers' sessions that can be ended

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    id_type = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "epoch",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("last_worker", sa.BigInteger(), nullable=False),
        sa.Column("last_response", sa.BigInteger(), nullable=False),
        sa.Column("last_entry", sa.BigInteger(), nullable=False),
        sa.Column("last_event", sa.BigInteger(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_epoch"),
        sa.UniqueConstraint("mark", name="uq_epoch_mark"),
    )
    op.create_table(
        "worker_session",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("worker_id", id_type, nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("digest", name="pk_worker_session"),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name="fk_worker_session_worker_id_worker"),
        sa.ForeignKeyConstraint(["epoch"], ["epoch.number"], name="fk_worker_session_epoch_epoch"),
    )
    op.create_index("ix_worker_session_worker", "worker_session", ["worker_id"])
    _only_add()


def _only_add() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER epoch_no_{change.lower()} BEFORE {change} ON epoch "
                "BEGIN SELECT RAISE(ABORT, 'epoch is append-only'); END"
            )
        return
    op.execute(
        "CREATE TRIGGER epoch_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON epoch "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
