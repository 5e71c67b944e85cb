"""A database in memory, for studies that are only rehearsed: no threads, no disk, and gone when it is closed."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from chorale.store.database import Store, T, Work, run_in_savepoint


class MemoryStore(Store):
    """One connection for everything; it answers with futures that are done."""

    def __init__(self, prepare: Callable[[Connection], None] | None = None) -> None:
        engine = _engine()
        if prepare is not None:
            with engine.begin() as connection:
                prepare(connection)
        self._connection = _DirectConnection(engine)
        # Begun for the library, which would commit by itself otherwise; and for SQLite, where a savepoint inside a
        # transaction costs next to nothing, and a commit more than all the work in it.
        self._connection.begin()
        self._connection.driver.execute("BEGIN")
        super().__init__(DirectWriter(self._connection), engine, engine)

    def read(self, work: Work[T]) -> Future[T]:
        return self.write(work)

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
    """Runs work at once, in the thread that asks for it, in a savepoint: nothing is ever committed but to be copied."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(self, work: Work[T]) -> Future[T]:
        future: Future[T] = Future()
        run_in_savepoint(self._connection, work, future)()
        return future

    def close(self) -> None:
        self._connection.close()


class _DirectConnection(Connection):
    """Hands prepared statements to SQLite as they are.

    SQLAlchemy's own way of running a finished statement takes several times as long as SQLite does, and a rehearsal
    runs millions of them.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.driver: Any = self.connection.driver_connection

    def exec_driver_sql(self, statement: str, parameters: Any = None, execution_options: Any = None) -> Any:  # noqa: ARG002
        return _Rows(self.driver.execute(statement, parameters or ()))


class _Rows:
    """As much of a result as prepared statements are asked for."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)

    def first(self) -> Any:
        return self._cursor.fetchone()

    def scalar(self) -> Any:
        row = self._cursor.fetchone()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        [(value,)] = self._cursor
        return value

    def scalars(self) -> Iterator[Any]:
        return (row[0] for row in self._cursor)

    @property
    def rowcount(self) -> int:
        return int(self._cursor.rowcount)


def _engine() -> Engine:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"cached_statements": 512})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # Left to itself, the driver would open transactions of its own around our savepoints.
        connection.isolation_level = None
        for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()

    return engine
