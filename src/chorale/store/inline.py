"""A store on one SQLite connection that runs all work immediately, in the calling thread.

For databases that nobody else uses: those of simulations, and of studies being imported.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import get_ident

from sqlalchemy import Engine

from chorale.store.database import Store, T, Work
from chorale.store.sqlite import DEFERRED, SqliteConnection


class InlineStore(Store):
    """A store with a single connection; its futures are already completed."""

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
    """Runs work immediately in the calling thread, which must be the one that opened the store.

    All work is in one transaction, which is committed only for copies: a commit costs more than most work. As on a
    site, there are no savepoints, and work is refused before it writes anything. Work that fails later is a bug. A site
    rolls back its group and repeats it; here everything is one group, so the store accepts no more work, and partial
    results are never visible.
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
        """Commit, and stay outside of a transaction while the block runs."""
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
            raise RuntimeError(f"an earlier transaction failed half-way in this store: {self._half_done}")

    def _check_thread(self) -> None:
        if get_ident() != self._thread:
            raise RuntimeError("an inline store can be used only in the thread that opened it")


def _finished(run: Callable[[Work[T]], T], work: Work[T]) -> Future[T]:
    try:
        return _Finished(run(work))
    except Exception as error:
        failed: Future[T] = Future()
        failed.set_exception(error)
        return failed


class _Finished(Future[T]):
    """A completed future without synchronisation between threads."""

    def __init__(self, value: T) -> None:
        self._value = value

    def result(self, timeout: float | None = None) -> T:  # noqa: ARG002
        return self._value

    def exception(self, timeout: float | None = None) -> None:  # noqa: ARG002
        return None

    def done(self) -> bool:
        return True
