"""SQLite for stores that have a database to themselves: what every statement goes through, one way or the other.

Files are opened by the standard library's module, like everywhere else: two copies of SQLite in one process must not
open the same file, since neither knows of the other's locks. A database in memory can be anybody's. APSW brings a
newer SQLite, takes no locks for a connection that one thread uses, and tells what columns are called only if asked: a
statement takes it a third to two thirds of the time.
"""

import sqlite3
from collections.abc import Callable
from itertools import islice
from typing import Any, Protocol

import apsw


class Driver(Protocol):
    """A connection to SQLite."""

    def execute(self, statement: str, parameters: Any = ..., /) -> Any: ...

    def plain_cursor(self) -> Any: ...

    def changed(self) -> int:
        """How many rows the last statement changed."""
        ...

    def changes_made(self) -> int:
        """The same of all statements so far."""
        ...

    def numbered(self) -> int:
        """The number of the last row that was put in."""
        ...


class FileDriver(sqlite3.Connection):
    """The standard library's connection."""

    def plain_cursor(self) -> sqlite3.Cursor:
        return self.cursor()

    def changed(self) -> int:
        return self._told("changes()")

    def changes_made(self) -> int:
        return self.total_changes

    def numbered(self) -> int:
        return self._told("last_insert_rowid()")

    def _told(self, function: str) -> int:
        [(value,)] = self.execute(f"SELECT {function}")
        return int(value)


class _LibraryCursor(apsw.Cursor):
    """A cursor with what SQLAlchemy asks of one, which also wants to know what columns are called."""

    description: Any = None
    rowcount = -1
    lastrowid = 0

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.exec_trace = _describe

    def execute(self, *given: Any) -> Any:  # type: ignore[override]
        return self._counted(super().execute, given)

    def executemany(self, *given: Any) -> Any:  # type: ignore[override]
        return self._counted(super().executemany, given)

    def _counted(self, run: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        connection = self.connection
        before = connection.total_changes()
        run(*given)
        # At once: it is asked for when the cursor may be closed.
        self.rowcount = -1 if self.description else connection.total_changes() - before
        self.lastrowid = connection.last_insert_rowid()
        return self

    def fetchmany(self, size: int = 1) -> list[Any]:
        return list(islice(self, size))


def _describe(cursor: Any, _statement: str, _bindings: Any) -> bool:
    # Before the first row, since afterwards there may be nothing to describe any more.
    cursor.description = [(name, *[None] * 6) for name, _ in cursor.get_description()] or None
    return True


_ALONE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOMUTEX
_STATEMENTS = 512
_SLOT, _SLOTS = 1_200, 1_000


def _set_memory_apart() -> None:
    """Give every connection a megabyte for the small things a statement needs while it runs.

    SQLite has a tenth of that ready, which the statements that are kept take up: for all else it would ask the C
    library, three million times in a rehearsal, and count every time how much there is in use. It is told before there
    is any connection. Where somebody has one of their own by APSW, or may have by a library that it shares, it is left
    as it is.
    """
    if apsw.using_amalgamation and not apsw.connections():
        apsw.shutdown()
        apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, _SLOT, _SLOTS)
        apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)
        apsw.initialize()


_set_memory_apart()


class MemoryDriver(apsw.Connection):
    """APSW's connection to a database of its own in memory, with what SQLAlchemy asks of one."""

    changed = apsw.Connection.changes
    changes_made = apsw.Connection.total_changes
    numbered = apsw.Connection.last_insert_rowid

    def __init__(self) -> None:
        super().__init__(":memory:", flags=_ALONE, statementcachesize=_STATEMENTS)
        # Otherwise a statement is planned anew whenever other values are bound to it, which is all the time.
        self.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)

    def plain_cursor(self) -> apsw.Cursor:
        return super().cursor()

    def cursor(self) -> apsw.Cursor:
        # Made by the connection, which closes all it has made before itself.
        self.cursor_factory = _LibraryCursor
        try:
            return super().cursor()
        finally:
            self.cursor_factory = apsw.Cursor

    def rollback(self) -> None:
        if self.in_transaction:
            self.execute("ROLLBACK")

    def create_function(self, name: str, arguments: int, function: Any, *, deterministic: bool = False) -> None:
        self.create_scalar_function(name, function, arguments, deterministic=deterministic)


class MemoryModule:
    """APSW as the module SQLAlchemy takes the standard library's for."""

    paramstyle = "qmark"
    sqlite_version_info = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    Error = ProgrammingError = apsw.Error

    @staticmethod
    def connect(*_args: Any, **_options: Any) -> MemoryDriver:
        return MemoryDriver()
