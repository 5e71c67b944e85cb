"""The driver for PostgreSQL, which passes prepared statements directly to libpq.

SQLAlchemy with a psycopg cursor takes several times as long per statement as the server, and an answer needs a dozen.
Statements are sent in libpq's pipeline mode, without waiting for their results.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from itertools import count
from select import POLLIN, POLLOUT, poll
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from sqlalchemy.exc import DBAPIError

from chorale.store.failing import leave_out_values

_MOST_OWED = 1_000
"""Maximum number of statements sent before their results are read."""
_AT_ONCE = 6
"""Number of statements collected before they are flushed to the server."""
_FAILED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE})
_FORMATS = [[PyFormat.TEXT] * values for values in range(64)]
"""Values are sent as text; the statement declares their types."""


class _Kind(Enum):
    """The kind of a sent message."""

    PREPARING = auto()
    CHANGE = auto()
    READ = auto()
    COMMIT = auto()
    """A commit and the sync point after it."""


class PostgresDriver(psycopg.Connection[Any]):
    """psycopg's connection with support for prepared statements. Used by one thread at a time."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._names: dict[str, bytes] = {}
        self._numbers = count()
        self._owed: deque[tuple[str, _Kind]] = deque()
        """Sent messages whose results have not been read."""
        self._piping = False
        self._committed: Callable[[], None] | None = None
        """Called when the result of the pending commit is received."""
        self._syncs = 0
        """Number of sync points sent to the server and not reached yet."""
        self._unsaid = 0
        """Number of statements that may not have been flushed to the server."""
        self._values = Transformer(self)
        self._poll = poll()
        self._poll.register(self.pgconn.socket, POLLIN)

    def wait(self, *given: Any, **options: Any) -> Any:
        # All of psycopg's own operations go through here, and must not interfere with pending statements.
        self.settle()
        return super().wait(*given, **options)

    def forget_prepared(self) -> None:
        """Prepare every statement again when it is next run."""
        self._names.clear()

    def change(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Send a statement without reading its result. If it fails, the next statement that waits fails instead."""
        self._send(sql, values, _Kind.CHANGE)
        if len(self._owed) > _MOST_OWED:
            self.settle()

    def send_commit(self, committed: Callable[[], None]) -> None:
        """Send a commit without waiting, so that the next transaction can begin. `committed` is called when it is done.

        If a statement of the transaction fails, the server skips the commit, and the next statement that waits fails.
        """
        self._send("COMMIT", (), _Kind.COMMIT)
        self._committed = committed
        try:
            self._sync()
        except psycopg.Error as error:
            raise self._lost(error) from error

    def confirm(self) -> None:
        """Wait for the pending commit."""
        try:
            while self._committed is not None:
                self._next()
            if self._piping and not self._owed:
                self._leave()
        except psycopg.Error as error:
            raise self._lost(error) from error

    def ask(self, sql: str, values: Sequence[Any] = ()) -> PGresult:
        """Run a statement, and wait for it and all earlier ones."""
        name = self._names.get(sql)
        if self._piping or name is None:
            self._send(sql, values, _Kind.READ)
            return self._settled()[-1]
        try:
            dumped: Any = self._values.dump_sequence(values, _FORMATS[len(values)])
            result = self.pgconn.exec_prepared(name, dumped)
        except psycopg.Error as error:
            raise self._wrapped(error, sql) from error
        if result.status in _FAILED:
            raise self._failure(result, sql)
        return result

    def first(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row, None if there is none."""
        result = self.ask(sql, values)
        if not result.ntuples:
            return None
        self._values.set_pgresult(result)
        return self._values.load_row(0, tuple)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._rows(self.ask(sql, values))

    def together(self, asked: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Any]]:
        """All rows of several statements, in one round trip."""
        for sql, values in asked:
            self._send(sql, values, _Kind.READ)
        return [self._rows(result) for result in self._settled()[-len(asked) :]]

    def send(self, sql: str, values: Sequence[Any]) -> None:
        """Send a statement in a transaction; its rows are received later."""
        self._send(sql, values, _Kind.READ)

    def begin(self) -> None:
        """Flush the sent statements, so that the server runs them while the next ones are prepared."""
        if self._unsaid:
            try:
                self._say()
            except psycopg.Error as error:
                raise self._lost(error) from error

    def receive(self) -> list[Any]:
        """All rows of the first statement that was sent with `send`."""
        try:
            kind, result = self._next()
            while kind is not _Kind.READ:
                kind, result = self._next()
        except psycopg.Error as error:
            raise self._lost(error) from error
        return self._rows(result)

    def settle(self) -> None:
        """Wait for all sent statements."""
        if self._piping:
            self._settled()

    def undo(self, sql: str) -> None:
        """Roll back, whatever is pending or has failed."""
        with suppress(DBAPIError):
            self.settle()
        try:
            result = self.pgconn.exec_(sql.encode())
        except psycopg.Error as error:
            raise self._wrapped(error, sql) from error
        if result.status in _FAILED:
            raise self._failure(result, sql)

    def _rows(self, result: PGresult) -> list[Any]:
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def _send(self, sql: str, values: Sequence[Any], kind: _Kind) -> None:
        server = self.pgconn
        name = self._names.get(sql)
        try:
            dumped = self._values.dump_sequence(values, _FORMATS[len(values)])
            if not self._piping:
                server.enter_pipeline_mode()
                self._piping = True
            if name is None:
                name = self._names[sql] = b"chorale_%d" % next(self._numbers)
                self._owed.append((sql, _Kind.PREPARING))
                server.send_prepare(name, sql.encode())
            self._owed.append((sql, kind))
            server.send_query_prepared(name, dumped)
            self._unsaid += 1
            if self._unsaid >= _AT_ONCE:
                # The server works on them while the next ones are prepared.
                self._say()
        except psycopg.Error as error:
            raise self._wrapped(error, sql) from error

    def _say(self) -> None:
        """Flush the sent statements with a sync point."""
        self.pgconn.send_flush_request()
        self.pgconn.flush()
        self._unsaid = 0

    def _settled(self) -> list[PGresult]:
        """Wait for the results of all pending messages."""
        try:
            self._sync()
            received = []
            while self._owed:
                received.append(self._next())
            self._leave()
        except psycopg.Error as error:
            raise self._lost(error) from error
        return [result for kind, result in received if kind is not _Kind.PREPARING]

    def _next(self) -> tuple[_Kind, PGresult]:
        """The next result."""
        result = self._result()
        if result.status in _FAILED:
            sql, _ = self._owed[0]
            with suppress(psycopg.Error):
                self._sync()
                self._leave()
            self._forget()
            raise self._failure(result, sql)
        _, kind = self._owed.popleft()
        if kind is _Kind.COMMIT:
            self._end_transaction(result)
        return kind, result

    def _end_transaction(self, commit: PGresult) -> None:
        """Receive the sync point after a commit, and call back."""
        self._result()
        self._syncs -= 1
        if commit.command_status != b"COMMIT":
            # The caller has continued after an error. The server rolls back, but reports the commit as successful.
            raise RuntimeError(f"the transaction was rolled back instead of committed: {commit.command_status!r}")
        committed, self._committed = self._committed, None
        if committed is not None:
            committed()

    def _lost(self, error: psycopg.Error) -> Exception:
        """The error for a lost connection, with no pending messages."""
        self._forget()
        return self._wrapped(error, None)

    def _sync(self) -> None:
        self.pgconn.pipeline_sync()
        self._syncs += 1
        self._unsaid = 0

    def _leave(self) -> None:
        """Discard pending results, and end the pipeline."""
        while self._syncs:
            if self._result().status == ExecStatus.PIPELINE_SYNC:
                self._syncs -= 1
        self.pgconn.exit_pipeline_mode()
        self._forget()

    def _forget(self) -> None:
        for sql, kind in self._owed:
            if kind is _Kind.PREPARING:
                self._names.pop(sql, None)
        self._owed.clear()
        self._committed = None
        self._piping, self._syncs, self._unsaid = False, 0, 0

    def _result(self) -> PGresult:
        """libpq's next result. Waits for the server without blocking other threads."""
        server = self.pgconn
        while True:
            while server.is_busy():
                if self._unsaid:
                    self._say()
                self._poll.modify(server.socket, POLLIN | POLLOUT if server.flush() else POLLIN)
                self._poll.poll()
                server.consume_input()
            result = server.get_result()
            if result is not None:
                return result
            if server.status != ConnStatus.OK:
                raise psycopg.OperationalError("the connection is lost")

    def _failure(self, result: PGresult, sql: str) -> Exception:
        return self._wrapped(error_from_result(result, self.info.encoding), sql)

    def _wrapped(self, error: Exception, sql: str | None) -> Exception:
        """An error as SQLAlchemy's type, without the values sent: answers do not belong in a log."""
        leave_out_values(error)
        lost = self.pgconn.status != ConnStatus.OK
        wrapped: Any = DBAPIError.instance(sql, None, error, psycopg.Error, connection_invalidated=lost)
        return Exception(str(error)) if wrapped is None else wrapped
