"""SQLite: driver, connections and transactions, for a site's file, a simulation in memory, and an import.

APSW has its own current SQLite, and needs a third to two thirds of the standard library's time per statement. No other
copy of SQLite in this process may open a file that is open here: they would not see each other's locks.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
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
"""How long a statement waits for another writing process."""
_SLOT, _SLOTS = 1_200, 1_000

DURABLE = ("journal_mode = WAL", "synchronous = FULL", "cache_size = -65536")
"""Settings of a site's file: nothing committed is lost, even in a power failure."""

DEFERRED = "BEGIN"


def _set_memory_apart() -> None:
    """Give every connection a megabyte of lookaside memory.

    SQLite's default is a tenth of that, which prepared statements use up. Beyond it, SQLite calls malloc
    and updates memory statistics: three million times in a simulation. This must be set before the first connection.
    If the program already uses SQLite through APSW or a shared library, nothing is changed.
    """
    if apsw.using_amalgamation and not apsw.connections():
        apsw.shutdown()
        apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, _SLOT, _SLOTS)
        apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)
        apsw.initialize()


_set_memory_apart()


class _LibraryCursor(apsw.Cursor):
    """A cursor for SQLAlchemy, which also needs column names."""

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
        # Read immediately: SQLAlchemy asks for it when the cursor may be closed.
        self.rowcount = -1 if self.description else connection.total_changes() - before
        self.lastrowid = connection.last_insert_rowid()
        return self

    def fetchmany(self, size: int = 1) -> list[Any]:
        return list(islice(self, size))


def _describe(cursor: Any, _statement: str, _bindings: Any) -> bool:
    # Read before the first row, since the description may be gone afterwards.
    cursor.description = [(name, *[None] * 6) for name, _ in cursor.get_description()] or None
    return True


class SqliteDriver(apsw.Connection):
    """APSW's connection with the interface that SQLAlchemy and prepared statements need.

    Used by one thread at a time.
    """

    def __init__(self, file: str) -> None:
        super().__init__(file, flags=_FLAGS, statementcachesize=_STATEMENTS)
        self.set_busy_timeout(_PATIENCE_MS)
        # Otherwise, statements are replanned whenever other values are bound.
        self.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        changing, asking = super().cursor(), super().cursor()
        self.change = changing.execute
        """A shared cursor for statements without rows."""
        self.change_many = changing.executemany
        self.ask = asking.execute
        """A shared cursor for rows that are read before the next statement, and for transactions. An unread row in this
        cursor would keep the connection's snapshot. Every statement ends the previous one.
        """

    def cursor(self) -> apsw.Cursor:
        # Created by the connection, which closes its cursors first.
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
    """APSW with the interface of the standard library's module, for SQLAlchemy."""

    paramstyle = "qmark"
    sqlite_version_info = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    Error = ProgrammingError = apsw.Error

    @staticmethod
    def connect(file: str, **_options: Any) -> SqliteDriver:
        if file != ":memory:":
            keep_private(Path(file))
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
"""Errors of a file that is intact but can't be used now."""


def keep_private(file: Path) -> None:
    """Create the file of a new database so that only its owner can read it: it contains keys and identities.

    SQLite gives its log the same permissions. An existing file keeps its own. If no file can be created, SQLite reports
    the error.
    """
    with suppress(OSError):
        file.touch(0o600, exist_ok=False)


def sqlite_engine(file: Path | None, pragmas: Sequence[str] = DURABLE, pool: type[Pool] = QueuePool) -> Engine:
    """An engine on a file or a new in-memory database. Foreign keys are always checked."""
    url = URL.create("sqlite", database=None if file is None else str(file.absolute()))
    engine = create_engine(url, poolclass=pool, module=_Module, hide_parameters=True)
    engine.dialect.dbapi_exception_translation_map = _TRANSLATION

    @event.listens_for(engine, "connect")
    def _configure(driver: Any, _record: Any) -> None:
        for pragma in (*pragmas, "foreign_keys = ON"):
            driver.execute(f"PRAGMA {pragma}").fetchall()

    return engine


class SqliteConnection(Connection):
    """Passes prepared statements directly to SQLite, and manages its transactions.

    SQLAlchemy takes several times as long as SQLite to run a compiled statement, and a simulation runs half a million.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver: SqliteDriver = driver
        self.change = self.driver.change
        self.ask = self.driver.ask
        # SQLAlchemy sees one endless transaction; otherwise it would commit after every statement.
        self.begin()

    def changes(self) -> int:
        """Number of rows changed since the connection was opened."""
        return self.driver.total_changes()

    def in_turn(
        self,
        works: Sequence[Callable[[Any], Any]],
        postponed: set[int],  # noqa: ARG002 - each piece of work reads when it runs, so none is postponed
    ) -> Generator[tuple[int, Callable[[], Any]]]:
        """The number and function of each piece of work in a group."""
        return ((number, partial(work, self)) for number, work in enumerate(works))

    def send_commit(self, committed: Callable[[], None]) -> None:
        self.driver.commit()
        committed()

    def confirm(self) -> None:
        """Nothing to wait for: a commit is done when it returns."""

    @contextmanager
    def writing(self) -> Iterator["SqliteConnection"]:
        """A write transaction, which waits for its turn before it reads anything."""
        with self._ended_well("BEGIN IMMEDIATE"):
            yield self

    @contextmanager
    def reading(self) -> Iterator["SqliteConnection"]:
        """A read transaction with a consistent snapshot."""
        with self._ended_well(DEFERRED):
            yield self

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A savepoint: a failure in the block is undone alone."""
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
