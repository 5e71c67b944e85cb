"""A store on one SQLite connection that does everything at once, in the thread that asks for it.

For databases nobody else looks at: those of rehearsals, and of studies that are being imported.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import get_ident

from sqlalchemy import Engine

from chorale.store.database import Store, T, Work
from chorale.store.sqlite import DEFERRED, SqliteConnection


class InlineStore(Store):
    """One connection for everything; it answers with futures that are done."""

    def __init__(self, engine: Engine) -> None:
        self._connection = SqliteConnection(engine)
        self._inline = InlineWriter(self._connection)
        super().__init__(self._inline, engine)

    def read(self, work: Work[T]) -> Future[T]:
        return _finished(self._inline.read, work)

    def do(self, work: Work[T]) -> T:
        return self._inline.run(work)

    def look(self, work: Work[T]) -> T:
        return self._inline.read(work)


class InlineWriter:
    """Runs work at once, in the thread that asks for it, which is the one that opened the store.

    All work is in one transaction, which is only committed to be copied: a commit costs more than most work does. As on
    a site, there are no savepoints, and work is refused before it has written anything. Work that fails after that is a
    mistake in a program, not in a study. A site undoes its group and runs it again; here everything is one group, so
    the store takes no more work, and nobody gets to see what is half done.
    """

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._thread = get_ident()
        self._changes = connection.driver.total_changes
        self._half_done: Exception | None = None
        connection.ask(DEFERRED)

    def submit(self, work: Work[T]) -> Future[T]:
        return _finished(self.run, work)

    def run(self, work: Work[T]) -> T:
        self._check_thread()
        self._check_whole()
        before = self._changes()
        try:
            return work(self._connection)
        except Exception as error:
            if self._changes() != before:
                self._half_done = error
            raise

    def read(self, work: Work[T]) -> T:
        self._check_thread()
        self._check_whole()
        return work(self._connection)

    @contextmanager
    def committed(self) -> Iterator[None]:
        """Commit what was done, for as long as somebody else needs the database to be outside of a transaction."""
        self._check_whole()
        self._connection.driver.commit()
        try:
            yield
        finally:
            self._connection.ask(DEFERRED)

    def close(self) -> None:
        self._connection.close()

    def _check_whole(self) -> None:
        if self._half_done is not None:
            raise RuntimeError(f"work has failed half-way in this store: {self._half_done}")

    def _check_thread(self) -> None:
        if get_ident() != self._thread:
            raise RuntimeError("a store like this is for the thread that has opened it: nothing keeps two apart")


def _finished(run: Callable[[Work[T]], T], work: Work[T]) -> Future[T]:
    try:
        return _Finished(run(work))
    except Exception as error:
        failed: Future[T] = Future()
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
