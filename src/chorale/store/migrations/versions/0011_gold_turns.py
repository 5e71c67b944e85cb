"""How often gold was shown, and how many items workers skipped

Revision ID: gold_turns
Revises: 0010_sign_in_attempts
"""

import sqlalchemy as sa
from alembic import op

revision = "gold_turns"
down_revision = "0010_sign_in_attempts"
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
