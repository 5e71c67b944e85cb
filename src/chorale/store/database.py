"""Connections and transactions, on SQLite and PostgreSQL.

All work is a function of a connection that runs in one transaction. On SQLite one thread does all the writing and
commits whatever has queued up together: one fsync for many submissions, no lock to wait for, and still nothing is
answered before it is on disk. On PostgreSQL every piece of work is a transaction of its own on a pool of threads.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from chorale.model import Refusal
from chorale.store.sqlite import DEFERRED, IMMEDIATE, SqliteConnection, sqlite_engine

T = TypeVar("T")
Work = Callable[[Connection], T]
_Queued = tuple[Callable[[Connection], Any], Future[Any]]

MOST_PER_COMMIT = 64
RETRIES = 8
# Serialization failure, deadlock detected: the transaction was fine, the moment was not.
RETRYABLE = frozenset({"40001", "40P01"})
THREADS = 12
SCRUBBING = (
    "VACUUM FULL worker_identity, submission, invitation_address, message",
    "VACUUM response, event, grade, entry, item",
)
"""Small tables are written anew. Large ones would be locked for long: there, space is only made free to be reused."""
STREAMED = {"yield_per": 5_000}
"""The options of a query whose rows are too many to be held at once."""


class _Writer(Protocol):
    def submit(self, work: Work[T]) -> Future[T]: ...

    def close(self) -> None: ...


class GroupCommitWriter:
    """One thread that runs queued work in order and commits it in groups."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Queued | None] = SimpleQueue()
        self._closing = False
        self._thread = Thread(target=self._run, name="chorale-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[T]) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put((work, future))
        return future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        connection: SqliteConnection | None = None
        while group := self._next_group():
            try:
                connection = connection or SqliteConnection(self._engine)
            except Exception as error:
                # No file handles, no disk: this group fails, and the next one tries again.
                _fail(group, error)
                continue
            if not self._commit_together(connection, group):
                # Whatever state a full disk or the like has left this connection in, the next group gets a new one.
                with suppress(Exception):
                    connection.invalidate()
                    connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _next_group(self) -> list[_Queued]:
        """What has queued up; nothing once the writer is to close."""
        if self._closing or (first := self._queue.get()) is None:
            return []
        group = [first]
        while len(group) < MOST_PER_COMMIT:
            try:
                more = self._queue.get_nowait()
            except Empty:
                break
            if more is None:
                self._closing = True
                break
            group.append(more)
        return group

    def _commit_together(self, connection: SqliteConnection, group: list[_Queued]) -> bool:
        """Run the group and commit it; False if that failed as a whole."""
        wanted = [(work, future) for work, future in group if future.set_running_or_notify_cancel()]
        try:
            try:
                answers = _run_all(connection, wanted)
            except _HalfDoneError:
                with connection.transaction(IMMEDIATE):
                    answers = [_answer_in_savepoint(connection, work, future) for work, future in wanted]
        except Exception as error:  # a failed commit fails the whole group
            for _, future in wanted:
                future.set_exception(error)
            return False
        # Only now is it on disk, and only now are the futures done.
        for answer in answers:
            answer()
        return True


class _HalfDoneError(Exception):
    """Some work failed after it had written something: all of the group is undone."""


def _run_all(connection: SqliteConnection, wanted: Sequence[_Queued]) -> list[Callable[[], None]]:
    """Run a group in one transaction, without savepoints: they have SQLite keep a copy of every page it touches.

    Nearly all work succeeds, or is refused before it has written anything. Where that is not so, nothing of the group
    is kept, and all of it runs again with savepoints: work can be run twice.
    """
    changes = connection.driver.total_changes
    answers: list[Callable[[], None]] = []
    with connection.transaction(IMMEDIATE):
        for work, future in wanted:
            before = changes()
            try:
                answers.append(partial(future.set_result, work(connection)))
            except Refusal as refusal:
                if changes() != before:
                    raise _HalfDoneError from refusal
                answers.append(partial(future.set_exception, refusal))
            except Exception as error:
                raise _HalfDoneError from error
    return answers


def _fail(group: list[_Queued], error: Exception) -> None:
    for _, future in group:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def _answer_in_savepoint(connection: SqliteConnection, work: Work[Any], future: Future[Any]) -> Callable[[], None]:
    """Run work; what gives the future its result or failure."""
    try:
        return partial(future.set_result, run_in_savepoint(connection, work))
    except Exception as error:
        return partial(future.set_exception, error)


def run_in_savepoint(connection: SqliteConnection, work: Work[T]) -> T:
    """Run work that is part of a larger transaction; if it fails, nothing of it is left."""
    change = connection.change
    change("SAVEPOINT work")
    try:
        result = work(connection)
    except BaseException:
        change("ROLLBACK TO work")
        change("RELEASE work")
        raise
    change("RELEASE work")
    return result


class PooledWriter:
    """A transaction per piece of work, on a pool of threads; run again after a deadlock or a lost connection."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="chorale-writer")

    def submit(self, work: Work[T]) -> Future[T]:
        return self._pool.submit(self._run, work)

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    def _run(self, work: Work[T]) -> T:
        for attempt in range(RETRIES):
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except DBAPIError as error:
                # After a lost connection nobody knows whether the commit went through. All work in `engine` can be run
                # again: a second submit finds the first, a second lease is the one the worker already holds.
                again = error.connection_invalidated or getattr(error.orig, "sqlstate", None) in RETRYABLE
                if not again or attempt == RETRIES - 1:
                    raise
                time.sleep(0.05 * attempt)
        raise AssertionError("unreachable")


class Store:
    """A study's database: `write` and `read` run work in a transaction and answer with a future."""

    def __init__(self, writer: _Writer, write_engine: Engine, read_engine: Engine) -> None:
        self._writer = writer
        self._engines = {write_engine, read_engine}
        self._read_engine = read_engine
        self._readers = ThreadPoolExecutor(4, thread_name_prefix="chorale-reader")
        self.dialect = write_engine.dialect.name

    def write(self, work: Work[T]) -> Future[T]:
        return self._writer.submit(work)

    def read(self, work: Work[T]) -> Future[T]:
        return self._readers.submit(self._run_read, work)

    def do(self, work: Work[T]) -> T:
        """Write, and wait for it."""
        return self.write(work).result()

    def look(self, work: Work[T]) -> T:
        """Read, and wait for it."""
        return self.read(work).result()

    def close(self) -> None:
        self._readers.shutdown(wait=True)
        self._writer.close()
        for engine in self._engines:
            engine.dispose()

    def scrub(self) -> None:
        """Overwrite what was erased, also where SQLite or PostgreSQL has only marked the space as free."""
        if self.dialect == "sqlite":
            with closing(SqliteConnection(self._read_engine)) as connection:
                for statement in ("PRAGMA secure_delete = ON", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    connection.driver.execute(statement).fetchall()
                connection.invalidate()
            return
        with self._read_engine.connect() as pooled:
            alone = pooled.execution_options(isolation_level="AUTOCOMMIT")
            for statement in SCRUBBING:
                alone.exec_driver_sql(statement)

    def _run_read(self, work: Work[T]) -> T:
        if self.dialect == "sqlite":
            with closing(SqliteConnection(self._read_engine)) as connection, connection.transaction(DEFERRED):
                return work(connection)
        with self._read_engine.begin() as pooled:
            return work(pooled)


def connect(url: URL) -> Store:
    """A store on a database that has the current schema (see `opening`)."""
    if url.get_backend_name() == "sqlite":
        engine = sqlite_engine(Path(str(url.database)))
        return Store(GroupCommitWriter(engine), engine, engine)
    engine = create_engine(url, pool_size=THREADS, max_overflow=8)
    return Store(PooledWriter(engine), engine, engine.execution_options(isolation_level="REPEATABLE READ"))
