"""A store on one SQLite connection that does everything at once, in the thread that asks for it.

For databases nobody else looks at: those of rehearsals, and of studies that are being imported.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from threading import get_ident
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import StaticPool

from chorale.store.database import Store, T, Work
from chorale.store.drivers import Driver, FileDriver, MemoryModule


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
    """Runs work at once, in the thread that asks for it, which is the one that opened the store.

    Nothing is ever committed but to be copied. Work that only reads differs in nothing here.

    There are no savepoints, which would take a fifteenth of a rehearsal. Work is refused before it has written
    anything. Where it fails after that, a program is broken and not a study: nobody gets to see what is half done,
    since from then on all work fails.
    """

    def __init__(self, connection: "DirectConnection") -> None:
        self._connection = connection
        self._thread = get_ident()
        self._broken: Exception | None = None

    def submit(self, work: Work[T]) -> Future[T]:
        try:
            return _Finished(self.run(work))
        except Exception as error:
            return _failed(error)

    def run(self, work: Work[T]) -> T:
        if get_ident() != self._thread:
            raise RuntimeError("a store like this is for the thread that has opened it: nothing keeps two apart")
        if self._broken is not None:
            raise RuntimeError(f"work has failed half-way in this store: {self._broken}")
        driver = self._connection.driver
        before = driver.changes_made()
        try:
            return work(self._connection)
        except Exception as error:
            if driver.changes_made() != before:
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
    runs half a million of them.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver: Driver = driver
        self.change = driver.plain_cursor().execute
        """For what changes something and has no rows: one cursor does for all of it."""
        self.ask = driver.plain_cursor().execute
        """For what is read at once, before the next statement."""


def file_engine(url: URL, pragmas: Sequence[str]) -> Engine:
    """An engine with one connection to a file, whose transactions whoever has it opens and ends."""
    # Left to itself, the driver would open transactions of its own.
    options = {"cached_statements": 512, "factory": FileDriver, "isolation_level": None}
    return _prepared(create_engine(url, poolclass=StaticPool, connect_args=options), pragmas)


def memory_engine(pragmas: Sequence[str]) -> Engine:
    """The same to a database of its own in memory."""
    engine = create_engine("sqlite://", poolclass=StaticPool, module=MemoryModule)
    engine.dialect.dbapi_exception_translation_map = {"ConstraintError": "IntegrityError"}
    return _prepared(engine, pragmas)


def _prepared(engine: Engine, pragmas: Sequence[str]) -> Engine:
    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    return engine
