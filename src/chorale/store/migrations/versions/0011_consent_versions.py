"""Consent forms by version, and which version everybody agreed to

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "consent_text",
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_consent_text")),
    )
    op.add_column("worker", sa.Column("consent_version", sa.Integer(), nullable=True))
    # Experts are asked for no consent. Those who were asked get the version of their form when the study is opened.
    op.execute("UPDATE worker SET consent_version = 0 WHERE consented_at IS NOT NULL")
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER consent_text_no_{change.lower()} BEFORE {change} ON consent_text "
                "BEGIN SELECT RAISE(ABORT, 'consent_text is append-only'); END"
            )
        return
    op.execute(
        "CREATE TRIGGER consent_text_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON consent_text "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
