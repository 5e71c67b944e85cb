"""Statements compiled once.

SQLAlchemy looks a statement up in its cache on every call, which costs more than SQLite needs to run it. The few
statements behind every submission are compiled on first use and handed to the driver as they are.
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, Connection, CursorResult, Executable, Table, bindparam, insert


class Prepared:
    """A statement whose parameters are all named `bindparam`s of plain types."""

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Callable[[Mapping[str, Any]], Any]]] = {}

    def __call__(self, tx: Connection, parameters: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
        ready = self._compiled.get(tx.dialect.name)
        if ready is None:
            ready = self._compiled[tx.dialect.name] = _compile(self._statement, tx)
        sql, arrange = ready
        return tx.exec_driver_sql(sql, arrange(parameters))


def _compile(statement: Any, tx: Connection) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
    compiled = statement.compile(dialect=tx.dialect)
    # Values written into the statement itself (`served + 1`) are parameters too, with values of their own.
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    if compiled.positional:
        order = tuple(compiled.positiontup)
        if len(order) < 2:
            return str(compiled), lambda given: tuple(given[name] if name in given else fixed[name] for name in order)
        values = itemgetter(*order)
        return str(compiled), (lambda given: values({**fixed, **given})) if fixed else values
    names = tuple(compiled.params)
    return str(compiled), lambda given: {name: given[name] if name in given else fixed[name] for name in names}


def prepared_insert(table: Table, *columns: str, returning: Column[Any] | None = None) -> Prepared:
    """An insert of one row with exactly these columns."""
    statement = insert(table).values({name: bindparam(name) for name in columns})
    return Prepared(statement if returning is None else statement.returning(returning))
