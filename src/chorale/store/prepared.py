"""Statements compiled once.

SQLAlchemy's cache lookup on every call costs more than SQLite needs to run a statement. The few statements behind every
submission are compiled on first use and passed directly to the driver.
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
    from chorale.store.postgres import PostgresConnection  # its driver is an optional extra

ONE: ColumnElement[int] = literal_column("1")
"""A literal limit, for statements that run for every answer: a bound value costs time."""
NONE: ColumnElement[int] = literal_column("0")
"""A literal offset, which SQLAlchemy would bind otherwise."""


Arrange = Callable[[Mapping[str, Any]], Any]
"""Parameters in the driver's format."""


class Scope(NamedTuple):
    """The data that a statement reads or changes, and that other workers may change at the same time; empty if none.

    Each kind is named by a parameter or, for rows read, by the number of a column.
    """

    worker: str | int | None = None
    """A worker's data that others' actions do not change."""
    trust: str | int | None = None
    """A worker's trust, and whether their answers count."""
    item: str | int | None = None
    """The judgments of an item."""
    counted: str | int | None = None
    """The number of counted judgments of an item. `tolerate_judgments` sets how many more do not matter."""
    wanting: str | int | None = None
    """Whether an item needs judgments, and how many; judgments change this only when it is settled."""
    place: str | int | None = None
    """A place of an item or of gold, which is taken or found free."""
    places_left: int | None = None
    """The column with the number of free places; without it, every taken place affects readers."""


Asked = tuple[str, Sequence[Any], Scope | None, Mapping[str, Any]]
"""A statement, its values in order, its scope, and its values by name."""


class Prepared:
    """A statement whose parameters are all named `bindparam`s of plain types. Without a scope, it concerns all rows."""

    def __init__(self, statement: Executable, scope: Scope | None = None) -> None:
        self._statement = statement
        self._scope = scope
        self._compiled: dict[str, tuple[str, Arrange]] = {}
        self._direct: tuple[str, Arrange] | None = None

    def __call__(self, tx: Connection, **parameters: Any) -> None:
        """Run the statement without reading its result."""
        if type(tx) is SqliteConnection:
            # A simulation calls this and the other methods half a million times.
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
        else:
            _postgres(tx).change(*self._asked(tx, parameters))

    def changed(self, tx: Connection, **parameters: Any) -> int:
        """Run the statement; returns the number of changed rows."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
            return tx.driver.changes()
        return _postgres(tx).count_changed(*self._asked(tx, parameters))

    def first(self, tx: Connection, **parameters: Any) -> Any:
        """The first row; None if there is none."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            return tx.ask(sql, arrange(parameters)).fetchone()
        return _postgres(tx).first(*self._asked(tx, parameters))

    def value(self, tx: Connection, **parameters: Any) -> Any:
        """The first column of the first row; None if there is none."""
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
        """The first column of all rows."""
        return [row[0] for row in self.all(tx, **parameters)]

    def many(self, tx: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run the statement once for every row."""
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
        """The compiled statement for a dialect."""
        return self._statement


class PreparedSearch(Prepared):
    """A search of a stage, in order, for the first item with a free place, which is then taken.

    On PostgreSQL, the work of a group reads together. If each piece read one row, most would find the same item, and
    those without a place would search again, one after the other. So each piece reads a few more rows.
    """

    def __init__(self, statement: Select[Any], scope: Scope) -> None:
        self._statement_of, self._scope_of_rows = statement, scope
        self._for_more: dict[int, Prepared] = {}
        super().__init__(statement.limit(ONE).offset(NONE), scope)

    def first_free(self, tx: Connection, *, stage_id: int, **parameters: Any) -> Any:
        """The first row with a place that is still free when this work has its turn; None if there is none."""
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
    """All rows of several independent statements; one round trip on PostgreSQL."""
    if type(tx) is SqliteConnection:
        return [statement.all(tx, **parameters) for statement, parameters in asked]
    return _postgres(tx).together([statement._asked(tx, parameters) for statement, parameters in asked])


def tolerate_judgments(tx: Connection, item_id: int, most: int) -> None:
    """Let rows of an item that were already read stay valid after up to this number of further judgments.

    The judgments are too few to decide the item.
    """
    if type(tx) is not SqliteConnection:
        _postgres(tx).tolerate_judgments(item_id, most)


def _postgres(tx: Connection) -> "PostgresConnection":
    return cast("PostgresConnection", tx)


def _run_many(tx: Connection, sql: str, rows: Iterable[Any]) -> None:
    """Run a compiled statement once for every row."""
    if type(tx) is SqliteConnection:
        tx.driver.change_many(sql, rows)
    else:
        change = _postgres(tx).change
        for row in rows:
            change(sql, row, None, {})


# With numbered placeholders, the server's own format.
_NUMBERED: Dialect = cast("Any", PGDialect_psycopg)(paramstyle="numeric_dollar")


def _dialect(tx: Connection) -> Dialect:
    """The dialect for statements that are passed directly to the driver."""
    return tx.dialect if type(tx) is SqliteConnection else _NUMBERED


def _compile(statement: Any, dialect: Dialect) -> tuple[str, Arrange]:
    compiled = statement.compile(dialect=dialect)
    # Literals in the statement (`served + 1`) are parameters too, with fixed values.
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    if "LIMIT ?" in str(compiled):
        # Since version 3.47, SQLite replans for every bound value of a limit, which takes eight times as long.
        raise ValueError(f"the limit of a prepared statement must be a literal: {compiled}")
    if untyped := [name for name, bound in compiled.binds.items() if isinstance(bound.type, NullType)]:
        # PostgreSQL infers the types of these, and falls back to text.
        raise ValueError(f"a prepared statement must declare the types of {', '.join(untyped)}: {compiled}")
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
    # Otherwise, PostgreSQL is asked for the number of every row, and buffers rows that nobody reads.
    return insert(table).values(values).inline()


class PreparedInsert(Prepared):
    """An insert of rows with exactly these columns, and the same values in others."""

    def __init__(self, table: Table, *columns: str, scope: Scope | None = None, **same: Any) -> None:
        self._table, self._columns = table, columns
        self._values: dict[str, Any] = {**{name: bindparam(name) for name in columns}, **same}
        super().__init__(_inserted(table, self._values), scope)

    def rows(self, tx: Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Insert many rows, each with its values in the order of the columns."""
        compiled: Any = _inserted(self._table, self._values).compile(dialect=_dialect(tx))
        places = [self._columns.index(name) for name in compiled.positiontup]
        in_order = places == list(range(len(places)))
        _run_many(tx, str(compiled), rows if in_order else map(itemgetter(*places), rows))


class NumberingInsert(PreparedInsert):
    """An insert whose `number` inserts one row and returns its id."""

    def statement(self, dialect: str) -> Executable:
        # SQLite always knows the last row number; RETURNING would create a temporary table. On PostgreSQL, rows are
        # numbered here, without waiting for the server.
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
    """An insert that ignores an existing row."""

    def statement(self, dialect: str) -> Executable:
        unless_there: Executable = _INSERTS[dialect](self._table).values(self._values).inline().on_conflict_do_nothing()
        return unless_there


_INSERTS: Mapping[str, Callable[[Table], Any]] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def upsert(tx: Connection, table: Table) -> Any:
    """An insert with ON CONFLICT, in the syntax of either database."""
    return _INSERTS[tx.dialect.name](table)
