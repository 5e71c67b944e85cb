"""Sends the reads of a group of actions in few statements.

All workers who request the next item run the same queries with different values. PostgreSQL takes longer to start a
statement than to find its few rows. So one statement takes the values of many workers as arrays and returns the rows of
each.
"""

import re
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from chorale.store.libpq import PostgresDriver
from chorale.store.prepared import Asked

Reader = TypeVar("Reader")

AT_ONCE = 24
"""Number of reads collected before they are sent."""
# Otherwise PostgreSQL would plan most of them again every time, because it overestimates the number of values.
_PLAN_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan"
_PLAN_AS_USUAL = "SET LOCAL plan_cache_mode = auto"
_PLACE = re.compile(r"\$(\d+)::(\w+)")


class _Waiting(NamedTuple, Generic[Reader]):
    """A reader that waits for the rows of all its statements."""

    reader: Reader
    asked: Sequence[Asked]
    results: list[list[Any] | None]


_Places = list[tuple[_Waiting[Reader], int]]
"""Readers of one statement with the same values, each with the position of the statement in its own list."""
_ByValues = dict[tuple[Any, ...], _Places[Reader]]


class BatchedReads(Generic[Reader]):
    """Sends the statements of several readers together, in a transaction."""

    def __init__(self, driver: PostgresDriver) -> None:
        self._driver = driver
        driver.change(_PLAN_ONCE)
        self._unsent: dict[str, _ByValues[Reader]] = {}
        self._waiting = 0
        self._sent: deque[Sequence[_Places[Reader]]] = deque()
        self._answered: deque[_Waiting[Reader]] = deque()

    def ask(self, reader: Reader, asked: Sequence[Asked]) -> None:
        waiting = _Waiting(reader, asked, [None] * len(asked))
        for number, (sql, values, *_) in enumerate(asked):
            self._unsent.setdefault(sql, {}).setdefault(tuple(values), []).append((waiting, number))
        self._waiting += len(asked)
        if self._waiting >= AT_ONCE:
            self._send()

    def next(self) -> tuple[Reader, Sequence[Asked], Sequence[Sequence[Any]]] | None:
        """The next reader with its statements and their rows; None after the last one."""
        while not self._answered:
            if not self._sent:
                if not self._unsent:
                    self._driver.change(_PLAN_AS_USUAL)
                    return None
                self._send()
            self._receive()
        reader, asked, results = self._answered.popleft()
        return reader, asked, [rows or () for rows in results]

    def _send(self) -> None:
        """Send all collected statements, in the order in which they were first requested.

        Those with equal values are sent once. Some count a whole stage, and many readers ask for the count at once.
        """
        for sql, by_values in self._unsent.items():
            if len(by_values) == 1:
                [values] = by_values
                self._driver.send(sql, values)
            else:
                self._driver.send(_for_many(sql), [_as_array(values) for values in zip(*by_values, strict=True)])
            self._sent.append(list(by_values.values()))
        self._driver.begin()
        self._unsent, self._waiting = {}, 0

    def _receive(self) -> None:
        """Receive the rows of the first statement that was sent."""
        sent = self._sent.popleft()
        rows = self._driver.receive()
        if len(sent) == 1:
            results = [rows]
        else:
            results = [[] for _ in sent]
            for row in rows:
                results[row[-1] - 1].append(row[:-1])
        for places, of_places in zip(sent, results, strict=True):
            for waiting, number in places:
                waiting.results[number] = of_places
                if None not in waiting.results:
                    self._answered.append(waiting)


@cache
def _for_many(sql: str) -> str:
    """The statement for arrays of values. Its last column is the position of each row's values."""
    types = {int(number): kind for number, kind in _PLACE.findall(sql)}
    arrays = ", ".join(f"${number}::{types[number]}[]" for number in sorted(types))
    names = ", ".join(f"value_{number}" for number in sorted(types))
    for_one = _PLACE.sub(r"given.value_\1", sql)
    # Without the offset, the server may use another plan, with rows in another order.
    for_one = for_one if "OFFSET" in for_one else f"{for_one} OFFSET 0"
    return (
        f"SELECT found.*, given.number FROM unnest({arrays}) WITH ORDINALITY AS given ({names}, number), "  # noqa: S608
        f"LATERAL ({for_one}) AS found"
    )


def _as_array(values: Sequence[Any]) -> str:
    """Values in PostgreSQL's array syntax."""
    if type(values[0]) is int and None not in values:
        return f"{{{','.join(map(str, values))}}}"
    return f"{{{','.join(map(_as_element, values))}}}"


def _as_element(value: Any) -> str:
    if value is None:
        return "NULL"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
