"""Arms, rounds, gates, qualifications and messages

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("worker", sa.Column("arm", sa.Text(), nullable=True))
    op.add_column("participation", sa.Column("gold_recent", sa.Text(), nullable=False, server_default=""))
    op.add_column("item", sa.Column("sampled", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("grade", sa.Column("criteria", sa.Text(), nullable=True))
    if op.get_bind().dialect.name == "sqlite":
        # SQLite adds a column with its reference only in one statement of its own.
        op.execute("ALTER TABLE item ADD COLUMN response_id INTEGER REFERENCES response (id)")
    else:
        op.add_column("item", sa.Column("response_id", _ID, nullable=True))
        op.create_foreign_key("fk_item_response_id_response", "item", "response", ["response_id"], ["id"])
    op.create_table(
        "qualification",
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_qualification_worker_id_worker")),
        sa.PrimaryKeyConstraint("worker_id", "name", name=op.f("pk_qualification")),
    )
    op.create_table(
        "verdict",
        sa.Column("gate", sa.Text(), nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_verdict_worker_id_worker")),
        sa.PrimaryKeyConstraint("gate", "worker_id", name=op.f("pk_verdict")),
    )
    op.create_index("ix_verdict_worker", "verdict", ["worker_id"])
    op.create_table(
        "gate",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_gate")),
    )
    op.create_table(
        "message",
        sa.Column("id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("written_at", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("read_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_message_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message")),
        sa.UniqueConstraint("worker_id", "cause", name=op.f("uq_message_worker_id_cause")),
    )
