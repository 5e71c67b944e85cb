"""PostgreSQL: connections and transactions."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from chorale.store.failing import leave_out_values_sent
from chorale.store.fusing import Fusing
from chorale.store.libpq import PostgresDriver
from chorale.store.locks import Alone
from chorale.store.prepared import Asked, Scope
from chorale.store.reading_ahead import ChangedRows, ReadingAhead, in_turn

CONNECT_SECONDS = 5
"""Time-out for connecting to a server."""
# A silent connection that holds the writers' lock belongs to a stopped process or a lost machine.
_OPTIONS = "-c idle_in_transaction_session_timeout=60s -c jit=off"
_BEGIN, _BEGIN_READING = "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TAKE_TURN = f"SELECT pg_advisory_xact_lock({int(Alone.WRITES)})"
_LAST_NUMBER = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1::text, 'id')), 0)"
_TELL_NUMBER = "SELECT setval(pg_get_serial_sequence($1::text, 'id'), $2::bigint)"


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine without automatic transactions: `PostgresConnection` starts and ends them."""
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        # Otherwise, an INSERT that conflicts reports -1 changed rows, which is truthy: psycopg loses the count with the
        # cursor.
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
        # Some cursors of psycopg check the connection's state before they call `PostgresDriver.wait`.
        connection.catch_up()
        verb = sql.split(maxsplit=1)[0].upper()
        if verb != "SELECT":
            connection.note_change()
        if verb in ("ALTER", "DROP"):
            # psycopg then deallocates all prepared statements, including ours.
            connection.driver.forget_prepared()

    return engine


