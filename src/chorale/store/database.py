"""Connections and transactions, on SQLite and PostgreSQL.

All work is a function of a connection and runs in one transaction. One thread does all the writing and commits queued
work in groups: one fsync for many submissions and no lock contention. Nothing is answered before it is on disk. Several
processes on one PostgreSQL take turns, each with its queue.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import apsw
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from chorale.model import Refusal
from chorale.store.failing import explained, raise_explained
from chorale.store.kit_tables import KitTables
from chorale.store.sqlite import SqliteConnection, sqlite_engine

if TYPE_CHECKING:
    from chorale.store.postgres import PostgresConnection

T = TypeVar("T")
Work = Callable[[Connection], T]
_Queued = tuple[Callable[[Connection], Any], Future[Any]]
_Answers = list[Callable[[], None]]
_Connection: TypeAlias = "SqliteConnection | PostgresConnection"

MOST_PER_COMMIT = 64
PAUSES = tuple(0.05 * number for number in range(7))
"""Delays in seconds before work with a transient failure is retried."""
# Serialization failure, deadlock, terminated by the administrator: transient, the transaction can be repeated.
_OF_THE_MOMENT = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})
READERS = 4
POOL_SECONDS = 10
"""How long work waits for a free connection."""
REWRITTEN = ("worker_identity", "submission", "invitation_address", "payout_address", "message", "team_member")
"""Small tables, rewritten after an erasure."""
FREED = ("response", "event", "grade", "entry", "item", "model_task", "model_call")
"""Large tables, which a rewrite would lock for too long: their space is only freed for reuse."""
STREAMED = {"yield_per": 5_000}
"""Options for queries with too many rows for memory."""


class _Writer(Protocol):
    def submit(self, work: Work[T]) -> Future[T]: ...

    def close(self) -> None: ...


class GroupCommitWriter:
    """One thread that runs queued work in order and commits it in groups."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Queued | None] = SimpleQueue()
        self._closing = False
        self._connection: _Connection | None = None
        self._unconfirmed: Sequence[_Queued] = ()
        """The last group, if its commit was sent and may have failed."""
        self._postponed: list[_Queued] = []
        """Work of the last group that the next group begins with."""
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
        while self._postponed or not self._closing:
            if group := self._next_group():
                self._start(group)
            if not self._postponed and (self._closing or self._queue.empty()):
                self._confirm()
        self._hang_up()

    def _next_group(self) -> list[_Queued]:
        """The next group: postponed work, then queued work. Waits for work if there is none.

        The group is empty if all of this work was cancelled, or if the database is closing.
        """
        group, self._postponed = self._postponed, []
        wait = not group
        while len(group) < MOST_PER_COMMIT and not self._closing:
            try:
                queued = self._queue.get(block=wait)
            except Empty:
                break
            wait = False
            if queued is None:
                self._closing = True
            elif queued[1].set_running_or_notify_cancel():
                group.append(queued)
        return group

    def _start(self, wanted: Sequence[_Queued]) -> None:
        """Run a group and send its commit, which PostgreSQL completes while the next group runs."""
        try:
            self._run_all(self._connected(), wanted)
        except Exception:
            # The group failed, or the commit of the one before it. The connection may be in any state, and all work can
            # be repeated.
            self._hang_up()
            earlier = [queued for queued in self._unconfirmed if queued not in wanted]
            self._unconfirmed, self._postponed = (), []
            self._repeat(earlier)
            self._repeat(wanted)

    def _confirm(self) -> None:
        """Wait for the commit of the last group."""
        if not self._unconfirmed:
            return
        try:
            self._connected().confirm()
        except Exception:
            self._hang_up()
            failed, self._unconfirmed = self._unconfirmed, ()
            self._repeat(failed)

    def _run_all(self, connection: _Connection, wanted: Sequence[_Queued]) -> None:
        """Run a group in one transaction without savepoints, for which SQLite copies every page it changes.

        Nearly all work succeeds or is refused before it writes. Otherwise, the group is rolled back and runs again with
        savepoints: all work can be repeated.
        """
        changes = connection.changes
        answers: _Answers = []
        postponed: set[int] = set()
        works = [work for work, _ in wanted]
        with connection.writing(), closing(connection.in_turn(works, postponed)) as turns:
            for number, run in turns:
                future, before = wanted[number][1], changes()
                try:
                    answers.append(partial(future.set_result, run()))
                except Refusal as refusal:
                    if changes() != before:
                        raise
                    answers.append(partial(future.set_exception, refusal))
            connection.confirm()
            self._postponed = [wanted[number] for number in sorted(postponed)]
            self._unconfirmed = [queued for number, queued in enumerate(wanted) if number not in postponed]
            connection.send_commit(partial(self._answer, answers))

    def _answer(self, answers: _Answers) -> None:
        """Complete the futures of a group, which is on disk."""
        self._unconfirmed = ()
        for answer in answers:
            answer()

    def _repeat(self, wanted: Sequence[_Queued]) -> None:
        """Run a group again, and wait for its commit."""
        if not wanted:
            return
        try:
            answers = _persisting(lambda: self._commit_in_savepoints(wanted))
        except Exception as error:  # a failed commit fails the whole group
            for _, future in wanted:
                future.set_exception(explained(error, self._engine.url))
            return
        self._answer(answers)

    def _commit_in_savepoints(self, wanted: Sequence[_Queued]) -> _Answers:
        """Run a group so that a piece that fails is undone alone."""
        connection = self._connected()
        try:
            with connection.writing():
                return [_answer_in_savepoint(connection, work, future) for work, future in wanted]
        except Exception:
            # A failure such as a full disk may have left this connection in any state, so the next group gets a new
            # one.
            self._hang_up()
            raise

    def _connected(self) -> _Connection:
        connection = self._connection = self._connection or connection_of(self._engine)
        return connection

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
                connection.close()


