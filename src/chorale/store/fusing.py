"""Combines the changes of one piece of work into one statement.

PostgreSQL takes as long to start and end a small statement as to run it, and an answer needs five of them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

MOST_VALUES = 60
_CHANGE = re.compile(r"(?:INSERT INTO|UPDATE) (\w+) ")
_DOES_MORE = ("SELECT", "RETURNING", "ON CONFLICT")
_PLACE = re.compile(r"\$(\d+)")


class Fusing:
    """Changes that are sent as one statement.

    All of them see the database as it was before the first change. So each change concerns a different table and reads
    only this table.
    """

    def __init__(self) -> None:
        self._statements: list[str] = []
        self._values: list[Any] = []
        self._tables: set[str] = set()

    def takes(self, sql: str, values: Sequence[Any]) -> bool:
        """Add a change if it can be sent together with the others; returns whether it was added."""
        table = _changed_alone(sql)
        if table is None or table in self._tables or len(self._values) + len(values) > MOST_VALUES:
            return False
        self._statements.append(sql)
        self._values += values
        self._tables.add(table)
        return True

    def take_out(self) -> tuple[str, Sequence[Any]] | None:
        """Remove all changes and return them as one statement with its values; None if there are none."""
        if not self._statements:
            return None
        statements, values = self._statements, self._values
        self.clear()
        return statements[0] if len(statements) == 1 else _fused(tuple(statements)), values

    def clear(self) -> None:
        self._statements, self._values = [], []
        self._tables.clear()


@cache
def _changed_alone(sql: str) -> str | None:
    """The table that a statement changes; None if it does anything else."""
    change = _CHANGE.match(sql)
    return None if change is None or any(word in sql for word in _DOES_MORE) else change[1]


@cache
def _fused(statements: Sequence[str]) -> str:
    """Several statements as one, with their parameters renumbered."""
    parts = []
    before = 0
    for sql in statements:
        parts.append(_PLACE.sub(lambda place, before=before: f"${int(place[1]) + before}", sql))  # type: ignore[misc]
        before += len(set(_PLACE.findall(sql)))
    *others, last = parts
    named = ", ".join(f"change_{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {named} {last}"
