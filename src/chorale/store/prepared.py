"""Statements compiled once.

SQLAlchemy looks a statement up in its cache on every call, which costs more than SQLite needs to run it. The few
statements behind every submission are compiled on first use and handed to the driver as they are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Table, bindparam, insert, literal_column
from sqlalchemy.dialects import postgresql, sqlite

from chorale.store.sqlite import SqliteConnection

ONE: ColumnElement[int] = literal_column("1")
"""Written out, in statements that run for every answer: a bound value has to be put in its place every time."""
NONE: ColumnElement[int] = literal_column("0")
"""The same for how many rows are left out before a limit: SQLAlchemy binds it otherwise."""


Arrange = Callable[[Mapping[str, Any]], Any]
"""Parameters as a driver wants them."""


class Prepared:
    """A statement whose parameters are all named `bindparam`s of plain types."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Arrange]] = {}
        self._direct: tuple[str, Arrange] | None = None

    def __call__(self, tx: Connection, **parameters: Any) -> None:
        """Change something."""
        if type(tx) is SqliteConnection:
            # A rehearsal comes here, and to the others, half a million times.
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
        else:
            self._run(tx, parameters)

    def changed(self, tx: Connection, **parameters: Any) -> int:
        """Change something; the number of rows changed."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
            return tx.driver.changes()
        return self._run(tx, parameters).rowcount

    def first(self, tx: Connection, **parameters: Any) -> Any:
        """The first row, None if there is none; the others are not wanted."""
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            return tx.ask(sql, arrange(parameters)).fetchone()
        return self._run(tx, parameters).first()

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
        return self._run(tx, parameters).all()

    def column(self, tx: Connection, **parameters: Any) -> list[Any]:
        """What is in the first column of all rows."""
        return [row[0] for row in self.all(tx, **parameters)]

    def many(self, tx: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
        """Change something once for every row."""
        sql, arrange = self._compiled_for(tx)
        _run_many(tx, sql, [arrange(row) for row in rows])

    def _run(self, tx: Connection, parameters: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
        sql, arrange = self._compiled_for(tx)
        return tx.exec_driver_sql(sql, arrange(parameters))

    def _compiled_for(self, tx: Connection) -> tuple[str, Arrange]:
        dialect = tx.dialect.name
        if dialect not in self._compiled:
            self._compiled[dialect] = _compile(self.statement(dialect), tx)
        return self._compiled[dialect]

    def _compiled_directly(self, tx: Connection) -> tuple[str, Arrange]:
        self._direct = self._compiled_for(tx)
        return self._direct

    def statement(self, dialect: str) -> Executable:  # noqa: ARG002
        """What is compiled for a kind of database."""
        return self._statement


def _run_many(tx: Connection, sql: str, rows: Sequence[Any]) -> None:
    """Run a finished statement once for every row."""
    if type(tx) is SqliteConnection:
        tx.driver.change_many(sql, rows)
    elif rows:  # of none, SQLAlchemy would make one without values
        tx.exec_driver_sql(sql, list(rows))


def _compile(statement: Any, tx: Connection) -> tuple[str, Arrange]:
    compiled = statement.compile(dialect=tx.dialect)
    # Values written into the statement itself (`served + 1`) are parameters too, with values of their own.
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    if "LIMIT ?" in str(compiled):
        # SQLite from 3.47 on plans by the limit, and anew for every value that is bound to it: eight times the work.
        raise ValueError(f"the limit must be written out in a statement that is prepared once: {compiled}")
    if compiled.positional:
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
    names = tuple(compiled.params)
    return str(compiled), lambda given: {name: given[name] if name in given else fixed[name] for name in names}


class PreparedInsert(Prepared):
    """An insert of rows with exactly these columns, and the same values in others."""

    def __init__(self, table: Table, *columns: str, **same: Any) -> None:
        self._table, self._columns = table, columns
        self._values: dict[str, Any] = {**{name: bindparam(name) for name in columns}, **same}
        super().__init__(insert(table).values(self._values))

    def rows(self, tx: Connection, rows: Iterable[Sequence[Any]]) -> None:
        """Insert many, each with its values in the order of the columns."""
        compiled: Any = insert(self._table).values(self._values).compile(dialect=tx.dialect)
        arranged: list[Any]
        if not compiled.positional:
            arranged = [dict(zip(self._columns, row, strict=True)) for row in rows]
        else:
            places = [self._columns.index(name) for name in compiled.positiontup]
            in_order = places == list(range(len(places)))
            arranged = list(rows if in_order else map(itemgetter(*places), rows))
        _run_many(tx, str(compiled), arranged)


class NumberingInsert(PreparedInsert):
    """An insert whose `number` inserts one row and returns its id."""

    def statement(self, dialect: str) -> Executable:
        # SQLite knows the number of the last row anyhow. Asked to return it, it would make a table for it first.
        inserted = insert(self._table).values(self._values)
        return inserted if dialect == "sqlite" else inserted.returning(self._table.c.id)

    def number(self, tx: Connection, **parameters: Any) -> int:
        if type(tx) is SqliteConnection:
            sql, arrange = self._direct or self._compiled_directly(tx)
            tx.change(sql, arrange(parameters))
            return tx.driver.last_insert_rowid()
        inserted = self._run(tx, parameters)
        return int(inserted.lastrowid if tx.dialect.name == "sqlite" else inserted.scalar_one())


class InsertIfNew(PreparedInsert):
    """An insert that leaves a row alone that is there."""

    def statement(self, dialect: str) -> Executable:
        unless_there: Executable = _INSERTS[dialect](self._table).values(self._values).on_conflict_do_nothing()
        return unless_there


_INSERTS: Mapping[str, Callable[[Table], Any]] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def upsert(tx: Connection, table: Table) -> Any:
    """An insert that can say what to do with a row that is there: the two databases have their own way of saying it."""
    return _INSERTS[tx.dialect.name](table)
