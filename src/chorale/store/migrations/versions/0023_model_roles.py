"""Models that answer first or suggest, and how people wrote their answers

Revision ID: 0023
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "model_calibration",
        sa.Column("id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("stage_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("slope", sa.Double(), nullable=False),
        sa.Column("offset", sa.Double(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("last_grade", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_model_calibration_worker_id_worker")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_model_calibration_stage_id_stage")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_calibration")),
    )
    op.create_index("ix_model_calibration_stage", "model_calibration", ["stage_id", "worker_id"])
    op.create_table(
        "first_pass",
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("stage_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("task_id", _ID),
        sa.Column("calibration_id", _ID),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("confidence", sa.Double()),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("asked", sa.Boolean(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_first_pass_item_id_item")),
        sa.ForeignKeyConstraint(["stage_id"], ["stage.id"], name=op.f("fk_first_pass_stage_id_stage")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_first_pass_worker_id_worker")),
        sa.ForeignKeyConstraint(["task_id"], ["model_task.id"], name=op.f("fk_first_pass_task_id_model_task")),
        sa.ForeignKeyConstraint(
            ["calibration_id"], ["model_calibration.id"], name=op.f("fk_first_pass_calibration_id_model_calibration")
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_first_pass")),
    )
    op.create_index("ix_first_pass_stage", "first_pass", ["stage_id", "worker_id"])
    op.create_table(
        "suggestion",
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("task_id", _ID, nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("wrong_on_purpose", sa.Boolean(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_suggestion_assignment_id_assignment")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["model_task.id"], name=op.f("fk_suggestion_task_id_model_task")),
        sa.PrimaryKeyConstraint("assignment_id", name=op.f("pk_suggestion")),
    )
    op.create_table(
        "writing",
        sa.Column("response_id", _ID, nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("pasted", sa.Double(), nullable=False),
        sa.Column("typing_ms", sa.BigInteger(), nullable=False),
        sa.Column("rhythm", sa.Double()),
        sa.Column("left", sa.Integer(), nullable=False),
        sa.Column("away_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["response_id"], ["response.id"], name=op.f("fk_writing_response_id_response")),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_writing")),
    )
