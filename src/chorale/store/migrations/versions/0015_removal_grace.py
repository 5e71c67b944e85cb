"""With how many answers a removed worker gets to know it, and how often gold was shown

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("participation", sa.Column("removed_after", sa.Integer(), nullable=False, server_default="0"))
    # Gold that was shown before this was counted counts as shown.
    op.execute(
        "UPDATE gold SET taken = (SELECT count(*) FROM assignment WHERE assignment.item_id = gold.item_id "
        "AND assignment.kind = 'gold' AND assignment.state IN ('live', 'submitted')) WHERE turns = 0"
    )
