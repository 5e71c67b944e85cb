"""Work of a group reads ahead together, and writes one after the other.

All reads share one round trip to PostgreSQL: each piece runs until it requests rows, and continues when all have
theirs. A piece waits for its turn before its first write. If its rows were changed by then, it starts over. Statements
name the rows they concern (`prepared.Scope`). A statement without a scope concerns all rows: such a write invalidates
everything read ahead, and such a read is not done ahead. So the result equals that of sequential work.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

from chorale.store.batched_reads import BatchedReads
from chorale.store.prepared import Asked, Scope

if TYPE_CHECKING:
    from chorale.store.postgres import PostgresConnection


class ChangedRows:
    """The rows changed since a group started."""

    def __init__(self) -> None:
        self.everywhere = False
        self.workers: set[int] = set()
        self.trust: set[int] = set()
        self.items: set[int] = set()
        self.wanting: set[int] = set()
        self.places: Counter[int] = Counter()
        self.counted: Counter[int] = Counter()

    def note(self, scope: Scope | None, parameters: Mapping[str, Any]) -> None:
        if scope is None:
            self.everywhere = True
            return
        if scope.worker is not None:
            self.workers.add(parameters[str(scope.worker)])
        if scope.trust is not None:
            self.trust.add(parameters[str(scope.trust)])
        if scope.item is not None:
            self.items.add(parameters[str(scope.item)])
        if scope.wanting is not None:
            self.wanting.add(parameters[str(scope.wanting)])
        if scope.place is not None:
            self.places[parameters[str(scope.place)]] += 1
        if scope.counted is not None:
            self.counted[parameters[str(scope.counted)]] += 1


class _Reads:
    """The dependencies of rows that were read ahead."""

    def __init__(self) -> None:
        self._workers: set[int] = set()
        self._trust: set[int] = set()
        self._items: set[int] = set()
        self._wanting: set[int] = set()
        self._places: list[tuple[int, int]] = []
        """By place: how many may be taken before the rows are outdated."""
        self._full: list[tuple[int, int]] = []
        """By place: the number that earlier pieces of work must take for the rows to stay valid."""
        self.counted: dict[int, int] = {}
        """By item: how many further judgments may count before the rows are outdated."""

    def note(self, asked: Asked, rows: Sequence[Any]) -> None:
        _, _, scope, parameters = asked
        if scope is None:
            return
        if scope.worker is not None:
            self._workers.update(_named(scope.worker, parameters, rows))
        if scope.trust is not None:
            self._trust.update(_named(scope.trust, parameters, rows))
        if scope.item is not None:
            self._items.update(_named(scope.item, parameters, rows))
        if scope.wanting is not None:
            self._wanting.update(_named(scope.wanting, parameters, rows))
        if scope.counted is not None:
            self.counted.update(dict.fromkeys(_named(scope.counted, parameters, rows), 0))
        if scope.places_left is not None:
            self._places += [(row[scope.place], row[scope.places_left]) for row in rows]
        elif scope.place is not None:
            self._places += [(place, 1) for place in _named(scope.place, parameters, rows)]

    def note_search(self, scope: Scope, passed: Sequence[Any], chosen: Any) -> None:
        """Note the chosen row, which has a place left, and the rows before it, whose places other work takes."""
        rows = passed if chosen is None else [*passed, chosen]
        self._wanting.update(row[scope.wanting] for row in rows)
        self._full += [(row[scope.place], row[scope.places_left]) for row in passed]
        if chosen is not None:
            self._places.append((chosen[scope.place], chosen[scope.places_left]))

    def hold(self, changes: ChangedRows) -> bool:
        """Whether the rows are still valid: unchanged, and with places taken or left as assumed when they were read."""
        return (
            changes.workers.isdisjoint(self._workers)
            and changes.trust.isdisjoint(self._trust)
            and changes.items.isdisjoint(self._items)
            and changes.wanting.isdisjoint(self._wanting)
            and not any(changes.places[place] >= left for place, left in self._places)
            and all(changes.places[place] >= left for place, left in self._full)
            and not any(changes.counted[item] > most for item, most in self.counted.items())
        )


def _named(where: str | int, parameters: Mapping[str, Any], rows: Sequence[Any]) -> Sequence[int]:
    return [parameters[where]] if isinstance(where, str) else [row[where] for row in rows]


class _Piece:
    """A piece of work with the rows it has read."""

    def __init__(self, work: Callable[[Any], Any], connection: "PostgresConnection") -> None:
        self._work, self._connection = work, connection
        self._greenlet = greenlet(self._run)
        self._reads: _Reads | None = None
        self._result: Any = None
        self._error: Exception | None = None

    def resume(self, rows: Sequence[Sequence[Any]] | None = None) -> Sequence[Asked] | None:
        """Run it until it requests rows; None once it waits for its turn or is done."""
        asked: Sequence[Asked] | None = self._greenlet.switch(rows)
        return asked

    def note(self, asked: Sequence[Asked], results: Sequence[Sequence[Any]]) -> None:
        self._reads = self._reads or _Reads()
        for statement, rows in zip(asked, results, strict=True):
            self._reads.note(statement, rows)

    def note_search(self, scope: Scope, passed: Sequence[Any], chosen: Any) -> None:
        self._reads = self._reads or _Reads()
        self._reads.note_search(scope, passed, chosen)

    def tolerate_judgments(self, item_id: int, most: int) -> None:
        if self._reads is not None and item_id in self._reads.counted:
            self._reads.counted[item_id] = most

    def holds(self) -> bool:
        """Whether its rows have not changed."""
        changes = self._connection.changes_noted
        return self._reads is None or (not changes.everywhere and self._reads.hold(changes))

    def finish(self) -> Any:
        """Run the rest of it."""
        if not self._greenlet.dead:
            self._greenlet.switch()
        if self._error is not None:
            raise self._error
        return self._result

    def start_over(self) -> Any:
        """Run it again from the start, without the rows it has read."""
        self.drop()
        return self._work(self._connection)

    def drop(self) -> None:
        if self._greenlet:
            self._greenlet.throw()

    def _run(self, _rows: None) -> None:
        try:
            self._result = self._work(self._connection)
        except Exception as error:
            self._error = error


class ReadingAhead:
    """Handles the statements of work that reads ahead."""

    def __init__(self, running: _Piece, usual_places: dict[int, int]) -> None:
        self._group = getcurrent()
        self._usual_places = usual_places
        self._searches: Counter[int] = Counter()
        """By stage: the number of searches for an item."""
        self._reserved: Counter[int] = Counter()
        """By item: the number of places that these searches are going to take."""
        self.running = running

    def rows(self, asked: Sequence[Asked]) -> Sequence[Sequence[Any]] | None:
        """The rows of some statements. If one has no scope, waits for the turn of the work and returns None."""
        if any(scope is None for _, _, scope, _ in asked):
            self.wait_for_turn()
            return None
        results: Sequence[Sequence[Any]] = self._group.switch(asked)
        return results

    def first_free(self, stage_id: int, scope: Scope, asked: Callable[[int], Asked]) -> Any:
        """The first row with a place that no earlier search of the group takes; None if there is none.

        `asked` returns the search for a number of rows.
        """
        earlier, places = self._searches[stage_id], self._usual_places.get(stage_id, 1)
        self._searches[stage_id] += 1
        # Rows for the places of the earlier searches and one more, rounded up: each number is a separate statement.
        most = 1 << (-(-earlier // places)).bit_length()
        while True:
            [rows] = self._group.switch([asked(most)])
            free = next((number for number, row in enumerate(rows) if self._has_place(scope, row)), None)
            if free is not None or len(rows) < most:
                break
            most *= 4
        self._usual_places[stage_id] = max([places, *(row[scope.places_left] for row in rows)])
        chosen = None if free is None else rows[free]
        self.running.note_search(scope, rows[:free], chosen)
        if chosen is not None:
            self._reserved[chosen[scope.place]] += 1
        return chosen

    def _has_place(self, scope: Scope, row: Any) -> bool:
        return bool(self._reserved[row[scope.place]] < row[scope.places_left])

    def wait_for_turn(self) -> None:
        self._group.switch(None)


Turns = Generator[tuple[int, Callable[[], Any]]]
"""Numbers and functions of pieces of work, in the order to run them; nothing may run in between."""


def in_turn(connection: "PostgresConnection", works: Sequence[Callable[[Any], Any]], postponed: set[int]) -> Turns:
    """The number and function of each piece of work.

    All of them read first. Some may have outdated rows when it is their turn. If they are few, they are added to
    `postponed`: they read again with the next group, so that nobody waits for them. Otherwise, they run
    later in this group and read again together. This repeats as long as enough of them get done.
    """
    numbers: Sequence[int] = range(len(works))
    together = True
    while numbers:
        overtaken: list[int] = []
        yield from _turns(connection, works, numbers, overtaken if together else None)
        if len(overtaken) <= len(works) * _MOST_POSTPONED:
            postponed.update(overtaken)
            return
        together = len(overtaken) <= len(numbers) * _MOST_OVERTAKEN or numbers == range(len(works))
        numbers = overtaken


_MOST_POSTPONED = 0.25
"""The share of a group that may be postponed to the next group."""
_MOST_OVERTAKEN = 0.75
"""The share of repeated reads that may become outdated again before the rest runs one by one."""


def _turns(
    connection: "PostgresConnection",
    works: Sequence[Callable[[Any], Any]],
    numbers: Sequence[int],
    overtaken: list[int] | None = None,
) -> Turns:
    """The numbered pieces of work. Outdated ones are added to `overtaken`, to run later; if it is None, all run now."""
    if len(numbers) == 1:
        yield numbers[0], partial(works[numbers[0]], connection)
        return
    pieces = [_Piece(works[number], connection) for number in numbers]
    try:
        _read_ahead(connection, pieces)
        for number, piece in zip(numbers, pieces, strict=True):
            if piece.holds():
                yield number, piece.finish
            elif overtaken is None or connection.changes_noted.everywhere:
                yield number, piece.start_over
            else:
                overtaken.append(number)
    finally:
        for piece in pieces:
            piece.drop()


def _read_ahead(connection: "PostgresConnection", pieces: Sequence[_Piece]) -> None:
    """Let all pieces read. The server runs queries of some while others process their rows."""
    reads: BatchedReads[_Piece] = BatchedReads(connection.driver)
    ahead = ReadingAhead(pieces[0], connection.usual_places)

    def go_on(piece: _Piece, rows: Sequence[Sequence[Any]] | None = None) -> None:
        ahead.running = piece
        if asked := piece.resume(rows):
            reads.ask(piece, asked)

    connection.changes_noted = ChangedRows()
    connection.ahead = ahead
    try:
        receive_numbers = connection.ask_numbers()
        for piece in pieces:
            go_on(piece)
        receive_numbers()
        while (answered := reads.next()) is not None:
            piece, asked, rows = answered
            piece.note(asked, rows)
            go_on(piece, rows)
    finally:
        connection.ahead = None
