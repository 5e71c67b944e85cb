"""Reads finished work row by row: batch files of Mechanical Turk and Appen, and tables of task, worker and label.

Besides task, worker and answer, a row has the item's columns, the time, the duration and the pay. Invalid values are
reported with line and column. A file is read once and never held in memory: rows are spooled to another file until
their meaning is known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.batch_answers import ANSWER, GOLD, INPUT, JSON_LISTS, MOST_FIELDS, AnswerScan, BatchField, LabelScan
from chorale.files.batch_cells import (
    CellProblems,
    Column,
    as_text,
    label_in,
    name_in,
    reward_in,
    seconds_in,
    time_in,
)
from chorale.files.judgment_layout import APPEN, MECHANICAL_TURK, JudgmentLayout, boxes_of, field_of, layout_of
from chorale.files.row_spool import Cells, RowSpool
from chorale.files.rows import is_table
from chorale.files.shortening import shortened
from chorale.files.source import StreamedFile, digest_of, read_bytes
from chorale.model import Problem, UserError
from chorale.model.plural import plural

LABEL = "label"
"""The name of a form's only field."""

Given = str | tuple[str, ...] | None
"""A submitted value: a label or text, a set of labels, or nothing."""


class BatchRow(NamedTuple):
    """One judgment."""

    line: int
    task: str
    worker: str
    given: tuple[Given, ...]
    """The submitted values, by field."""
    submitted_at: int | None
    """Milliseconds since 1970; None if the file has no times."""
    duration_ms: int
    reward: int | None
    """In cents; None if the file has no pay."""
    item_cells: tuple[str, ...]
    """The item's columns, in the order of the file."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The columns with the judgments, if they can't be determined from the file."""

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    sep: str | None = None
    keep_rejected: bool = False


@dataclass(frozen=True, slots=True)
class _Platform:
    """The columns of a platform's files that are not judgments."""

    panel: str
    submitted: str | None = None
    seconds: str | None = None
    started: str | None = None
    reward: str | None = None
    sep: str = "|"
    """The separator between checked options."""


_BATCH = _Platform("mturk", "SubmitTime", "WorkTimeInSeconds", None, "Reward")
_APPEN = _Platform("appen", "_created_at", None, "_started_at", None, "\n")
_TABLE = _Platform("table")
_BATCH_REFUSALS = ("AssignmentStatus", "Counts")
_REFUSALS = {"AssignmentStatus": "rejected", "_tainted": "tainted"}
"""The reason why work is left out, by the column that marks it. For Chorale's own tables, it is “not counted”."""
_MOST_KNOWN, _LONGEST_KNOWN = 5_000, 200


def read_batch(path: Path, options: BatchOptions, spool: Path, streamed: StreamedFile | None = None) -> "BatchFile":
    """Read a file and determine its columns; UserError if that fails. Its rows are stored in `spool`, a new file."""
    streamed = streamed or StreamedFile()
    problems = CellProblems(str(path))
    rows = RowSpool(spool)
    rows.fill(path, problems.listed, streamed)
    if not rows.count and not problems.listed:
        problems.listed.append(Problem(str(path), None, "has no rows", "Check the file name."))
    problems.check()
    names = rows.names
    layout = layout_of(path, names, task=options.task, worker=options.worker, label=options.label, several=True)
    platform = _platform_of(layout, names)
    kept = _Kept(rows, layout, keep=options.keep_rejected)
    fields = _fields(path, kept, layout, options.sep, platform)
    is_named = options.sep is not None or len(fields) > 1 or fields[0].boxes or fields[0].sep == JSON_LISTS
    return BatchFile(path, layout, platform, kept, fields, streamed.digest, None if is_named else fields[0].sep)


def _platform_of(layout: JudgmentLayout, names: Sequence[str]) -> _Platform:
    """The platform of a file. Its column of rejected work may have been removed."""
    has_items = layout.platform == MECHANICAL_TURK and any(name.startswith(INPUT) for name in names)
    if layout.refusal in _BATCH_REFUSALS or has_items:
        return _BATCH
    return _APPEN if layout.platform == APPEN else _TABLE


class _Kept:
    """The rows of a file without rejected work."""

    def __init__(self, rows: RowSpool, layout: JudgmentLayout, *, keep: bool) -> None:
        self._rows, self._layout, self._keep = rows, layout, keep
        self.names = rows.names
        self.places = {name: place for place, name in enumerate(rows.names)}
        self.count = rows.count
        self._gone = 0

    def __iter__(self) -> Iterator[tuple[int, Cells]]:
        if self._layout.refusal is None:
            yield from self._rows
            return
        place, refused = self.places[self._layout.refusal], self._layout.refused
        self._gone = 0
        for line, cells in self._rows:
            if str(cells[place]).lower() not in refused:
                yield line, cells
                continue
            self._gone += 1
            if self._keep:
                yield line, cells

    def left_out(self) -> dict[str, int]:
        """The number of rejected judgments by their reason, available after all rows have been read."""
        if self._keep or not self._gone:
            return {}
        return {_REFUSALS.get(self._layout.refusal or "", "not counted"): self._gone}

    def notes(self) -> Iterator[str]:
        """Notes on rejected work, available after all rows have been read."""
        if self._gone:
            refusals = " or ".join(f"“{refused}”" for refused in sorted(self._layout.refused))
            shown = (
                f"{plural(self._gone, 'judgment', 'judgments')} with {refusals} in the column {self._layout.refusal}"
            )
            yield f"{'Kept' if self._keep else 'Left out'}: {shown}."


def _fields(
    path: Path, rows: _Kept, layout: JudgmentLayout, sep: str | None, platform: _Platform
) -> Sequence[BatchField]:
    """The named label column, or all answer columns."""
    if not layout.candidates or (layout.label and sep is not None):
        column = layout.label
        sep = sep or (platform.sep if layout.boxes else _sep_in(rows, column, platform.sep))
        return [BatchField(LABEL, column, sep, is_text=column in _free_text(rows, layout), boxes=layout.boxes)]
    texts = _free_text(rows, layout)
    scan = AnswerScan(list(rows.places), layout.candidates, layout.task, sep or platform.sep)
    for _, cells in rows:
        scan.look(cells)
    fields = scan.fields()
    if not fields or len(fields) > MOST_FIELDS:
        filled_in = f"{len(fields) or 'no'} answer columns"
        problem = Problem(
            str(path), 1, f"has {filled_in}, but a form has 1 to {MOST_FIELDS}", "Choose one with --label."
        )
        raise UserError(f"{path} can't be imported", [problem])
    boxes = {field.column: boxes_of(layout, field.column, rows.names) for field in fields}
    fields = [
        replace(field, is_text=field.column in texts, boxes=boxes[field.column], sep=platform.sep)
        if boxes[field.column]
        else replace(field, is_text=field.column in texts)
        for field in fields
    ]
    return fields if len(fields) > 1 else [replace(fields[0], name=LABEL)]


def _sep_in(rows: _Kept, column: str, usual: str) -> str | None:
    """The separator of a column of JSON lists, or of cells with several options; None for other columns."""
    scan, place = LabelScan(usual), rows.places[column]
    for _, cells in rows:
        if cells[place] not in (None, ""):
            scan.look(cells[place])
    return scan.sep


def _free_text(rows: _Kept, layout: JudgmentLayout) -> frozenset[str]:
    """The columns with free text, by the column of Chorale's tables that names their fields."""
    if layout.free_text is None:
        return frozenset()
    place = rows.places[layout.free_text]
    named = {name for _, cells in rows for name in str(cells[place] or "").split()}
    return frozenset(column for column in rows.places if field_of(column) in named)


