"""Checks an SQLite file for damage."""

import time

import apsw
from sqlalchemy import Connection

from chorale.store.failing import damaged
from chorale.store.sqlite import SqliteConnection

_STEPS = 10_000
_MOST = 5
"""Maximum number of listed problems: even one means that a backup is needed."""


def refuse_damage(tx: Connection, *, seconds: float | None = None) -> None:
    """Check an SQLite file, and raise DamagedError if it is damaged.

    PostgreSQL checks its own files. With `seconds`, indexes are not compared with their tables, and the check stops
    after that time, so that a site can start.
    """
    if not isinstance(tx, SqliteConnection):
        return
    checks = ("integrity_check", "foreign_key_check") if seconds is None else ("quick_check",)
    for check in checks:
        rows = _rows_within(tx, f"PRAGMA {check}", seconds)
        damage = [" ".join(map(str, row)) for row in rows if row != ("ok",)]
        if damage:
            more = f" (and {len(damage) - _MOST:,} more)" if len(damage) > _MOST else ""
            prefix = "rows refer to missing rows: " if check == "foreign_key_check" else ""
            raise damaged(tx.engine.url, prefix + "; ".join(damage[:_MOST]) + more)


def _rows_within(tx: SqliteConnection, statement: str, seconds: float | None) -> list[tuple[object, ...]]:
    if seconds is None:
        return list(tx.ask(statement))
    deadline = time.monotonic() + seconds
    tx.driver.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        return list(tx.ask(statement))
    except apsw.InterruptError:
        return []
    finally:
        tx.driver.set_progress_handler(None)
