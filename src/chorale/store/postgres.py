"""PostgreSQL: the connection and transaction of everything that reads and writes there."""

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
"""How long a server that does not answer is waited for."""
# A connection that holds the lock of all writers and stays silent belongs to a process that was stopped, or to a
# machine that is gone.
_OPTIONS = "-c idle_in_transaction_session_timeout=60s -c jit=off"
_BEGIN, _BEGIN_READING = "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TAKE_TURN = f"SELECT pg_advisory_xact_lock({int(Alone.WRITES)})"
_LAST_NUMBER = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1::text, 'id')), 0)"
_TELL_NUMBER = "SELECT setval(pg_get_serial_sequence($1::text, 'id'), $2::bigint)"


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
        # Some cursors of psycopg look at the state of their connection before they go through `PostgresDriver.wait`.
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
        self._unsent = Fusing()
        self._is_committed = False
        self.usual_places: dict[int, int] = {}
        """How many places items of a stage have that nobody has taken any of, by the searches there were."""
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

    def in_turn(self, works: Sequence[Callable[[Any], Any]]) -> Generator[tuple[int, Callable[[], Any]]]:
        """For each piece of work of a group, its number and what does it; all of them read first what they need."""
        with closing(in_turn(self, works)) as turns:
            for turn in turns:
                yield turn
                self._send_changes()

    def change(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        """Run a statement whose result nobody reads."""
        self._begin_change(scope, parameters)
        if not self._unsent.takes(sql, values):
            self._send_changes()
            if not self._unsent.takes(sql, values):
                self.driver.change(sql, values)

    def count_changed(self, sql: str, values: Sequence[Any], scope: Scope | None, parameters: Mapping[str, Any]) -> int:
        """Run a statement; how many rows it has changed."""
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
        """The first row with a place that is left after what earlier work of the group takes; None if there is none.

        `asked` returns the search of the stage for a number of rows.
        """
        if self.ahead is not None:
            return self.ahead.first_free(stage_id, scope, asked)
        self._send_changes()
        return self.driver.first(*asked(1)[:2])

    def tolerate_judgments(self, item_id: int, most: int) -> None:
        """Let further judgments of an item, up to this number, not matter to the piece of work that reads ahead."""
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
        """Note that something changes: all there is, if no scope says what."""
        self.changed += 1
        self.changes_noted.note(scope, parameters or {})

    def await_turn(self) -> None:
        """Let work that reads ahead wait until it may do more than that."""
        if self.ahead is not None:
            self.ahead.wait_for_turn()

    def catch_up(self) -> None:
        """Leave nothing under way, for others who use the connection."""
        self.await_turn()
        self._send_changes()
        self._tell_numbers()
        self.driver.settle()

    def _send_changes(self) -> None:
        if (fused := self._unsent.take_out()) is not None:
            self.driver.change(*fused)

    def settle(self) -> None:
        """Commit, and fail if anything that was sent did: then the server skips the rest, and commits nothing."""
        self.await_turn()
        self._commit()
        self._is_committed = True

    def _commit(self) -> None:
        self._send_changes()
        self._tell_numbers()
        done = self.driver.ask("COMMIT").command_status
        if done != b"COMMIT":
            # A statement failed, and whoever ran it went on. The server undoes everything, and calls that a success.
            raise RuntimeError(f"what was to be committed was undone: {done!r}")

    def next_number(self, table: str) -> int:
        """The number of the next row of a table. Nobody else gives it to another: one at a time writes."""
        self.await_turn()
        if table not in self._last:
            self._last[table] = self.driver.first(_LAST_NUMBER, (table,))[0]
        self._last[table] += 1
        self._given.add(table)
        self._numbered.add(table)
        return self._last[table]

    def ask_numbers(self) -> Callable[[], None]:
        """Ask for the last numbers of tables whose rows have got some before; what receives them, in turn."""
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
                self._commit()
        except BaseException:
            self._unsent.clear()
            self._forget_numbers()
            with suppress(DBAPIError):
                driver.undo("ROLLBACK")
            raise
        finally:
            self._is_committed = False
