"""Where people want to be paid, payments that failed, and their retries

Revision ID: 0017
Revises: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_KEPT = ("payment_failure", "payment_retry")


def upgrade() -> None:
    op.create_table(
        "payment_failure",
        sa.Column("payment_id", _ID, nullable=False),
        sa.Column("payout_id", _ID, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["payment_id"], ["payment.id"], name=op.f("fk_payment_failure_payment_id_payment")),
        sa.ForeignKeyConstraint(["payout_id"], ["payout.id"], name=op.f("fk_payment_failure_payout_id_payout")),
        sa.PrimaryKeyConstraint("payment_id", "payout_id", name=op.f("pk_payment_failure")),
    )
    op.create_table(
        "payment_retry",
        sa.Column("payment_id", _ID, nullable=False),
        sa.Column("payout_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["payment_id"], ["payment.id"], name=op.f("fk_payment_retry_payment_id_payment")),
        sa.ForeignKeyConstraint(["payout_id"], ["payout.id"], name=op.f("fk_payment_retry_payout_id_payout")),
        sa.PrimaryKeyConstraint("payment_id", "payout_id", name=op.f("pk_payment_retry")),
    )
    op.create_index("ix_payment_retry_payout", "payment_retry", ["payout_id"])
    op.create_table(
        "payout_address",
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("left_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_payout_address_worker_id_worker")),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_payout_address")),
    )
    _keep_attempts()


def _keep_attempts() -> None:
    """What failed and what was tried again never changes and never goes: it says who may be paid again."""
    for table in _KEPT:
        if op.get_bind().dialect.name == "sqlite":
            for act in ("UPDATE", "DELETE"):
                op.execute(
                    f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is kept for good'); END"
                )
        else:
            op.execute(
                f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )
