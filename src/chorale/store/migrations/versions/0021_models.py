"""Models that annotate: what they were asked, every call, and what calls cost

Revision ID: 0021
Revises: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "model_task",
        sa.Column("id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("stage_id", _ID, nullable=False),
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("answer", sa.Text()),
        sa.Column("confidence", sa.Double()),
        sa.Column("response_id", _ID),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_model_task_worker_id_worker")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_model_task_stage_id_stage")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_model_task_item_id_item")),
        sa.ForeignKeyConstraint(["response_id"], ["response.id"], name=op.f("fk_model_task_response_id_response")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_task")),
        sa.UniqueConstraint("worker_id", "item_id", name=op.f("uq_model_task_worker_id_item_id")),
    )
    op.create_index("ix_model_task_stage", "model_task", ["stage_id", "worker_id", "state"])
    op.create_index("ix_model_task_item", "model_task", ["item_id"])
    op.create_table(
        "model_call",
        sa.Column("id", _ID, nullable=False),
        sa.Column("task_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("stage_id", _ID, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("version", sa.Text()),
        sa.Column("prompt_sha256", sa.Text(), nullable=False),
        sa.Column("planned_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger()),
        sa.Column("done_at", sa.BigInteger()),
        sa.Column("outcome", sa.Text()),
        sa.Column("reason", sa.Text()),
        sa.Column("output", sa.Text()),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("faults", sa.Text(), server_default="{}", nullable=False),
        sa.Column("input_tokens", sa.Integer()),
        sa.Column("output_tokens", sa.Integer()),
        sa.Column("latency_ms", sa.BigInteger()),
        sa.Column("confidence", sa.Double()),
        sa.Column("input_price", sa.BigInteger(), nullable=False),
        sa.Column("output_price", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.BigInteger()),
        sa.ForeignKeyConstraint(["task_id"], ["model_task.id"], name=op.f("fk_model_call_task_id_model_task")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_model_call_worker_id_worker")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_model_call_stage_id_stage")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_call")),
    )
    op.create_index("ix_model_call_task", "model_call", ["task_id"])
    op.create_index("ix_model_call_open", "model_call", ["state", "worker_id"])
    op.create_table(
        "model_cost",
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("stage_id", _ID, nullable=False),
        sa.Column("exact", sa.BigInteger(), nullable=False),
        sa.Column("booked", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_model_cost_worker_id_worker")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_model_cost_stage_id_stage")),
        sa.PrimaryKeyConstraint("worker_id", "stage_id", name=op.f("pk_model_cost")),
    )
