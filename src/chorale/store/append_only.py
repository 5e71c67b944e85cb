"""Append-only tables, and the one exception: an erasure in progress.

An erasure is a row of `erasure` without an end. It ends in the transaction in which it starts, so only that transaction
sees it, and only columns with people's data can be changed.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection, Table, text

from chorale.store.identity_schema import epoch
from chorale.store.schema import consent_text, entry, erasure, event, first_answer, grade, response

ERASABLE: Mapping[Table, Sequence[str]] = {
    response: ("answer", "erased_at"),
    first_answer: ("answer",),
    grade: ("reasons",),
    event: ("evidence",),
    entry: ("reason",),
    consent_text: (),
    epoch: (),
}
"""The columns of append-only tables that an erasure can change."""


UNDER_WAY = "EXISTS (SELECT 1 FROM erasure WHERE ended_at IS NULL)"


def sqlite_triggers() -> Iterator[str]:
    """The triggers for SQLite that refuse all changes except erasures."""
    for table, columns in ERASABLE.items():
        name = table.name
        unless = ""
        if columns:
            same = " AND ".join(f"NEW.{one.name} IS OLD.{one.name}" for one in table.columns if one.name not in columns)
            unless = f"WHEN NOT ({same} AND {UNDER_WAY}) "
        yield _trigger(name, "update", unless)
        yield _trigger(name, "delete", "")
    yield _trigger("erasure", "update", "WHEN OLD.ended_at IS NOT NULL ")
    yield _trigger("erasure", "delete", "")


def _trigger(table: str, change: str, condition: str) -> str:
    return (
        f"CREATE TRIGGER {table}_no_{change} BEFORE {change.upper()} ON {table} {condition}"
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )


_ON_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
_ON_POSTGRESQL = (
    "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE relnamespace = current_schema()::regnamespace AND tgenabled <> 'D'"
)


def unprotected_tables(tx: Connection) -> list[str]:
    """Append-only tables whose triggers are missing or switched off, by name."""
    on_sqlite = tx.dialect.name == "sqlite"
    there = set(tx.execute(text(_ON_SQLITE if on_sqlite else _ON_POSTGRESQL)).scalars())
    endings = {table.name: _endings(table, on_sqlite=on_sqlite) for table in (*ERASABLE, erasure)}
    return sorted(name for name, wanted in endings.items() if any(f"{name}_{ending}" not in there for ending in wanted))


def _endings(table: Table, *, on_sqlite: bool) -> Sequence[str]:
    """The endings of the names of a table's triggers."""
    if on_sqlite:
        return "no_update", "no_delete"
    if table is erasure:
        return "append_only", "no_update"
    return ("append_only", "only_erased") if ERASABLE[table] else ("append_only",)
