"""First answers, stored before the rest of an item is shown

Revision ID: 0020
Revises: 0019
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "first_answer",
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_first_answer_assignment_id_assignment")
        ),
        sa.PrimaryKeyConstraint("assignment_id", name=op.f("pk_first_answer")),
    )
    # What was answered before has no first answers, and is not expected to.
    op.execute(
        "INSERT INTO setting (key, value) SELECT 'first_answers_after', CAST(MAX(id) AS TEXT) FROM response "
        "HAVING MAX(id) IS NOT NULL"
    )
    (_on_sqlite if op.get_bind().dialect.name == "sqlite" else _on_postgresql)()


def _on_sqlite() -> None:
    op.execute(
        "CREATE TRIGGER first_answer_no_update BEFORE UPDATE ON first_answer "
        "WHEN NOT (NEW.assignment_id IS OLD.assignment_id AND NEW.at IS OLD.at "
        "AND EXISTS (SELECT 1 FROM erasure WHERE ended_at IS NULL)) "
        "BEGIN SELECT RAISE(ABORT, 'first_answer is append-only'); END"
    )
    op.execute(
        "CREATE TRIGGER first_answer_no_delete BEFORE DELETE ON first_answer "
        "BEGIN SELECT RAISE(ABORT, 'first_answer is append-only'); END"
    )


def _on_postgresql() -> None:
    op.execute(
        "CREATE TRIGGER first_answer_append_only BEFORE DELETE OR TRUNCATE ON first_answer "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        "CREATE TRIGGER first_answer_only_erased BEFORE UPDATE ON first_answer "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change_unless_erasing('answer')"
    )