class PostgresConnection(Connection):
    """Passes prepared statements directly to the server, and manages its transactions."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        driver: Any = self.connection.driver_connection
        self.driver: PostgresDriver = driver
        self.changed = 0
        self.ahead: ReadingAhead | None = None
        """Set while work of a group reads ahead."""
        self.changes_noted = ChangedRows()
        self._unsent = Fusing()
        self._is_committed = False
        self.usual_places: dict[int, int] = {}
        """By stage: the number of places of an untouched item, as seen in earlier searches."""
        self._last: dict[str, int] = {}
        """The last row number by table, if known."""
        self._given: set[str] = set()
        """The tables whose sequence on the server is not updated yet."""
        self._numbered: set[str] = set()
        """The tables whose rows have been numbered here before."""
        # SQLAlchemy sees one endless transaction; otherwise it would start one for every statement.
        self.begin()

    def changes(self) -> int:
        """Number of statements that may have changed something."""
        return self.changed

    def in_turn(
        self, works: Sequence[Callable[[Any], Any]], postponed: set[int]
    ) -> Generator[tuple[int, Callable[[], Any]]]:
        """The number and function of each piece of work in a group, after all of them have read ahead.

        The numbers of pieces that the next group should begin with are added to `postponed` instead.
        """
        with closing(in_turn(self, works, postponed)) as turns:
            for turn in turns:
                yield turn
                self._send_changes()

    def change(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        """Run a statement without reading its result."""
        self._begin_change(scope, parameters)
        if not self._unsent.takes(sql, values):
            self._send_changes()
            if not self._unsent.takes(sql, values):
                self.driver.change(sql, values)

    def count_changed(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> int:
        """Run a statement; returns the number of changed rows."""
        self._begin_change(scope, parameters)
        self._send_changes()
        return self.driver.ask(sql, values).command_tuples or 0

    def first(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> Any:
        """The first row, None if there is none."""
        if self.ahead is None or (read := self.ahead.rows([(sql, values, scope, parameters)])) is None:
            self._send_changes()
            return self.driver.first(sql, values)
        [rows] = read
        return rows[0] if rows else None

    def first_free(self, stage_id: int, scope: Scope, asked: Callable[[int], Asked]) -> Any:
        """The first row with a place that earlier work of the group leaves free; None if there is none.

        `asked` takes a maximum number of rows, and returns the stage's search with this limit.
        """
        if self.ahead is not None:
            return self.ahead.first_free(stage_id, scope, asked)
        self._send_changes()
        return self.driver.first(*asked(1)[:2])

    def tolerate_judgments(self, item_id: int, most: int) -> None:
        """Let rows that were read ahead stay valid after up to this number of further judgments of an item."""
        if self.ahead is not None:
            self.ahead.running.tolerate_judgments(item_id, most)

    def together(self, asked: Sequence[Asked]) -> Sequence[Sequence[Any]]:
        """All rows of several statements."""
        if self.ahead is not None and (rows := self.ahead.rows(asked)) is not None:
            return rows
        self._send_changes()
        if len(asked) == 1:
            return [self.driver.all(*asked[0][:2])]
        return self.driver.together([one[:2] for one in asked])

    def _begin_change(self, scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        self.await_turn()
        self.note_change(scope, parameters)

    def note_change(self, scope: Scope | None = None, parameters: Mapping[str, Any] | None = None) -> None:
        """Record a change: of all rows, if there is no scope."""
        self.changed += 1
        self.changes_noted.note(scope, parameters or {})

    def await_turn(self) -> None:
        """Make work that reads ahead wait for its turn to write."""
        if self.ahead is not None:
            self.ahead.wait_for_turn()

    def catch_up(self) -> None:
        """Complete all pending statements, for other users of the connection."""
        self.await_turn()
        self._send_changes()
        self._tell_numbers()
        self.driver.settle()

    def _send_changes(self) -> None:
        if (fused := self._unsent.take_out()) is not None:
            self.driver.change(*fused)

    def send_commit(self, committed: Callable[[], None]) -> None:
        """Send the commit without waiting. `committed` is called later, by `confirm` at the latest."""
        self.await_turn()
        self._send_changes()
        self._tell_numbers()
        self.driver.send_commit(committed)
        self._is_committed = True

    def confirm(self) -> None:
        """Wait for the commit that was sent; fails if a statement of its transaction failed."""
        self.driver.confirm()

    def next_number(self, table: str) -> int:
        """The number of the next row of a table, unique because only one process writes at a time."""
        self.await_turn()
        if table not in self._last:
            self._last[table] = self.driver.first(_LAST_NUMBER, (table,))[0]
        self._last[table] += 1
        self._given.add(table)
        self._numbered.add(table)
        return self._last[table]

    def ask_numbers(self) -> Callable[[], None]:
        """Request the last row numbers of tables that were numbered before; returns functions that receive them."""
        tables = [table for table in self._numbered if table not in self._last]
        for table in tables:
            self.driver.send(_LAST_NUMBER, (table,))

        def receive() -> None:
            self._last |= {table: self.driver.receive()[0][0] for table in tables}

        return receive

    def _tell_numbers(self) -> None:
        for table in self._given:
            self.driver.change(_TELL_NUMBER, (table, self._last[table]))
        self._forget_numbers()

    def _forget_numbers(self) -> None:
        self._last.clear()
        self._given.clear()

    @contextmanager
    def writing(self) -> Iterator["PostgresConnection"]:
        """A write transaction.

        Only one runs at a time, across all processes. Work in a group locks rows in arbitrary order, so groups of two
        processes would deadlock until the server ends one of them a second later.
        """
        self.driver.change(_BEGIN)
        self.driver.change(_TAKE_TURN)
        with self._ended():
            yield self

    @contextmanager
    def reading(self) -> Iterator["PostgresConnection"]:
        """A read transaction with a consistent snapshot."""
        self.driver.change(_BEGIN_READING)
        with self._ended():
            yield self

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A savepoint: a failure in the block is undone alone."""
        driver = self.driver
        self._send_changes()
        driver.change("SAVEPOINT work")
        try:
            yield
            self._send_changes()
            driver.ask("RELEASE work")
        except BaseException:
            self._unsent.clear()
            driver.undo("ROLLBACK TO work")
            raise

    @contextmanager
    def _ended(self) -> Iterator[None]:
        driver = self.driver
        try:
            yield
            if not self._is_committed:
                self.send_commit(_nothing)
                self.confirm()
        except BaseException:
            self._unsent.clear()
            self._forget_numbers()
            with suppress(DBAPIError):
                driver.undo("ROLLBACK")
            raise
        finally:
            self._is_committed = False


def _nothing() -> None:
    """The callback of a commit, if no other code needs to know that it is done."""
