"""How many words an item shows, where that decides what it pays

Revision ID: item_words
Revises: removal_grace
"""

import sqlalchemy as sa
from alembic import op

revision = "item_words"
down_revision = "removal_grace"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("item", sa.Column("words", sa.Integer()))
