"""Attempts to sign in, counted across processes

Revision ID: 0010_sign_in_attempts
Revises: sessions
"""

import sqlalchemy as sa
from alembic import op

revision = "0010_sign_in_attempts"
down_revision = "sessions"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sign_in_attempt",
        sa.Column("id", _ID, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_attempt")),
    )
    op.create_index("ix_sign_in_attempt_key", "sign_in_attempt", ["key", "at"])
