"""What the console looks up by: items by state and confidence, the latest answers of a stage; links that end

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_item_state", "item", ["stage_id", "state", "released"])
    op.create_index("ix_item_confidence", "item", ["stage_id", "confidence", "key"])
    op.create_index("ix_response_stage", "response", ["stage_id", "id"])
    bonuses = sa.text("kind = 'bonus'")
    op.create_index("ix_entry_bonus", "entry", ["amount"], sqlite_where=bonuses, postgresql_where=bonuses)
    op.add_column("requester", sa.Column("revoked_at", sa.BigInteger(), nullable=True))
