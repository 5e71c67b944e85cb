"""Work of a group reads ahead together, and changes something one after the other.

PostgreSQL is asked once for what all of it reads: each piece runs until it asks for rows, and continues when everybody
has theirs. A piece that comes to its first change waits for its turn. If what it has read was changed by then, it
starts over. Statements name the rows they are about (`prepared.Scope`). One that does not is about all rows: nothing
read ahead holds after such a change, and nothing like that is read ahead. So the outcome is that of one piece of work
after the other.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from greenlet import getcurrent, greenlet

from chorale.store.prepared import Asked, Scope

if TYPE_CHECKING:
    from chorale.store.postgres import PostgresConnection


class ChangedRows:
    """Whose rows were changed since a group began."""

    def __init__(self) -> None:
        self.everywhere = False
        self.workers: set[int] = set()
        self.items: set[int] = set()
        self.places: Counter[int] = Counter()

    def note(self, scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        if scope is None:
            self.everywhere = True
            return
        if scope.worker is not None:
            self.workers.add(parameters[str(scope.worker)])
        if scope.item is not None:
            self.items.add(parameters[str(scope.item)])
        if scope.place is not None:
            self.places[parameters[str(scope.place)]] += 1


class _Read(NamedTuple):
    """Rows that were read ahead, and what they depend on."""

    asked: tuple[str, Sequence[Any]]
    rows: Sequence[Any]
    workers: set[int]
    items: set[int]
    places: dict[int, int]
    """How many may be taken of each before it matters."""

    @classmethod
    def of(cls, asked: Asked, rows: Sequence[Any]) -> "_Read":
        sql, values, scope, parameters = asked
        scope = scope or Scope()
        left = scope.places_left
        workers, items = (_named(where, parameters, rows) for where in (scope.worker, scope.item))
        places = {row[scope.place]: 1 if left is None else row[left] for row in rows} if scope.place is not None else {}
        return cls((sql, values), rows, workers, items, places)

    def holds(self, changes: ChangedRows) -> bool:
        return not (
            changes.everywhere
            or not changes.workers.isdisjoint(self.workers)
            or not changes.items.isdisjoint(self.items)
            or any(changes.places[item_id] >= left for item_id, left in self.places.items())
        )


def _named(where: str | int | None, parameters: Mapping[str, Any], rows: Sequence[Any]) -> set[int]:
    if where is None:
        return set()
    return {parameters[where]} if isinstance(where, str) else {row[where] for row in rows}


class _Piece:
    """Work that reads ahead, and what it has read."""

    def __init__(self, work: Callable[[Any], Any], connection: "PostgresConnection") -> None:
        self._work, self._connection = work, connection
        self._greenlet = greenlet(self._run)
        self._reads: list[_Read] = []
        self._result: Any = None
        self._error: Exception | None = None

    def resume(self, rows: Sequence[Sequence[Any]] | None = None) -> Sequence[Asked] | None:
        """Run it until it asks for rows; None once it waits for its turn or is done."""
        asked: Sequence[Asked] | None = self._greenlet.switch(rows)
        return asked

    def note(self, asked: Sequence[Asked], found: Sequence[Sequence[Any]]) -> None:
        self._reads += map(_Read.of, asked, found)

    def finish(self) -> Any:
        """Do the rest of it, or all of it again if what it has read has changed."""
        changes = self._connection.changes_noted
        still = [read for read in self._reads if read.holds(changes)]
        if len(still) < len(self._reads):
            self.drop()
            self._connection.known = {read.asked: read.rows for read in still}
            return self._work(self._connection)
        if not self._greenlet.dead:
            self._greenlet.switch()
        if self._error is not None:
            raise self._error
        return self._result

    def drop(self) -> None:
        if self._greenlet:
            self._greenlet.throw()

    def _run(self, _rows: None) -> None:
        try:
            self._result = self._work(self._connection)
        except Exception as error:
            self._error = error


class ReadingAhead:
    """What a connection is to do with the statements of work that reads ahead."""

    def __init__(self) -> None:
        self._group = getcurrent()

    def rows(self, asked: Sequence[Asked]) -> Sequence[Sequence[Any]] | None:
        """The rows of some statements; None once it is the turn of who asks, as it is for what no scope is known of."""
        if any(scope is None for _, _, scope, _ in asked):
            self.wait_for_turn()
            return None
        found: Sequence[Sequence[Any]] = self._group.switch(asked)
        return found

    def wait_for_turn(self) -> None:
        self._group.switch(None)


def in_turn(connection: "PostgresConnection", works: Sequence[Callable[[Any], Any]]) -> Generator[Callable[[], Any]]:
    """For each piece of work, in order, what does it. All of them read first; so nothing may be done in between."""
    if len(works) == 1:
        yield partial(works[0], connection)
        return
    pieces = [_Piece(work, connection) for work in works]
    try:
        _read_ahead(connection, pieces)
        for piece in pieces:
            connection.known = {}
            yield piece.finish
    finally:
        connection.known = {}
        for piece in pieces:
            piece.drop()


def _read_ahead(connection: "PostgresConnection", pieces: Sequence[_Piece]) -> None:
    connection.changes_noted = ChangedRows()
    connection.ahead = ReadingAhead()
    try:
        reading = [(piece, asked) for piece in pieces if (asked := piece.resume())]
        together = connection.with_numbers
        while reading:
            found = iter(together([one[:2] for _, asked in reading for one in asked]))
            together = connection.driver.together
            further = []
            for piece, asked in reading:
                rows = [next(found) for _ in asked]
                piece.note(asked, rows)
                if (more := piece.resume(rows)) is not None:
                    further.append((piece, more))
            reading = further
    finally:
        connection.ahead = None
