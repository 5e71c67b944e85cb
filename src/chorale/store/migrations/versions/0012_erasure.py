"""Erasing what people ask to have erased, with a row that says so

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# By table, the columns that an erasure can change, and the others.
_COLUMNS = {
    "response": (
        ("answer", "erased_at"),
        (
            *("id", "assignment_id", "stage_id", "item_id", "worker_id", "kind", "task_version", "submitted_at"),
            *("duration_ms", "idempotency_key"),
        ),
    ),
    "grade": (("reasons",), ("id", "response_id", "source", "score", "criteria", "graded_at")),
    "event": (("evidence",), ("id", "at", "kind", "stage_id", "worker_id", "item_id")),
    "entry": (("reason",), ("id", "cause", "at", "worker_id", "stage_id", "kind", "amount")),
}

_UNDER_WAY = "EXISTS (SELECT 1 FROM erasure WHERE ended_at IS NULL)"


def upgrade() -> None:
    op.create_table(
        "erasure",
        sa.Column("id", _ID, nullable=False),
        sa.Column("worker_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("identity", sa.Boolean(), nullable=False),
        sa.Column("answers", sa.Boolean(), nullable=False),
        sa.Column("erased", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["worker_id"], ["worker.id"], name=op.f("fk_erasure_worker_id_worker")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
    )
    op.create_index("ix_erasure_worker", "erasure", ["worker_id"])
    op.add_column("response", sa.Column("erased_at", sa.BigInteger(), nullable=True))
    (_on_sqlite if op.get_bind().dialect.name == "sqlite" else _on_postgresql)()


def _on_sqlite() -> None:
    for table, (_, others) in _COLUMNS.items():
        same = " AND ".join(f"NEW.{name} IS OLD.{name}" for name in others)
        op.execute(f"DROP TRIGGER {table}_no_update")
        op.execute(
            f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} "
            f"WHEN NOT ({same} AND {_UNDER_WAY}) "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )
    for change, condition in (("update", "WHEN OLD.ended_at IS NOT NULL "), ("delete", "")):
        op.execute(
            f"CREATE TRIGGER erasure_no_{change} BEFORE {change.upper()} ON erasure {condition}"
            "BEGIN SELECT RAISE(ABORT, 'erasure is append-only'); END"
        )


def _on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION refuse_change_unless_erasing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF (to_jsonb(NEW) - TG_ARGV) = (to_jsonb(OLD) - TG_ARGV) "
        "AND EXISTS (SELECT 1 FROM erasure WHERE ended_at IS NULL) THEN RETURN NEW; END IF; "
        "RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table, (columns, _) in _COLUMNS.items():
        op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        named = ", ".join(f"'{name}'" for name in columns)
        op.execute(
            f"CREATE TRIGGER {table}_only_erased BEFORE UPDATE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION refuse_change_unless_erasing({named})"
        )
    op.execute(
        "CREATE TRIGGER erasure_append_only BEFORE DELETE OR TRUNCATE ON erasure "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        "CREATE TRIGGER erasure_no_update BEFORE UPDATE ON erasure FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) "
        "EXECUTE FUNCTION refuse_change()"
    )
