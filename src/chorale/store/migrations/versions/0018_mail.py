"""Invitations by e-mail, and who wants none

Revision ID: 0018
Revises: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "invitation_mail",
        sa.Column("invitation_id", _ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitation.id"], name=op.f("fk_invitation_mail_invitation_id_invitation")
        ),
        sa.PrimaryKeyConstraint("invitation_id", name=op.f("pk_invitation_mail")),
    )
    op.create_table(
        "mail_optout",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_mail_optout")),
    )
