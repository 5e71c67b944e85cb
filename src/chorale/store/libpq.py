"""The driver for PostgreSQL: prepared statements go to libpq as they are.

SQLAlchemy and a cursor of psycopg take several times as long for one as the server does, and an answer is a dozen of
them. Statements are sent without waiting (libpq calls this a pipeline), and the server works on them meanwhile.
"""

from collections import deque
from collections.abc import Sequence
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
"""How many statements are sent before anybody looks at what became of them."""
_AT_ONCE = 16
"""How many statements are collected before the server is to begin with them."""
_FAILED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE})
_FORMATS = [[PyFormat.TEXT] * values for values in range(64)]
"""How values are sent: as text. Of what type each is, is written in the statement."""


class _Kind(Enum):
    """What is sent."""

    PREPARING = auto()
    CHANGE = auto()
    READ = auto()


class PostgresDriver(psycopg.Connection[Any]):
    """psycopg's connection, with what prepared statements ask of one. Used by one thread at a time."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._names: dict[str, bytes] = {}
        self._numbers = count()
        self._owed: deque[tuple[str, _Kind]] = deque()
        """What was sent, and whose result nobody has looked at."""
        self._piping = False
        self._syncs = 0
        """How many ends of what was sent the server was told of and has not come to."""
        self._unsaid = 0
        """How many statements the server may not have got."""
        self._values = Transformer(self)
        self._poll = poll()
        self._poll.register(self.pgconn.socket, POLLIN)

    def wait(self, *given: Any, **options: Any) -> Any:
        # Everything psycopg itself does with a connection goes through here, and must not meet what is under way.
        self.settle()
        return super().wait(*given, **options)

    def forget_prepared(self) -> None:
        """Prepare every statement again when it is next run."""
        self._names.clear()

    def change(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Send a statement whose result nobody reads. If it fails, whatever is waited for next fails in its place."""
        self._send(sql, values, _Kind.CHANGE)
        if len(self._owed) > _MOST_OWED:
            self.settle()

    def ask(self, sql: str, values: Sequence[Any] = ()) -> PGresult:
        """Run a statement, and wait for it and for what was sent before it."""
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
        """All rows of several statements, for which the server is asked once."""
        for sql, values in asked:
            self._send(sql, values, _Kind.READ)
        return [self._rows(result) for result in self._settled()[-len(asked) :]]

    def send(self, sql: str, values: Sequence[Any]) -> None:
        """Send a statement in a transaction whose rows somebody receives later."""
        self._send(sql, values, _Kind.READ)

    def begin(self) -> None:
        """Have the server begin with what was sent. It works on that while the next statements are found out."""
        if self._unsaid:
            try:
                self._say()
            except psycopg.Error as error:
                raise self._lost(error) from error

    def receive(self) -> list[Any]:
        """All rows of the first of those that were sent to be received."""
        try:
            kind, result = self._next()
            while kind is not _Kind.READ:
                kind, result = self._next()
        except psycopg.Error as error:
            raise self._lost(error) from error
        return self._rows(result)

    def settle(self) -> None:
        """Wait for what was sent."""
        if self._piping:
            self._settled()

    def undo(self, sql: str) -> None:
        """Roll back, whatever is under way and whatever became of it."""
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
                # It works on them while the next ones are found out.
                self._say()
        except psycopg.Error as error:
            raise self._wrapped(error, sql) from error

    def _say(self) -> None:
        """Have the server begin with what was sent, and tell what became of it."""
        self.pgconn.send_flush_request()
        self.pgconn.flush()
        self._unsaid = 0

    def _settled(self) -> list[PGresult]:
        """The results of what was sent and nobody has looked at, which is waited for."""
        try:
            self._sync()
            received = [self._next() for _ in range(len(self._owed))]
            self._leave()
        except psycopg.Error as error:
            raise self._lost(error) from error
        return [result for kind, result in received if kind is not _Kind.PREPARING]

    def _next(self) -> tuple[_Kind, PGresult]:
        """The next result of what was sent."""
        result = self._result()
        if result.status in _FAILED:
            sql, _ = self._owed[0]
            with suppress(psycopg.Error):
                self._sync()
                self._leave()
            self._forget()
            raise self._failure(result, sql)
        return self._owed.popleft()[1], result

    def _lost(self, error: psycopg.Error) -> Exception:
        """An error of a connection on which nothing is under way any more."""
        self._forget()
        return self._wrapped(error, None)

    def _sync(self) -> None:
        self.pgconn.pipeline_sync()
        self._syncs += 1
        self._unsaid = 0

    def _leave(self) -> None:
        """Leave out what is under way, and end the pipeline."""
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
        self._piping, self._syncs, self._unsaid = False, 0, 0

    def _result(self) -> PGresult:
        """What libpq has next. Waits for the server, and lets other threads run meanwhile."""
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
        """An error as SQLAlchemy names it, without what was sent: nobody's answers belong in a log."""
        leave_out_values(error)
        lost = self.pgconn.status != ConnStatus.OK
        wrapped: Any = DBAPIError.instance(sql, None, error, psycopg.Error, connection_invalidated=lost)
        return Exception(str(error)) if wrapped is None else wrapped
