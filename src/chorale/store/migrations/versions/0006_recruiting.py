"""Links that can be revoked, studies and submissions on a platform, payouts

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _links()
    _studies()
    _payouts()
    _keep_what_was_paid()


def _links() -> None:
    op.create_table(
        "invitation",
        sa.Column("id", _ID, nullable=False),
        sa.Column("nonce", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=True),
        sa.Column("most", sa.Integer(), nullable=True),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("nonce", name=op.f("uq_invitation_nonce")),
    )
    op.create_table(
        "invitation_address",
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("invitation_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["invitation_id"], ["invitation.id"], name=op.f("fk_invitation_address_invitation_id_invitation")
        ),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_invitation_address")),
    )
    op.create_index("ix_invitation_address_invitation", "invitation_address", ["invitation_id"])


def _studies() -> None:
    op.create_table(
        "panel_study",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("marker", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("group_id", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reward", sa.BigInteger(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("completion_code", sa.Text(), nullable=False),
        sa.Column("screenout_code", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_panel_study")),
        sa.UniqueConstraint("marker", name=op.f("uq_panel_study_marker")),
        sa.UniqueConstraint("external_id", name=op.f("uq_panel_study_external_id")),
    )
    op.create_table(
        "submission",
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("panel_study", sa.Text(), nullable=False),
        sa.Column("participant", sa.Text(), nullable=False),
        sa.Column("worker_id", _ID, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("rewarded", sa.BigInteger(), nullable=False),
        sa.Column("arrived_at", sa.BigInteger(), nullable=True),
        sa.Column("reported_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["panel_study"], ["panel_study.name"], name=op.f("fk_submission_panel_study_panel_study")
        ),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_submission_worker_id_worker")),
        sa.PrimaryKeyConstraint("external_id", name=op.f("pk_submission")),
    )
    op.create_index("ix_submission_worker", "submission", ["worker_id"])
    op.create_index("ix_submission_participant", "submission", ["participant"])
    op.create_table(
        "delivery",
        sa.Column("message_id", _ID, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name=op.f("fk_delivery_message_id_message")),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_delivery")),
    )


def _payouts() -> None:
    op.create_table(
        "payout",
        sa.Column("id", _ID, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("panel_study", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("charged", sa.BigInteger(), nullable=True),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("settled_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["panel_study"], ["panel_study.name"], name=op.f("fk_payout_panel_study_panel_study")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payout")),
    )
    op.create_table(
        "payment",
        sa.Column("id", _ID, nullable=False),
        sa.Column("payout_id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("up_to_entry", _ID, nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=True),
        sa.Column("bonuses_before", sa.Text(), nullable=False),
        sa.Column("reported_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["payout_id"], ["payout.id"], name=op.f("fk_payment_payout_id_payout")),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_payment_worker_id_worker")),
        sa.ForeignKeyConstraint(["up_to_entry"], ["entry.id"], name=op.f("fk_payment_up_to_entry_entry")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.external_id"], name=op.f("fk_payment_submission_id_submission")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment")),
        sa.UniqueConstraint("worker_id", "up_to_entry", name=op.f("uq_payment_worker_id_up_to_entry")),
    )
    op.create_index("ix_payment_payout", "payment", ["payout_id"])


def _keep_what_was_paid() -> None:
    """What was to be paid, to whom and how much, never changes and never goes."""
    if op.get_bind().dialect.name == "sqlite":
        for table in ("payout", "payment"):
            op.execute(
                f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is kept for good'); END"
            )
        op.execute(
            "CREATE TRIGGER payment_no_change BEFORE UPDATE OF payout_id, worker_id, amount, up_to_entry ON payment "
            "BEGIN SELECT RAISE(ABORT, 'payment is kept for good'); END"
        )
        return
    for table in ("payout", "payment"):
        op.execute(
            f"CREATE TRIGGER {table}_kept BEFORE DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(
        "CREATE TRIGGER payment_unchanged BEFORE UPDATE OF payout_id, worker_id, amount, up_to_entry ON payment "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
