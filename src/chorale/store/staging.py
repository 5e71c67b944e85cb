"""A temporary database for judgments to be imported.

There may be millions, in any order. SQLite finds duplicates and sorts them by item and time, with limited memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.batch_files import BatchRow
from chorale.store.codec import as_ordered_text, from_text
from chorale.store.sqlite import SqliteDriver

_AT_ONCE = 5_000
_REMEMBERED, _MOST_CHARACTERS = 50_000, 8_000_000

_BEFORE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16384;
CREATE TABLE task_row (id INTEGER PRIMARY KEY, line INTEGER, task TEXT, cells TEXT);
CREATE TABLE answer (id INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT, number INTEGER);
CREATE TABLE judgment (
    line INTEGER PRIMARY KEY, task_row INTEGER, worker INTEGER, answer INTEGER, submitted INTEGER, duration INTEGER,
    reward INTEGER
);
"""
# The last of a worker's repeated judgments counts: with max(), SQLite takes the other columns of a group from the row
# with the maximum.
_ARRANGE = """
CREATE TABLE place (task_row INTEGER PRIMARY KEY, item INTEGER);
INSERT INTO place SELECT id, dense_rank() OVER (ORDER BY task) FROM task_row;
CREATE TABLE done (
    id INTEGER PRIMARY KEY, line INTEGER, item INTEGER, task_row INTEGER, worker INTEGER, answer INTEGER,
    submitted INTEGER, duration INTEGER, reward INTEGER
);
INSERT INTO done
    SELECT NULL, max(line), item, judgment.task_row, worker, answer, submitted, duration, reward
    FROM judgment JOIN place ON place.task_row = judgment.task_row
    GROUP BY item, worker ORDER BY coalesce(submitted, 0), max(line);
DROP TABLE judgment;
CREATE INDEX by_item ON done (item, id, worker, answer, task_row);
"""


_TOTALS = "SELECT count(*), max(item), count(DISTINCT worker) FROM done"
_MOST = "SELECT max(of_item) FROM (SELECT count(*) AS of_item FROM done GROUP BY item)"
_TOO_MANY = """
SELECT d.line, t.task
FROM (SELECT line, task_row, row_number() OVER (PARTITION BY item ORDER BY line) AS number FROM done) AS d
JOIN task_row AS t ON t.id = d.task_row WHERE d.number = ? ORDER BY d.line LIMIT 1
"""
_REWARDS = "SELECT count(reward) = count(*), min(reward), max(reward) FROM done"
_ANSWERS = """
SELECT a.text, d.number FROM (SELECT answer, count(*) AS number FROM done GROUP BY answer) AS d
JOIN answer AS a ON a.id = d.answer
"""
_TO_REWRITE = "SELECT id, text FROM answer WHERE id > ? AND id IN (SELECT answer FROM done) ORDER BY id LIMIT ?"
_DIFFERING = """
WITH task_rows AS (SELECT DISTINCT item, task_row FROM done)
SELECT d.item, t.cells FROM task_rows AS d JOIN task_row AS t ON t.id = d.task_row
WHERE d.item IN (
    SELECT e.item FROM task_rows AS e JOIN task_row AS u ON u.id = e.task_row
    GROUP BY e.item HAVING min(u.cells) <> max(u.cells)
) ORDER BY d.item
"""
_ITEMS = """
SELECT t.line, t.task, t.cells FROM (SELECT item, min(task_row) AS task_row FROM done GROUP BY item) AS d
JOIN task_row AS t ON t.id = d.task_row ORDER BY d.item
"""
_WORKERS = """
SELECT d.worker, w.name, d.came
FROM (SELECT worker, min(coalesce(submitted, ?) - duration) AS came FROM done GROUP BY worker) AS d
JOIN worker AS w ON w.id = d.worker
"""
_WORKED = """
SELECT w.number, count(*), sum(d.duration), min(coalesce(d.submitted, ?) - d.duration)
FROM done AS d JOIN worker AS w ON w.id = d.worker GROUP BY d.worker
"""
# The columns of a study's tables for a judgment.
_SOME = "WHERE d.id BETWEEN :first AND :last ORDER BY d.id"
_ASSIGNMENTS = """
SELECT d.id + :assignment, 'imported-' || (d.id + :assignment), :stage, d.item + :item, w.number, t.task,
    'production', 'submitted', coalesce(d.submitted, :now) - d.duration, coalesce(d.submitted, :now),
    coalesce(d.submitted, :now)
FROM done AS d JOIN worker AS w ON w.id = d.worker JOIN task_row AS t ON t.id = d.task_row
"""
_RESPONSES = """
SELECT d.id + :response, d.id + :assignment, :stage, d.item + :item, w.number, 'production', a.text, :version,
    coalesce(d.submitted, :now), d.duration, 'imported-' || (d.id + :response)
FROM done AS d JOIN worker AS w ON w.id = d.worker JOIN answer AS a ON a.id = d.answer
"""
_ENTRIES = """
SELECT 'response:' || (d.id + :response) || ':base', coalesce(d.submitted, :now), w.number, :stage, 'base', :amount,
    :reason
FROM done AS d JOIN worker AS w ON w.id = d.worker
"""


