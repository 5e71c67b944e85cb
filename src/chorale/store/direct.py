"""A store on one SQLite connection that does everything at once, in the thread that asks for it.

For databases nobody else looks at: those of rehearsals, and of studies that are being imported.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from sqlite3 import Cursor
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import StaticPool

from chorale.store.database import Store, T, Work


class DirectStore(Store):
    """One connection for everything; it answers with futures that are done."""

    def __init__(self, engine: Engine) -> None:
        self._connection = DirectConnection(engine)
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

    def do(self, work: Work[T]) -> T:
        return self._direct.run(work)


class DirectWriter:
    """Runs work at once, in the thread that asks for it. Nothing is ever committed but to be copied.

    Work that only reads differs in nothing here.

    There are no savepoints, which would take a fifteenth of a rehearsal. Work is refused before it has written
    anything. Where it fails after that, a program is broken and not a study: nobody gets to see what is half done,
    since from then on all work fails.
    """

    def __init__(self, connection: "DirectConnection") -> None:
        self._connection = connection
        self._broken: Exception | None = None

    def submit(self, work: Work[T]) -> Future[T]:
        try:
            return _Finished(self.run(work))
        except Exception as error:
            return _failed(error)

    def run(self, work: Work[T]) -> T:
        if self._broken is not None:
            raise RuntimeError(f"work has failed half-way in this store: {self._broken}")
        driver = self._connection.driver
        before = driver.total_changes
        try:
            return work(self._connection)
        except Exception as error:
            if driver.total_changes != before:
                self._broken = error
            raise

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


class DirectConnection(Connection):
    """Hands prepared statements to SQLite as they are.

    SQLAlchemy's own way of running a finished statement takes several times as long as SQLite does, and a rehearsal
    runs millions of them: what `Prepared` runs does not even come by `exec_driver_sql`.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver = driver
        self.changing = driver.cursor(Rows)
        """What changes something has no rows that anybody could still be reading: one cursor does for all of it."""
        self.asking = driver.cursor(Rows)
        """The same where only the first row is wanted: once it is there, the next statement may follow."""

    def exec_driver_sql(self, statement: str, parameters: Any = None, execution_options: Any = None) -> Any:  # noqa: ARG002
        if isinstance(parameters, list):
            return self.changing.executemany(statement, parameters)
        cursor = self.driver.cursor(Rows) if statement.startswith("SELECT") else self.changing
        return cursor.execute(statement, parameters or ())


class Rows(Cursor):
    """A cursor with as much of a result as prepared statements are asked for."""

    __slots__ = ()

    def scalar(self) -> Any:
        row = self.fetchone()
        return None if row is None else row[0]

    def scalar_one(self) -> Any:
        [(value,)] = self
        return value

    def scalars(self) -> list[Any]:
        return [row[0] for row in self.fetchall()]


def direct_engine(url: URL | str, pragmas: Sequence[str]) -> Engine:
    """An engine with one connection, whose transactions whoever has it opens and ends."""
    engine = create_engine(url, poolclass=StaticPool, connect_args={"cached_statements": 512})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # Left to itself, the driver would open transactions of its own.
        connection.isolation_level = None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    return engine