def _answer_in_savepoint(connection: _Connection, work: Work[Any], future: Future[Any]) -> Callable[[], None]:
    """Run work; returns a function that completes its future."""
    try:
        with connection.savepoint():
            return partial(future.set_result, work(connection))
    except Exception as error:
        if _is_of_the_moment(error):
            raise
        return partial(future.set_exception, explained(error, connection.engine.url))


def _persisting(run: Callable[[], T]) -> T:
    """Run a function, and repeat it after a deadlock or a lost connection.

    After a lost connection, it is unknown whether the commit succeeded. All work in `engine` can be repeated: a second
    submission finds the first, and a second request for an item returns the one already held.
    """
    for pause in PAUSES:
        try:
            return run()
        except DBAPIError as error:
            if not _is_of_the_moment(error):
                raise
        time.sleep(pause)
    return run()


def _is_of_the_moment(error: Exception) -> bool:
    """Whether a failure is transient."""
    if not isinstance(error, DBAPIError):
        return False
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) in _OF_THE_MOMENT


class Store:
    """A study's database: `write` and `read` run work in a transaction and return a future."""

    def __init__(self, writer: _Writer, engine: Engine) -> None:
        self._writer = writer
        self._engine = engine
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="chorale-reader")
        self.dialect = engine.dialect.name

    @property
    def address(self) -> URL:
        """The database's address."""
        return self._engine.url

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
        self._engine.dispose()

    def scrub(self, of_kits: Sequence[KitTables] = ()) -> None:
        """Overwrite erased data, also in space that SQLite or PostgreSQL has only marked as free."""
        rewritten = {*REWRITTEN, *(table.name for tables in of_kits for table in tables.identities)}
        freed = {*FREED, *(name for tables in of_kits for name in tables.metadata.tables)} - rewritten
        with closing(connection_of(self._engine)) as connection:
            if isinstance(connection, SqliteConnection):
                for statement in ("PRAGMA secure_delete = ON", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    connection.driver.execute(statement).fetchall()
                connection.invalidate()
            else:
                connection.driver.ask(f"VACUUM FULL {', '.join(sorted(rewritten))}")
                connection.driver.ask(f"VACUUM {', '.join(sorted(freed))}")

    def _run_read(self, work: Work[T]) -> T:
        try:
            return _persisting(lambda: self._look(work))
        except (apsw.Error, SQLAlchemyError) as error:
            raise_explained(error, self._engine.url)

    def _look(self, work: Work[T]) -> T:
        with closing(connection_of(self._engine)) as connection, connection.reading():
            return work(connection)


def savepoint(tx: Connection) -> AbstractContextManager[None]:
    """A savepoint: a failure in the block is undone alone, and the transaction continues, also on PostgreSQL."""
    made: AbstractContextManager[None] = getattr(tx, "savepoint", nullcontext)()
    return made


def connect(url: URL) -> Store:
    """A store on a database that has the current schema (see `opening`)."""
    engine = engine_of(url)
    return Store(GroupCommitWriter(engine), engine)


def engine_of(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return sqlite_engine(Path(str(url.database)))
    from chorale.store.postgres import postgres_engine  # noqa: PLC0415 - its driver is an extra

    return postgres_engine(url, pool_timeout=POOL_SECONDS)


def connection_of(engine: Engine) -> "SqliteConnection | PostgresConnection":
    if engine.dialect.name == "sqlite":
        return SqliteConnection(engine)
    from chorale.store.postgres import PostgresConnection  # noqa: PLC0415

    return PostgresConnection(engine)
