"""Annotators with a password, their one-time links, and items that are for given people

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "team_member",
        sa.Column("id", _ID, nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text()),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("invited_at", sa.BigInteger(), nullable=False),
        sa.Column("signed_in_at", sa.BigInteger()),
        sa.Column("deactivated_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team_member")),
        sa.UniqueConstraint("login", name=op.f("uq_team_member_login")),
    )
    op.create_table(
        "team_link",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("member_id", _ID, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("ended_by", sa.Text()),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_team_link")),
        sa.ForeignKeyConstraint(["member_id"], ["team_member.id"], name=op.f("fk_team_link_member_id_team_member")),
    )
    op.create_index("ix_team_link_member", "team_link", ["member_id"])
    op.create_table(
        "item_assignee",
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("item_id", "login", "added_at", name=op.f("pk_item_assignee")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_assignee_item_id_item")),
    )
    op.create_index("ix_item_assignee_login", "item_assignee", ["login"])