class BatchFile:
    """A file of finished work."""

    def __init__(
        self,
        path: Path,
        layout: JudgmentLayout,
        platform: _Platform,
        rows: _Kept,
        fields: Sequence[BatchField],
        digest: str,
        found_sep: str | None = None,
    ) -> None:
        self.name, self.file = path.name, str(path)
        self.panel = platform.panel
        """The origin: mturk, appen, or table."""
        self.fields = tuple(fields)
        self.digest = digest
        self._layout, self._platform, self._rows, self._found_sep = layout, platform, rows, found_sep
        self._is_table = is_table(path)
        self._item_columns = self._columns_of_items()
        self._empty = 0
        self._paid: Column | None = None

    def name_source(self, path: Path) -> None:
        """Name another file as the origin of the rows."""
        self.name, self.digest = path.name, digest_of(read_bytes(path))

    @property
    def count(self) -> int:
        """Number of rows in the file, including rejected ones."""
        return self._rows.count

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns in `item_cells`."""
        return tuple(name.removeprefix(INPUT) for name in self._item_columns)

    def _columns_of_items(self) -> list[str]:
        """The input columns of a batch, or all columns without another role."""
        taken = {*self._layout.columns, *(field.column for field in self.fields)}
        names = list(self._rows.places)
        if self.panel == "mturk":
            names = [name for name in names if name.startswith(INPUT)]
        else:
            names = [name for name in names if not name.startswith(("_", ANSWER)) and not name.endswith(GOLD)]
        return [name for name in names if name not in taken]

    def rows(self) -> Iterator[BatchRow]:
        """The judgments in the order of the file; UserError at the end if any is invalid."""
        problems = CellProblems(self.file)
        column = partial(self._column, problems)
        platform, is_table = self._platform, self._is_table
        task, worker = (_cell(column(name), name_in) for name in (self._layout.task, self._layout.worker))
        labels = [self._reader(field, column) for field in self.fields]
        of_item = _picked([self._rows.places[name] for name in self._item_columns])
        moments = _Moments(platform, column)
        reward_column = column(platform.reward)
        reward = _cell(reward_column, reward_in)
        self._empty = 0
        self._paid = reward_column
        for line, cells in self._rows:
            given = tuple([label(line, cells) for label in labels])
            if all(value is None for value in given):
                self._empty += 1
                continue
            named = task(line, cells), worker(line, cells)
            submitted_at, duration_ms = moments.of(line, cells)
            item_cells = of_item(cells) if is_table else tuple(map(as_text, of_item(cells)))
            yield BatchRow(line, *named, given, submitted_at, duration_ms, reward(line, cells), item_cells)
        problems.check()

    def _reader(self, field: BatchField, column: Callable[[str | None], Any]) -> Callable[[int, Cells], Any]:
        """A function that reads the answer to a field in a row."""
        if not field.boxes:
            return _cell(column(field.column), partial(label_in, field.sep))
        places = [(name.removeprefix(f"{field.column}."), self._rows.places[name]) for name in field.boxes]
        return lambda _line, cells: (
            tuple(sorted(option for option, place in places if cells[place] == "true"))
            if any(cells[place] for _, place in places)
            else None
        )

    def _column(self, problems: CellProblems, name: str | None) -> Any:
        """The column with this name; None if there is none."""
        place = None if name is None else self._rows.places.get(name)
        return None if name is None or place is None else Column(name, place, problems)

    def left_out(self) -> dict[str, int]:
        """The numbers of rows that are not judgments of the study, by reason, once all rows have been read."""
        return self._rows.left_out() | ({"empty": self._empty} if self._empty else {})

    def notes(self) -> list[str]:
        """Remarks on the file, complete once all rows have been read."""
        notes = list(self._rows.notes())
        if self._found_sep is not None:
            notes.append(
                f"Cells of {shortened(self.fields[0].title)} are split at {self._found_sep!r} into several options. If "
                "each cell is a single label, add --sep with a text that no cell contains."
            )
        if self._empty:
            label = self._layout.label or "answer"
            left = plural(self._empty, "row left out: it has", "rows left out: they have")
            notes.append(f"{left} no {label}.")
        if self._paid is not None and self._paid.foreign:
            notes.append(f"{self._paid.name} is not in dollars (found {self._paid.foreign!r}), so pay is not recorded.")
        return notes


class _Moments:
    """The times and durations of rows."""

    def __init__(self, platform: _Platform, column: Callable[[str | None], Any]) -> None:
        self._submitted = _cell(column(platform.submitted), time_in)
        self._started = _cell(column(platform.started), time_in)
        self._seconds = column(platform.seconds)
        self._duration = _cell(self._seconds, seconds_in)

    def of(self, line: int, cells: Cells) -> tuple[int | None, int]:
        submitted = self._submitted(line, cells)
        if self._seconds is not None and cells[self._seconds.place]:
            return submitted, self._duration(line, cells)
        started = self._started(line, cells)
        return submitted, 0 if started is None or submitted is None else max(0, submitted - started)


def _cell(column: Column | None, read: Callable[[Column, int, Any], Any]) -> Callable[[int, Cells], Any]:
    """A function that reads a column of a row; empty text if there is no such column."""
    if column is None:
        return lambda _line, _cells: None
    place = column.place
    # Most texts recur (workers, items, options), so they are interned.
    known: dict[str, Any] = {}

    def read_cell(line: int, cells: Cells) -> Any:
        value = cells[place]
        if not isinstance(value, str):
            return read(column, line, value)
        if value in known:
            return known[value]
        before = column.problem_count
        made = read(column, line, value)
        if len(value) <= _LONGEST_KNOWN and column.problem_count == before:
            if len(known) == _MOST_KNOWN:
                known.clear()
            known[value] = made
        return made

    return read_cell


def _picked(places: Sequence[int]) -> Callable[[Cells], tuple[Any, ...]]:
    if not places:
        return lambda _cells: ()
    if len(places) == 1:
        [only] = places
        return lambda cells: (cells[only],)
    return itemgetter(*places)
