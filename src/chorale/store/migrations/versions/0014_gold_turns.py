"""How often gold was shown, and how many items workers skipped

Revision ID: 0014
Revises: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("gold", sa.Column("taken", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("gold", sa.Column("wanted", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("gold", sa.Column("turns", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("participation", sa.Column("skipped", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE participation SET skipped = (SELECT count(*) FROM assignment WHERE assignment.state = 'returned' "
        "AND assignment.worker_id = participation.worker_id AND assignment.stage_id = participation.stage_id)"
    )
    op.drop_column("participation", "gold_cursor")
