"""A database in memory, for studies that are only rehearsed: no threads, no disk, and gone when it is closed."""

from collections.abc import Callable
from concurrent.futures import Future
from sqlite3 import Cursor
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from chorale.store.database import Store, T, Work

FOR_LOOKING_UP = (
    "ix_entry_bonus",
    "ix_entry_worker",
    "ix_event_item",
    "ix_event_kind",
    "ix_event_worker",
    "ix_item_confidence",
    "ix_item_state",
)
"""Indexes that only people need who look at a study in the console. Here nobody does, and keeping them takes time."""


class MemoryStore(Store):
    """One connection for everything; it answers with futures that are done."""

    def __init__(self, prepare: Callable[[Connection], None] | None = None) -> None:
        engine = _engine()
        if prepare is not None:
            with engine.begin() as connection:
                prepare(connection)
                for index in FOR_LOOKING_UP:
                    connection.exec_driver_sql(f"DROP INDEX {index}")
        self._connection = _DirectConnection(engine)
        # Begun for the library, which would commit by itself otherwise; and for SQLite, where a commit costs more than
        # all the work in it.
        self._connection.begin()
        self._connection.driver.execute("BEGIN")
        self._direct = DirectWriter(self._connection)
        super().__init__(self._direct, engine, engine)

    def read(self, work: Work[T]) -> Future[T]:
        return self._direct.submit(work)

    def write(self, work: Work[T]) -> Future[T]:
        return self._direct.submit(work)

    def copy(self) -> "MemoryStore":
        """Another store with the same content."""
        twin = MemoryStore()
        drivers = self._connection.driver, twin._connection.driver
        for driver in drivers:
            driver.execute("COMMIT")
        drivers[0].backup(drivers[1])
        for driver in drivers:
            driver.execute("BEGIN")
        return twin


class DirectWriter:
    """Runs work at once, in the thread that asks for it. Nothing is ever committed but to be copied.

    Work that only reads differs in nothing here.

    There are no savepoints, which would take a fifteenth of a rehearsal. Work is refused before it has written
    anything. Where it fails after that, a program is broken and not a study: nobody gets to see what is half done,
    since from then on all work fails.
    """

    def __init__(self, connection: "_DirectConnection") -> None:
        self._connection = connection
        self._broken: Exception | None = None

    def submit(self, work: Work[T]) -> Future[T]:
        if self._broken is not None:
            return _failed(RuntimeError(f"work has failed half-way in this store: {self._broken}"))
        driver = self._connection.driver
        before = driver.total_changes
        try:
            return _Finished(work(self._connection))
        except Exception as error:
            if driver.total_changes != before:
                self._broken = error
            return _failed(error)

    def close(self) -> None:
        self._connection.close()


def _failed(error: Exception) -> Future[Any]:
    failed: Future[Any] = Future()
    failed.set_exception(error)
    return failed


class _Finished(Future[T]):
    """A future that never was one: its result is there, and nobody waits for it in another thread."""

    def __init__(self, value: T) -> None:
        self._value = value

    def result(self, timeout: float | None = None) -> T:  # noqa: ARG002
        return self._value

    def exception(self, timeout: float | None = None) -> None:  # noqa: ARG002
        return None

    def done(self) -> bool:
        return True


class _DirectConnection(Connection):
    """Hands prepared statements to SQLite as they are.

    SQLAlchemy's own way of running a finished statement takes several times as long as SQLite does, and a rehearsal
    runs millions of them.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver = driver
        self._changing = driver.cursor(_Rows)

    def exec_driver_sql(self, statement: str, parameters: Any = None, execution_options: Any = None) -> Any:  # noqa: ARG002
        # What changes something has no rows that anybody could still be reading: one cursor does for all of it.
        cursor = self.driver.cursor(_Rows) if statement.startswith("SELECT") else self._changing
        return cursor.execute(statement, parameters or ())


class _Rows(Cursor):
    """A cursor with as much of a result as prepared statements are asked for."""

    __slots__ = ()
    first = Cursor.fetchone

    def scalar(self) -> Any:
        row = self.fetchone()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        [(value,)] = self
        return value

    def scalars(self) -> list[Any]:
        return [row[0] for row in self.fetchall()]


_PRAGMAS = (
    # With larger pages, what is looked for is found in fewer of them.
    "page_size = 16384",
    # Nothing is ever taken back (see `DirectWriter`), or read by anybody else.
    "journal_mode = OFF",
    "synchronous = OFF",
    "secure_delete = OFF",
    # What refers to what is checked wherever a study is served. The same statements need not be checked here.
    "foreign_keys = OFF",
)


def _engine() -> Engine:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"cached_statements": 512})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # Left to itself, the driver would open transactions of its own.
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    return engine
