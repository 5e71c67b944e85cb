"""SQLite: the one driver, connection and transaction, for a site's file, a rehearsal's memory and an import.

APSW brings a current SQLite of its own, and a statement takes it a third to two thirds of the time that the standard
library's module needs. No other copy of SQLite in this process may open a file that is open here: neither would know
of the other's locks.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import Pool, QueuePool

_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOMUTEX
_STATEMENTS = 512
_PATIENCE_MS = 60_000
"""How long a statement waits for another process that is writing."""
_SLOT, _SLOTS = 1_200, 1_000

DURABLE = ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536")
"""What the file of a site needs: nothing that was committed is lost, whatever happens to the machine."""

DEFERRED = "BEGIN"


def _set_memory_apart() -> None:
    """Give every connection a megabyte for the small things a statement needs while it runs.

    SQLite has a tenth of that ready, which the statements that are kept take up: for all else it would ask the C
    library, three million times in a rehearsal, and count every time how much there is in use. SQLite has to know
    before there is any connection. Where a program has one of its own by APSW, or may have by a library that it
    shares, everything stays as it is.
    """
    if apsw.using_amalgamation and not apsw.connections():
        apsw.shutdown()
        apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, _SLOT, _SLOTS)
        apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)
        apsw.initialize()


_set_memory_apart()


class _LibraryCursor(apsw.Cursor):
    """A cursor with what SQLAlchemy asks of one, which also wants the names of columns."""

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
        # At once: SQLAlchemy asks for it when the cursor may be closed.
        self.rowcount = -1 if self.description else connection.total_changes() - before
        self.lastrowid = connection.last_insert_rowid()
        return self

    def fetchmany(self, size: int = 1) -> list[Any]:
        return list(islice(self, size))


def _describe(cursor: Any, _statement: str, _bindings: Any) -> bool:
    # Before the first row, since afterwards there may be nothing to describe any more.
    cursor.description = [(name, *[None] * 6) for name, _ in cursor.get_description()] or None
    return True


class SqliteDriver(apsw.Connection):
    """APSW's connection, with what SQLAlchemy and prepared statements ask of one. Used by one thread at a time."""

    def __init__(self, file: str) -> None:
        super().__init__(file, flags=_FLAGS, statementcachesize=_STATEMENTS)
        self.set_busy_timeout(_PATIENCE_MS)
        # Otherwise a statement is planned anew whenever other values are bound to it, which is all the time.
        self.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        changing, asking = super().cursor(), super().cursor()
        self.change = changing.execute
        """For statements that change something and have no rows: one cursor does for all of them."""
        self.change_many = changing.executemany
        self.ask = asking.execute
        """For rows that are read before the next statement, and for beginning and ending transactions.

        A row may be left to read in this cursor, and would keep what the connection sees from moving on. Every
        statement ends the one before it.
        """

    def cursor(self) -> apsw.Cursor:
        # Made by the connection, which closes all it has made before itself.
        self.cursor_factory = _LibraryCursor
        try:
            return super().cursor()
        finally:
            self.cursor_factory = apsw.Cursor

    def commit(self) -> None:
        if self.in_transaction:
            self.ask("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            self.ask("ROLLBACK")

    def create_function(self, name: str, arguments: int, function: Any, *, deterministic: bool = False) -> None:
        self.create_scalar_function(name, function, arguments, deterministic=deterministic)


class _Module:
    """APSW as the module SQLAlchemy takes the standard library's for."""

    paramstyle = "qmark"
    sqlite_version_info = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    Error = ProgrammingError = apsw.Error

    @staticmethod
    def connect(file: str, **_options: Any) -> SqliteDriver:
        return SqliteDriver(file)


_TRANSLATION = {
    "ConstraintError": "IntegrityError",
    "CorruptError": "DatabaseError",
    "NotADBError": "DatabaseError",
    **dict.fromkeys(
        (
            *("BusyError", "CantOpenError", "FullError", "IOError", "LockedError", "PermissionsError"),
            *("ProtocolError", "ReadOnlyError", "SQLError"),
        ),
        "OperationalError",
    ),
}
"""SQLAlchemy's names for errors of APSW."""

OUT_OF_REACH = (apsw.BusyError, apsw.CantOpenError, apsw.FullError, apsw.IOError, apsw.LockedError, apsw.ReadOnlyError)
"""Errors of a file that is fine, but can't be used now, or not by us."""


def sqlite_engine(file: Path | None, pragmas: Sequence[str] = DURABLE, pool: type[Pool] = QueuePool) -> Engine:
    """An engine on a file, or on a database of its own in memory. What refers to another row is always checked."""
    url = URL.create("sqlite", database=None if file is None else str(file.absolute()))
    engine = create_engine(url, poolclass=pool, module=_Module, hide_parameters=True)
    engine.dialect.dbapi_exception_translation_map = _TRANSLATION

    @event.listens_for(engine, "connect")
    def _configure(driver: Any, _record: Any) -> None:
        for pragma in (*pragmas, "foreign_keys = ON"):
            driver.execute(f"PRAGMA {pragma}").fetchall()

    return engine


class SqliteConnection(Connection):
    """Hands prepared statements to SQLite as they are, and begins and ends its transactions.

    SQLAlchemy's own way of running a finished statement takes several times as long as SQLite does, and a rehearsal
    runs half a million of them.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver: SqliteDriver = driver
        self.change = self.driver.change
        self.ask = self.driver.ask
        # For SQLAlchemy there is one transaction, which never ends: it would commit after every statement otherwise.
        self.begin()

    def changes(self) -> int:
        """How many rows were changed since the connection was opened."""
        return self.driver.total_changes()

    def in_turn(self, works: Sequence[Callable[[Any], Any]]) -> Generator[tuple[int, Callable[[], Any]]]:
        """For each piece of work of a group, its number and what does it."""
        return ((number, partial(work, self)) for number, work in enumerate(works))

    def settle(self) -> None:
        """Wait for all that was sent: here nothing is under way."""

    @contextmanager
    def writing(self) -> Iterator["SqliteConnection"]:
        """Commit what is done in it, or undo all of it. Waits for its turn before it reads anything."""
        with self._ended_well("BEGIN IMMEDIATE"):
            yield self

    @contextmanager
    def reading(self) -> Iterator["SqliteConnection"]:
        """See everything as it is at one moment."""
        with self._ended_well(DEFERRED):
            yield self

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Keep what is done in it, or undo that alone."""
        change = self.change
        change("SAVEPOINT work")
        try:
            yield
        except BaseException:
            change("ROLLBACK TO work")
            change("RELEASE work")
            raise
        change("RELEASE work")

    @contextmanager
    def _ended_well(self, begin: str) -> Iterator[None]:
        driver = self.driver
        self.ask(begin)
        try:
            yield
            driver.commit()
        except BaseException:
            driver.rollback()
            raise
