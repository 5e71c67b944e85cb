"""Statements compiled once.

SQLAlchemy looks a statement up in its cache on every call, which costs more than SQLite needs to run it. The few
statements behind every submission are compiled on first use and handed to the driver as they are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Insert,
    Select,
    Table,
    bindparam,
    insert,
    literal_column,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.types import NullType

from chorale.store.sqlite import SqliteConnection

if TYPE_CHECKING:
    from chorale.store.postgres import PostgresConnection  # its driver is an extra

ONE: ColumnElement[int] = literal_column("1")
"""Written out, in statements that run for every answer: a bound value has to be put in its place every time."""
NONE: ColumnElement[int] = literal_column("0")
"""The same for how many rows are left out before a limit: SQLAlchemy binds it otherwise."""


Arrange = Callable[[Mapping[str, Any]], Any]
"""Parameters as a driver wants them."""


class Scope(NamedTuple):
    """What a statement reads or changes, of what acts of other workers may change meanwhile; empty: nothing of that.

    Each by the name of a parameter or, of rows that are read, by the number of a column.
    """

    worker: str | int | None = None
    """Everything about a worker that acts of others do not change."""
    trust: str | int | None = None
    """How far a worker is trusted, and whether their answers count."""
    item: str | int | None = None
    """How an item is judged."""
    counted: str | int | None = None
    """How many judgments of an item count, of which some more may not matter (`tolerate_judgments`)."""
    wanting: str | int | None = None
    """Whether an item wants judgments, and how many: those that are given change it only when it is settled."""
    place: str | int | None = None
    """A place of an item or of gold, which is taken or is found to be free."""
    places_left: int | None = None
    """The column with how many are free; without it, taking any matters to who has read this."""


Asked = tuple[str, Sequence[Any], Scope | None, Mapping[str, Any]]
"""A statement, its values in order, what it is about, and its values by name."""


class Prepared:
    """A statement whose parameters are all named `bindparam`s of plain types. Without a scope it is about all rows."""

    def __init__(self, statement: Executable, scope: Scope | None = None) -> None:
        self._statement = statement
        self._scope = scope
        self._compiled: dict[str, tuple[str, Arrange]] = {}
        self._direct: tuple[str, Arrange] | None = None

    def __call__(self, tx: Connection, **parameters: Any) -> None:
        """Change something."""
        if type(tx) is SqliteConnection:
            # A rehearsal comes here, and to the others, half a million times.
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
        else:
            _postgres(tx).change(*self._asked(tx, parameters))

    def changed(self, tx: Connection, **parameters: Any) -> int:
        """Change something; the number of rows changed."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
            return tx.driver.changes()
        return _postgres(tx).count_changed(*self._asked(tx, parameters))

    def first(self, tx: Connection, **parameters: Any) -> Any:
        """The first row, None if there is none; the others are not wanted."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            return tx.ask(sql, arrange(parameters)).fetchone()
        return _postgres(tx).first(*self._asked(tx, parameters))

    def value(self, tx: Connection, **parameters: Any) -> Any:
        """What is in the first column of that row, None if there is none."""
        row = self.first(tx, **parameters)
        return None if row is None else row[0]

    def all(self, tx: Connection, **parameters: Any) -> Sequence[Any]:
        """All rows."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            rows: list[Any] = tx.ask(sql, arrange(parameters)).fetchall()
            return rows
        [read] = _postgres(tx).together([self._asked(tx, parameters)])
        return read

    def column(self, tx: Connection, **parameters: Any) -> list[Any]:
        """What is in the first column of all rows."""
        return [row[0] for row in self.all(tx, **parameters)]

    def many(self, tx: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Change something once for every row."""
        sql, arrange = self.compiled_for(tx)
        _run_many(tx, sql, [arrange(row) for row in rows])

    def compiled_for(self, tx: Connection) -> tuple[str, Arrange]:
        dialect = tx.dialect.name
        if dialect not in self._compiled:
            self._compiled[dialect] = _compile(self.statement(dialect), _dialect(tx))
        return self._compiled[dialect]

    def _compiled_directly(self, tx: Connection) -> tuple[str, Arrange]:
        self._direct = self.compiled_for(tx)
        return self._direct

    def _asked(self, tx: Connection, parameters: Mapping[str, Any]) -> Asked:
        sql, arrange = self._compiled.get("postgresql") or self.compiled_for(tx)
        return sql, arrange(parameters), self._scope, parameters

    def statement(self, dialect: str) -> Executable:  # noqa: ARG002
        """What is compiled for a kind of database."""
        return self._statement


class PreparedSearch(Prepared):
    """A search of a stage, in order, for the first item with a place left, which is going to be taken.

    Work of a group reads together on PostgreSQL. If each looked for one row, most would find the same one, and those
    that get no place there would search again, one after the other. So each looks for some more.
    """

    def __init__(self, statement: Select[Any], scope: Scope) -> None:
        self._statement_of, self._scope_of_rows = statement, scope
        self._for_more: dict[int, Prepared] = {}
        super().__init__(statement.limit(ONE).offset(NONE), scope)

    def first_free(self, tx: Connection, *, stage_id: int, **parameters: Any) -> Any:
        """The first row whose place is free when it is the turn of who asks; None if there is none."""
        given = {"stage_id": stage_id, **parameters}
        if type(tx) is SqliteConnection:
            return self.first(tx, **given)
        return _postgres(tx).first_free(stage_id, self._scope_of_rows, lambda most: self._asked_for(tx, most, given))

    def _asked_for(self, tx: Connection, most: int, parameters: Mapping[str, Any]) -> Asked:
        if most not in self._for_more:
            # Whether it depends on a row is known when one is chosen.
            statement = self._statement_of.limit(literal_column(str(most))).offset(NONE)
            self._for_more[most] = Prepared(statement, Scope(worker=self._scope_of_rows.worker))
        return self._for_more[most]._asked(tx, parameters)


def together(tx: Connection, *asked: tuple[Prepared, Mapping[str, Any]]) -> Sequence[Sequence[Any]]:
    """All rows of several statements, none of which needs to know what the others found: PostgreSQL is asked once."""
    if type(tx) is SqliteConnection:
        return [statement.all(tx, **parameters) for statement, parameters in asked]
    return _postgres(tx).together([statement._asked(tx, parameters) for statement, parameters in asked])


def tolerate_judgments(tx: Connection, item_id: int, most: int) -> None:
    """What was read of an item means the same after this number of further judgments, which decide nothing either."""
    if type(tx) is not SqliteConnection:
        _postgres(tx).tolerate_judgments(item_id, most)


def _postgres(tx: Connection) -> "PostgresConnection":
    return cast("PostgresConnection", tx)


def _run_many(tx: Connection, sql: str, rows: Iterable[Any]) -> None:
    """Run a finished statement once for every row."""
    if type(tx) is SqliteConnection:
        tx.driver.change_many(sql, rows)
    else:
        change = _postgres(tx).change
        for row in rows:
            change(sql, row, None, {})


# With numbers in the places of values, as the server itself has them.
_NUMBERED: Dialect = cast("Any", PGDialect_psycopg)(paramstyle="numeric_dollar")


def _dialect(tx: Connection) -> Dialect:
    """How statements are written that are handed to the driver as they are."""
    return tx.dialect if type(tx) is SqliteConnection else _NUMBERED


def _compile(statement: Any, dialect: Dialect) -> tuple[str, Arrange]:
    compiled = statement.compile(dialect=dialect)
    # Values written into the statement itself (`served + 1`) are parameters too, with values of their own.
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    if "LIMIT ?" in str(compiled):
        # SQLite from 3.47 on plans by the limit, and anew for every value that is bound to it: eight times the work.
        raise ValueError(f"the limit must be written out in a statement that is prepared once: {compiled}")
    if untyped := [name for name, bound in compiled.binds.items() if isinstance(bound.type, NullType)]:
        # PostgreSQL decides for itself what these are, and takes them for text where nothing else is said.
        raise ValueError(f"the types of {', '.join(untyped)} must be given in a statement that is prepared: {compiled}")
    order = tuple(compiled.positiontup)
    if not order:
        return str(compiled), lambda _given: ()
    if len(order) == 1:
        [only] = order
        return str(compiled), (lambda given: (given.get(only, fixed.get(only)),)) if fixed else lambda given: (
            given[only],
        )
    values = itemgetter(*order)
    return str(compiled), (lambda given: values({**fixed, **given})) if fixed else values


def _inserted(table: Table, values: Mapping[str, Any]) -> Insert:
    # Otherwise PostgreSQL is asked for the number of every row, and first keeps what nobody reads.
    return insert(table).values(values).inline()


class PreparedInsert(Prepared):
    """An insert of rows with exactly these columns, and the same values in others."""

    def __init__(self, table: Table, *columns: str, scope: Scope | None = None, **same: Any) -> None:
        self._table, self._columns = table, columns
        self._values: dict[str, Any] = {**{name: bindparam(name) for name in columns}, **same}
        super().__init__(_inserted(table, self._values), scope)

    def rows(self, tx: Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Insert many, each with its values in the order of the columns."""
        compiled: Any = _inserted(self._table, self._values).compile(dialect=_dialect(tx))
        places = [self._columns.index(name) for name in compiled.positiontup]
        in_order = places == list(range(len(places)))
        _run_many(tx, str(compiled), rows if in_order else map(itemgetter(*places), rows))


class NumberingInsert(PreparedInsert):
    """An insert whose `number` inserts one row and returns its id."""

    def statement(self, dialect: str) -> Executable:
        # SQLite knows the number of the last row anyhow. Asked to return it, it would make a table for it first. On
        # PostgreSQL rows get their numbers here, and nobody waits to be told.
        inserted = _inserted(self._table, self._values)
        return inserted if dialect == "sqlite" else inserted.values(id=bindparam("id"))

    def number(self, tx: Connection, **parameters: Any) -> int:
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
            return tx.driver.last_insert_rowid()
        connection = _postgres(tx)
        number = connection.next_number(self._table.name)
        connection.change(*self._asked(tx, {"id": number, **parameters}))
        return number


class InsertIfNew(PreparedInsert):
    """An insert that leaves an existing row alone."""

    def statement(self, dialect: str) -> Executable:
        unless_there: Executable = _INSERTS[dialect](self._table).values(self._values).inline().on_conflict_do_nothing()
        return unless_there


_INSERTS: Mapping[str, Callable[[Table], Any]] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def upsert(tx: Connection, table: Table) -> Any:
    """An insert that can say what to do with an existing row: the two databases have their own way of saying it."""
    return _INSERTS[tx.dialect.name](table)
