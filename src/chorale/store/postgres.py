"""PostgreSQL: the driver, connection and transaction of everything that reads and writes there.

Prepared statements go to libpq as they are: SQLAlchemy and a cursor of psycopg take several times as long for one as
the server does, and an answer is a dozen of them. A statement whose result nobody reads is not waited for. It is sent
together with the next one that is (libpq calls this a pipeline), or with the commit.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from select import POLLIN, POLLOUT, poll
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from chorale.store.failing import leave_out_values, leave_out_values_sent
from chorale.store.locks import Alone
from chorale.store.prepared import Asked, Scope
from chorale.store.reading_ahead import ChangedRows, ReadingAhead, in_turn

CONNECT_SECONDS = 5
"""How long a server that does not answer is waited for."""
_MOST_OWED = 200
"""How many statements are sent before anybody looks at what became of them."""
_FAILED = frozenset({ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE})
_FORMATS = [[PyFormat.TEXT] * values for values in range(64)]
"""How values are sent: as text. Of what type each is, is written in the statement."""
# A connection that holds the lock of all writers and stays silent belongs to a process that was stopped, or to a
# machine that is gone.
_OPTIONS = "-c idle_in_transaction_session_timeout=60s -c jit=off"
_BEGIN, _BEGIN_READING = "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TAKE_TURN = f"SELECT pg_advisory_xact_lock({int(Alone.WRITES)})"
_LAST_NUMBER = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1::text, 'id')), 0)"
_TELL_NUMBER = "SELECT setval(pg_get_serial_sequence($1::text, 'id'), $2::bigint)"


class PostgresDriver(psycopg.Connection[Any]):
    """psycopg's connection, with what prepared statements ask of one. Used by one thread at a time."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._names: dict[str, bytes] = {}
        self._numbers = count()
        self._owed: list[str] = []
        """What was sent and not waited for."""
        self._new: list[str] = []
        """Which of it the server is to prepare first, which it does not if anything before has failed."""
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
        self._send(sql, values)
        if len(self._owed) > _MOST_OWED:
            self.settle()

    def ask(self, sql: str, values: Sequence[Any] = ()) -> PGresult:
        """Run a statement, and wait for it and for what was sent before it."""
        name = self._names.get(sql)
        if self._owed or name is None:
            self._send(sql, values)
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
            self._send(sql, values)
        results = [result for result in self._settled() if result.status == ExecStatus.TUPLES_OK]
        return [self._rows(result) for result in results[-len(asked) :]]

    def settle(self) -> None:
        """Wait for what was sent."""
        if self._owed:
            self._settled()

    def _rows(self, result: PGresult) -> list[Any]:
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def _settled(self) -> list[PGresult]:
        """The results of what was sent, which is waited for."""
        owed, self._owed = self._owed, []
        new, self._new = self._new, []
        try:
            results = self._results()
        except psycopg.Error as error:
            raise self._wrapped(error, None) from error
        for sql, result in zip(owed, results, strict=False):
            if result.status in _FAILED:
                for unsure in new:
                    del self._names[unsure]
                raise self._failure(result, sql)
        return results

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

    def _send(self, sql: str, values: Sequence[Any]) -> None:
        server, owed = self.pgconn, self._owed
        name = self._names.get(sql)
        try:
            dumped = self._values.dump_sequence(values, _FORMATS[len(values)])
            if not owed:
                server.enter_pipeline_mode()
            if name is None:
                name = self._names[sql] = b"chorale_%d" % next(self._numbers)
                self._new.append(sql)
                owed.append(sql)
                server.send_prepare(name, sql.encode())
            owed.append(sql)
            server.send_query_prepared(name, dumped)
        except psycopg.Error as error:
            raise self._wrapped(error, sql) from error

    def _results(self) -> list[PGresult]:
        """What became of everything that was sent. Waits for the server, and lets other threads run meanwhile."""
        server = self.pgconn
        server.pipeline_sync()
        while server.flush():
            self._poll.modify(server.socket, POLLIN | POLLOUT)
            self._poll.poll()
            self._poll.modify(server.socket, POLLIN)
            server.consume_input()
        results: list[PGresult] = []
        while True:
            while server.is_busy():
                self._poll.poll()
                server.consume_input()
            result = server.get_result()
            if result is None:
                if server.status != ConnStatus.OK:
                    return results
            elif result.status == ExecStatus.PIPELINE_SYNC:
                server.exit_pipeline_mode()
                return results
            else:
                results.append(result)

    def _failure(self, result: PGresult, sql: str) -> Exception:
        return self._wrapped(error_from_result(result, self.info.encoding), sql)

    def _wrapped(self, error: Exception, sql: str | None) -> Exception:
        """An error as SQLAlchemy names it, without what was sent: nobody's answers belong in a log."""
        leave_out_values(error)
        lost = self.pgconn.status != ConnStatus.OK
        wrapped: Any = DBAPIError.instance(sql, None, error, psycopg.Error, connection_invalidated=lost)
        return Exception(str(error)) if wrapped is None else wrapped


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine whose connections begin and end no transactions automatically: `PostgresConnection` does."""
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        # Else an INSERT that met a row has changed -1 rows, which is as true as 1: psycopg forgets it with the cursor.
        execution_options={"preserve_rowcount": True},
        connect_args={"connect_timeout": CONNECT_SECONDS},
        **options,
    )
    event.listen(engine, "handle_error", leave_out_values_sent)

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, given: Sequence[Any], named: dict[str, Any]) -> PostgresDriver:
        return PostgresDriver.connect(*given, **{**named, "options": f"{named.get('options', '')} {_OPTIONS}"})

    @event.listens_for(engine, "before_execute")
    def _await_turn(connection: Any, *_more: Any) -> None:
        connection.await_turn()

    @event.listens_for(engine, "before_cursor_execute")
    def _note(connection: Any, _cursor: Any, sql: str, *_more: Any) -> None:
        # Some cursors of psycopg look at the state of their connection before they go through `Driver.wait`.
        connection.catch_up()
        verb = sql.split(maxsplit=1)[0].upper()
        if verb != "SELECT":
            connection.note_change()
        if verb in ("ALTER", "DROP"):
            # psycopg then has the server forget every prepared statement, ours too.
            connection.driver.forget_prepared()

    return engine


class PostgresConnection(Connection):
    """Hands prepared statements to the server as they are, and begins and ends its transactions."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver: PostgresDriver = driver
        self.changed = 0
        self.ahead: ReadingAhead | None = None
        """There while work of a group reads ahead."""
        self.changes_noted = ChangedRows()
        self.known: dict[tuple[str, Sequence[Any]], Sequence[Any]] = {}
        """What the work under way has read ahead and may read again, until it changes something."""
        self._last: dict[str, int] = {}
        """The last number of a row of a table, where that is known."""
        self._given: set[str] = set()
        """The tables of which the server has not heard of it."""
        self._numbered: set[str] = set()
        """The tables whose rows have got numbers here before."""
        # For SQLAlchemy there is one transaction, which never ends: it would begin one for every statement otherwise.
        self.begin()

    def changes(self) -> int:
        """How many statements were run that may have changed something."""
        return self.changed

    def in_turn(self, works: Sequence[Callable[[Any], Any]]) -> Generator[Callable[[], Any]]:
        """For each piece of work of a group, what does it; all of them read first what they need."""
        return in_turn(self, works)

    def change(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        """Run a statement whose result nobody reads."""
        self._begin_change(scope, parameters)
        self.driver.change(sql, values)

    def count_changed(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> int:
        """Run a statement; how many rows it has changed."""
        self._begin_change(scope, parameters)
        return self.driver.ask(sql, values).command_tuples or 0

    def first(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> Any:
        """The first row, None if there is none."""
        if self.ahead is None or (found := self.ahead.rows([(sql, values, scope, parameters)])) is None:
            if (rows := self.known.get((sql, values))) is None:
                return self.driver.first(sql, values)
        else:
            [rows] = found
        return rows[0] if rows else None

    def together(self, asked: Sequence[Asked]) -> Sequence[Sequence[Any]]:
        """All rows of several statements."""
        if self.ahead is not None and (found := self.ahead.rows(asked)) is not None:
            return found
        if self.known and all(one[:2] in self.known for one in asked):
            return [self.known[one[:2]] for one in asked]
        if len(asked) == 1:
            return [self.driver.all(*asked[0][:2])]
        return self.driver.together([one[:2] for one in asked])

    def _begin_change(self, scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        self.await_turn()
        self.note_change(scope, parameters)

    def note_change(self, scope: Scope | None = None, parameters: Mapping[str, Any] | None = None) -> None:
        """Note that something changes: all there is, if no scope says what."""
        self.changed += 1
        self.known = {}
        self.changes_noted.note(scope, parameters or {})

    def await_turn(self) -> None:
        """Let work that reads ahead wait until it may do more than that."""
        if self.ahead is not None:
            self.ahead.wait_for_turn()

    def catch_up(self) -> None:
        """Leave nothing under way, for others who use the connection."""
        self.await_turn()
        self._tell_numbers()
        self.driver.settle()

    def settle(self) -> None:
        """Wait for all that was sent, and fail if any of it did."""
        self.catch_up()
        if self.driver.pgconn.transaction_status == TransactionStatus.INERROR:
            # Whoever ran it went on. The server undoes everything, and calls the commit of that a success.
            raise RuntimeError("a statement failed, and the work it belongs to did not")

    def next_number(self, table: str) -> int:
        """The number of the next row of a table. Nobody else gives it to another: one at a time writes."""
        self.await_turn()
        if table not in self._last:
            self._last[table] = self.driver.first(_LAST_NUMBER, (table,))[0]
        self._last[table] += 1
        self._given.add(table)
        self._numbered.add(table)
        return self._last[table]

    def with_numbers(self, asked: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Any]]:
        """All rows of several statements at the beginning of a group, and the last numbers of tables on the way."""
        tables = list(self._numbered)
        found = self.driver.together([*asked, *((_LAST_NUMBER, (table,)) for table in tables)])
        self._last = {table: rows[0][0] for table, rows in zip(tables, found[len(asked) :], strict=True)}
        return found[: len(asked)]

    def _tell_numbers(self) -> None:
        for table in self._given:
            self.driver.change(_TELL_NUMBER, (table, self._last[table]))
        self._forget_numbers()

    def _forget_numbers(self) -> None:
        self._last.clear()
        self._given.clear()

    @contextmanager
    def writing(self) -> Iterator["PostgresConnection"]:
        """Commit what is done in it, or undo all of it. One at a time writes, in all processes together.

        Work in a group takes the locks of rows in the order it happens to be in. Groups of two processes would wait
        for each other in circles, until the server ends one of them a second later.
        """
        self.driver.change(_BEGIN)
        self.driver.change(_TAKE_TURN)
        with self._ended():
            yield self

    @contextmanager
    def reading(self) -> Iterator["PostgresConnection"]:
        """See everything as it is at one moment."""
        self.driver.change(_BEGIN_READING)
        with self._ended():
            yield self

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Keep what is done in it, or undo that alone."""
        driver = self.driver
        driver.change("SAVEPOINT work")
        try:
            yield
            driver.ask("RELEASE work")
        except BaseException:
            driver.undo("ROLLBACK TO work")
            raise

    @contextmanager
    def _ended(self) -> Iterator[None]:
        driver = self.driver
        try:
            yield
            self._tell_numbers()
            done = driver.ask("COMMIT").command_status
            if done != b"COMMIT":
                raise RuntimeError(f"what was to be committed was undone: {done!r}")
        except BaseException:
            self._forget_numbers()
            with suppress(DBAPIError):
                driver.undo("ROLLBACK")
            raise