class Totals(NamedTuple):
    """Numbers of distinct rows."""

    judgments: int
    repeated: int
    """Judgments that do not count, because the worker judged the task again."""
    items: int
    workers: int
    most: int
    """Maximum number of judgments of one item."""


class StagedTask(NamedTuple):
    line: int
    task: str
    cells: list[str]


class Staging:
    """The judgments of one file: first added, then arranged, then queried."""

    def __init__(self, file: Path) -> None:
        # Rows have mixed types.
        self._database: Any = SqliteDriver(str(file))
        self._database.execute(_BEFORE).fetchall()
        self._added = 0

    def close(self) -> None:
        self._database.close()

    def add(self, rows: Iterable[BatchRow]) -> int:
        """Add judgments; returns their number."""
        tasks = _Numbered(self._database, "INSERT INTO task_row VALUES (?, ?, ?, ?)")
        answers = _Numbered(self._database, "INSERT INTO answer VALUES (?, ?)")
        workers: dict[str, int] = {}
        rows = iter(rows)
        self._database.execute("BEGIN")
        while part := list(islice(rows, _AT_ONCE)):
            values = [
                (
                    row.line,
                    tasks.number((row.task, row.item_cells))
                    or tasks.add((row.task, row.item_cells), _task_values(row)),
                    workers.setdefault(row.worker, len(workers) + 1),
                    answers.number(row.given) or answers.add(row.given, (as_ordered_text(row.given),)),
                    row.submitted_at,
                    row.duration_ms,
                    row.reward,
                )
                for row in part
            ]
            self._database.executemany("INSERT INTO judgment VALUES (?, ?, ?, ?, ?, ?, ?)", values)
            self._added += len(part)
        tasks.flush()
        answers.flush()
        self._database.executemany("INSERT INTO worker VALUES (?, ?, NULL)", ((n, name) for name, n in workers.items()))
        self._database.execute("COMMIT")
        return self._added

    def arrange(self) -> Totals:
        """Leave out repeated judgments, and sort the rest: items by tasks, judgments by times."""
        self._database.execute(f"BEGIN; {_ARRANGE} COMMIT;").fetchall()
        judgments, items, workers = self._database.execute(_TOTALS).fetchone()
        [most] = self._database.execute(_MOST).fetchone()
        return Totals(judgments, self._added - judgments, items, workers, most)

    def too_many(self, limit: int) -> tuple[int, str]:
        """Line and task of the first judgment beyond `limit` per task."""
        line, task = self._database.execute(_TOO_MANY, (limit + 1,)).fetchone()
        return int(line), str(task)

    def rewards(self) -> tuple[int | None, int | None]:
        """The minimum and maximum pay of a judgment; None if it is unknown for some."""
        known, lowest, highest = self._database.execute(_REWARDS).fetchone()
        return (lowest, highest) if known else (None, None)

    def answers(self) -> Iterator[tuple[list[str | list[str] | None], int]]:
        """Submitted values by field, with their frequency. A combination may come several times."""
        for text, number in self._database.execute(_ANSWERS):
            yield from_text(text), number

    def rewrite_answers(self, written: Callable[[list[Any]], str]) -> None:
        """Replace every counted answer by the JSON that `written` makes from it."""
        after = 0
        self._database.execute("BEGIN")
        while part := self._database.execute(_TO_REWRITE, (after, _AT_ONCE)).fetchall():
            values = [(written(from_text(text)), number) for number, text in part]
            self._database.executemany("UPDATE answer SET text = ? WHERE id = ?", values)
            after = part[-1][0]
        self._database.execute("COMMIT")

    def differing(self) -> Iterator[list[list[str]]]:
        """The cells of all rows of every item whose rows differ, item by item."""
        for _, rows in groupby(self._database.execute(_DIFFERING), itemgetter(0)):
            yield [from_text(cells) for _, cells in rows]

    def items(self) -> Iterator[StagedTask]:
        """All items in the order of their numbers, each with the cells of one of its rows."""
        for line, task, cells in self._database.execute(_ITEMS):
            yield StagedTask(line, task, from_text(cells))

    def workers(self, now: int) -> Iterator[tuple[int, str, int]]:
        """Number, name and first time of all workers; `now` if a file has no times."""
        yield from self._database.execute(_WORKERS, (now,))

    def number_workers(self, numbers: Iterable[tuple[int, int]]) -> None:
        """Store the workers' numbers in the study, in addition to those here."""
        self._database.execute("BEGIN")
        self._database.executemany("UPDATE worker SET number = ? WHERE id = ?", ((new, n) for n, new in numbers))
        self._database.execute("COMMIT")

    def worked(self, now: int) -> Iterator[tuple[int, int, int, int]]:
        """Judgments, milliseconds of work and first time, by worker number in the study."""
        yield from self._database.execute(_WORKED, (now,))

    def assignments(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Assignments of some judgments, as rows of the study's table, with `values` for unknown columns."""
        return list(self._database.execute(_ASSIGNMENTS + _SOME, values))

    def responses(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Responses of some judgments, as rows of the study's table."""
        return list(self._database.execute(_RESPONSES + _SOME, values))

    def entries(self, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Ledger entries of some judgments, as rows of the study's table."""
        return list(self._database.execute(_ENTRIES + _SOME, values))

    def by_item(self) -> Iterator[tuple[int, int, int, Any]]:
        """Item, rank by time, worker and answer of all judgments, item by item."""

        @lru_cache(maxsize=_AT_ONCE)
        def answer(number: int) -> Any:
            [text] = self._database.ask("SELECT text FROM answer WHERE id = ?", (number,)).fetchone()
            return from_text(text)

        for item, place, worker, given in self._database.execute(
            "SELECT item, id, worker, answer FROM done ORDER BY item, id"
        ):
            yield item, place, worker, answer(given)


class _Numbered:
    """Stores repeated values under numbers, normally once each: after many other values, a value is stored again."""

    def __init__(self, database: SqliteDriver, insert: str) -> None:
        self._database, self._insert = database, insert
        self._known: dict[Any, int] = {}
        self._waiting: list[tuple[Any, ...]] = []
        self._last = self._characters = 0
        self.number = self._known.get

    def add(self, key: Any, values: tuple[Any, ...]) -> int:
        self._last += 1
        self._characters += sum(len(value) for value in values if isinstance(value, str))
        if len(self._waiting) == _AT_ONCE:
            self.flush()
        if len(self._known) == _REMEMBERED or self._characters > _MOST_CHARACTERS:
            self.flush()
            self._known.clear()
            self._characters = 0
        self._waiting.append((self._last, *values))
        self._known[key] = self._last
        return self._last

    def flush(self) -> None:
        self._database.executemany(self._insert, self._waiting)
        self._waiting.clear()


def _task_values(row: BatchRow) -> tuple[int, str, str]:
    return row.line, row.task, as_ordered_text(row.item_cells)
