"""Review policies of HITs, and what was done by them

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("mturk_hit", sa.Column("policies", sa.Text(), nullable=True))
    op.add_column("mturk_hit", sa.Column("reviewed_at", sa.BigInteger(), nullable=True))
    waiting = sa.text("policies IS NOT NULL AND reviewed_at IS NULL")
    op.create_index("ix_mturk_hit_review", "mturk_hit", ["id"], sqlite_where=waiting, postgresql_where=waiting)
    op.create_table(
        "mturk_review_action",
        sa.Column("id", _ID, nullable=False),
        sa.Column("hit_id", _ID, nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["hit_id"], ["mturk_hit.id"], name=op.f("fk_mturk_review_action_hit_id_mturk_hit")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mturk_review_action")),
    )
    op.create_index("ix_mturk_review_action_hit", "mturk_review_action", ["hit_id"])
