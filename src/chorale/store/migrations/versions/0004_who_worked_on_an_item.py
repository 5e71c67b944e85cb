"""An index that tells whether a worker had an item

Revision ID: 0004
Revises: 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_assignment_item", "assignment")
    op.create_index("ix_assignment_item", "assignment", ["item_id", "worker_id"])
