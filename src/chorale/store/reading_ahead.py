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
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

from chorale.store.batched_reads import BatchedReads
from chorale.store.prepared import Asked, Scope

if TYPE_CHECKING:
    from chorale.store.postgres import PostgresConnection


class ChangedRows:
    """Whose rows were changed since a group began."""

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
    """What rows that were read ahead depend on."""

    def __init__(self) -> None:
        self._workers: set[int] = set()
        self._trust: set[int] = set()
        self._items: set[int] = set()
        self._wanting: set[int] = set()
        self._places: list[tuple[int, int]] = []
        """With how many may be taken of each before it matters."""
        self._full: list[tuple[int, int]] = []
        """With how many are to be taken of each."""
        self.counted: dict[int, int] = {}
        """With how many judgments may come to count of each before it matters."""

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
        """Note a row with a place left, and those before it, whose places others take."""
        rows = passed if chosen is None else [*passed, chosen]
        self._wanting.update(row[scope.wanting] for row in rows)
        self._full += [(row[scope.place], row[scope.places_left]) for row in passed]
        if chosen is not None:
            self._places.append((chosen[scope.place], chosen[scope.places_left]))

    def hold(self, changes: ChangedRows) -> bool:
        """Whether all of them are as they were, and others have taken what was left to them."""
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
    """Work that reads ahead, and what it has read."""

    def __init__(self, work: Callable[[Any], Any], connection: "PostgresConnection") -> None:
        self._work, self._connection = work, connection
        self._greenlet = greenlet(self._run)
        self._reads: _Reads | None = None
        self._result: Any = None
        self._error: Exception | None = None

    def resume(self, rows: Sequence[Sequence[Any]] | None = None) -> Sequence[Asked] | None:
        """Run it until it asks for rows; None once it waits for its turn or is done."""
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
        """Whether what it has read is as it was."""
        changes = self._connection.changes_noted
        return self._reads is None or (not changes.everywhere and self._reads.hold(changes))

    def finish(self) -> Any:
        """Do the rest of it."""
        if not self._greenlet.dead:
            self._greenlet.switch()
        if self._error is not None:
            raise self._error
        return self._result

    def start_over(self) -> Any:
        """Do all of it, with nothing that it has read."""
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
    """What a connection is to do with the statements of work that reads ahead."""

    def __init__(self, running: _Piece, usual_places: dict[int, int]) -> None:
        self._group = getcurrent()
        self._usual_places = usual_places
        self._searches: Counter[int] = Counter()
        """How many have searched each stage for an item."""
        self._reserved: Counter[int] = Counter()
        """How many places of each item they are going to take."""
        self.running = running

    def rows(self, asked: Sequence[Asked]) -> Sequence[Sequence[Any]] | None:
        """The rows of some statements; None once it is the turn of who asks, as it is for what no scope is known of."""
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
        # As many rows as the earlier searches fill, and one more, rounded up: each number is a statement of its own.
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
"""Numbers of pieces of work and what does each, in the order they are to be done; nothing may be done in between."""


def in_turn(connection: "PostgresConnection", works: Sequence[Callable[[Any], Any]]) -> Turns:
    """For each piece of work its number and what does it. All of them read first.

    Those that others have overtaken come later, after they have read again, together; and again, as long as that gets
    enough of them done.
    """
    numbers: Sequence[int] = range(len(works))
    together = True
    while numbers:
        overtaken: list[int] = []
        yield from _turns(connection, works, numbers, overtaken if together else None)
        together = len(overtaken) <= len(numbers) * _MOST_OVERTAKEN or numbers == range(len(works))
        numbers = overtaken


_MOST_OVERTAKEN = 0.75
"""Which part of those that have read again may be overtaken again before each of the rest starts over by itself."""


def _turns(
    connection: "PostgresConnection",
    works: Sequence[Callable[[Any], Any]],
    numbers: Sequence[int],
    overtaken: list[int] | None = None,
) -> Turns:
    """Some of the work; `overtaken` gets what is to be done later, and without it everything is done now."""
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
    """Let all pieces read. The server looks for what some ask for while others go on with what it has found."""
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
