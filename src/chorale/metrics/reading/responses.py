"""Reads correct and wrong answers: a CSV with one row per responder and one column per item, or one row per answer.

Columns are separated by commas or semicolons, and by tabs in a .tsv file.

The first column (`userid`, or any other name) contains the responders; every other column is an item, with 1 for a
correct answer, 0 for a wrong answer, and empty if missing. A file with columns for responder, item and answer, under
one of the names in `LONG`, has a row per answer instead. Several files are several tests.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chorale.files.rows import why_not_csv
from chorale.files.separators import LOOKED_AT, declared_separator, separator_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, Source, read_source
from chorale.model import Problem, UserError
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

_VALUES = {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0, "": np.nan}
LONG = {
    "responder": ("responder", "userid", "worker"),
    "item": ("item", "task"),
    "answer": ("answer", "correct", "score", "label"),
}
"""Column names of files with one row per answer."""
_NUMBER = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True, eq=False)
class ResponseTable:
    """All tests side by side, with responders and items in natural order (2 before 10)."""

    responders: tuple[str, ...]
    items: tuple[str, ...]
    tests: tuple[int, ...]
    """The test number of every item, from 0."""
    matrix: NDArray[np.float64]
    """Responders × items: 1 correct, 0 wrong, NaN missing."""
    sources: tuple[Source, ...]

    def __repr__(self) -> str:
        return brief_repr(
            "ResponseTable",
            plural(len(self.responders), "responder", "responders"),
            plural(len(self.items), "item", "items"),
            plural(len(self.sources), "test", "tests"),
        )


@dataclass(frozen=True, slots=True)
class _Test:
    source: Source
    items: list[str]
    answers: dict[str, list[float]]
    graded: bool

    def value(self, cell: str) -> float | None:
        """The number of an answer, or None if invalid."""
        if not self.graded:
            return _VALUES.get(cell.strip())
        try:
            number = float(cell) if cell.strip() else np.nan
        except ValueError:
            return None
        return None if np.isinf(number) or (cell.strip() and np.isnan(number)) else number

    @property
    def allowed(self) -> str:
        return "a number" if self.graded else "0 or 1"


def read_responses(paths: Sequence[Path], *, graded: bool = False) -> ResponseTable:
    """Reads the tests of all files. Responders are matched by name. All errors are reported together.

    Graded answers can be any numbers.
    """
    problems: list[Problem] = []
    tests = [_read(path, problems, graded) for path in paths]
    seen: dict[str, str] = {}
    for test in tests:
        for item in test.items:
            if item in seen:
                message = f"repeats an item of {seen[item]}"
                fix = "Rename the column in one of the files, or list each file only once."
                problems.append(Problem(test.source.name, 1, message, fix, shortened(item)))
            seen[item] = test.source.name
    if problems:
        raise UserError("The responses can't be used", problems[:MOST_PROBLEMS])
    return _joined(tests)


def _joined(tests: list[_Test]) -> ResponseTable:
    responders = sorted({name for test in tests for name in test.answers}, key=_natural)
    row = {name: number for number, name in enumerate(responders)}
    columns = [(item, number) for number, test in enumerate(tests) for item in test.items]
    matrix = np.full((len(responders), len(columns)), np.nan)
    start = 0
    for test in tests:
        for name, answers in test.answers.items():
            matrix[row[name], start : start + len(answers)] = answers
        start += len(test.items)
    order = sorted(range(len(columns)), key=lambda place: (columns[place][1], _natural(columns[place][0])))
    return ResponseTable(
        responders=tuple(responders),
        items=tuple(columns[place][0] for place in order),
        tests=tuple(columns[place][1] for place in order),
        matrix=matrix[:, order],
        sources=tuple(test.source for test in tests),
    )


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Names in natural order: item_2 before item_10."""
    # Compared by number of digits, because Python limits the conversion of long numbers.
    split = [(part.isascii() and part.isdigit(), part.lstrip("0")) for part in _NUMBER.split(name) if part]
    return [(0, len(part), part) if is_number else (1, 0, part) for is_number, part in split], name


def _read(path: Path, problems: list[Problem], graded: bool) -> _Test:
    source = read_source(path)

    def report(line: int | None, message: str, fix: str, value: str | None = None) -> None:
        problems.append(Problem(source.name, line, message, f"{fix}.", None if value is None else shortened(value)))

    declared = declared_separator(source.text.partition("\n")[0])
    separator = declared or ("\t" if ".tsv" in path.suffixes else separator_of(source.text[:LOOKED_AT]))
    rows = csv.reader(io.StringIO(source.text, newline="\n"), delimiter=separator, strict=True)
    test = _Test(source, [], {}, graded)
    before = len(problems)
    try:
        header = next(rows)
        if declared is not None:
            header = next(rows)
        places = _long_columns(header)
        if places:
            _read_long(rows, places, test, report, problems)
        elif _check_header(header, report):
            test.items.extend(name.strip() for name in header[1:])
            for cells in rows:
                if cells and len(problems) < MOST_PROBLEMS:
                    _read_row(cells, rows.line_num, test, report)
        if (places or test.items) and not test.answers:
            _tell_of_none(problems, before, report)
    except csv.Error as error:
        message, fix = why_not_csv(str(error))
        report(rows.line_num, message, fix.removesuffix("."))
    return test


def _long_columns(header: list[str]) -> tuple[int, int, int] | None:
    """Positions of the columns responder, item and answer, if the file has them."""
    names = [name.strip().lower() for name in header]
    places = [next((names.index(name) for name in LONG[what] if name in names), None) for what in LONG]
    responder, item, answer = places
    return None if responder is None or item is None or answer is None else (responder, item, answer)


def _read_long(
    rows: "_Rows", places: tuple[int, int, int], test: _Test, report: "_Report", problems: list[Problem]
) -> None:
    """Reads one answer per row. A second answer of a responder to an item is an error."""
    given: dict[tuple[str, str], float] = {}
    for cells in rows:
        if not cells or len(problems) >= MOST_PROBLEMS:
            continue
        if len(cells) <= max(places):
            report(rows.line_num, "has too few cells", "Write responder, item and answer", f"{len(cells)}")
            continue
        responder, item, cell = (cells[place].strip() for place in places)
        value = test.value(cell)
        if not responder or not item:
            report(rows.line_num, f"has no {'item' if responder else 'responder'}", "Write a name in every row")
        elif value is None:
            fix = f"Write {test.allowed}, or leave it empty if missing"
            report(rows.line_num, f"has an answer to item {item!r} that is not {test.allowed}", fix, cell)
        elif (responder, item) in given:
            report(rows.line_num, f"repeats an answer of {responder} to this item", "Keep only one of them", item)
        else:
            given[responder, item] = value
    test.items.extend(dict.fromkeys(item for _, item in given))
    place = {item: number for number, item in enumerate(test.items)}
    for (responder, item), value in given.items():
        test.answers.setdefault(responder, [np.nan] * len(place))[place[item]] = value
    for responder, answers in test.answers.items():
        if np.isnan(answers).all():
            report(None, "has a responder without any answer", "Remove the rows of this responder", responder)


def _tell_of_none(problems: list[Problem], before: int, report: "_Report") -> None:
    """If none of several rows is valid, the file is of another kind, which is reported once."""
    if not problems:
        report(None, "has no responders", "Write one line per responder")
    elif len(problems) - before > 1:
        first = problems[before]
        del problems[before:]
        message = f"is not a table of responses: no row is valid, and this row {first.message}"
        fix = (
            "Write the item names in the first line, then one line per responder: a name, and 1, 0 or empty cells. Or "
            "use the three columns responder, item and answer, with one line per answer."
        )
        problems.append(Problem(first.file, first.line, message, fix, first.value))


def _check_header(header: list[str], report: "_Report") -> bool:
    names = [name.strip() for name in header]
    if len(names) < 2:
        report(
            1,
            "has no items",
            "Write userid and the item names in the first line, separated by commas",
            ",".join(names),
        )
        return False
    sound = True
    taken: set[str] = set()
    for number, name in enumerate(names[1:], 2):
        if not name:
            report(1, f"has no name for column {number}", "Give every item a name")
            sound = False
        elif name in taken:
            report(1, "has the same item twice", "Rename or remove one of the columns", name)
            sound = False
        taken.add(name)
    return sound


def _read_row(cells: list[str], line: int, test: _Test, report: "_Report") -> None:
    name = cells[0].strip()
    if len(cells) != len(test.items) + 1:
        report(line, f"does not have {len(test.items) + 1} cells like the header", "Correct the row", f"{len(cells)}")
        return
    if not name:
        report(line, "has no responder", "Write a name in the first cell")
        return
    if name in test.answers:
        report(line, "repeats a responder", "Keep one row per responder", name)
        return
    answers = []
    for item, cell in zip(test.items, cells[1:], strict=True):
        value = test.value(cell)
        if value is None:
            fix = f"Write {test.allowed}, or leave it empty if missing"
            report(line, f"has an answer to item {item!r} that is not {test.allowed}", fix, cell)
            break
        answers.append(value)
    else:
        test.answers[name] = answers
        if np.isnan(answers).all():
            report(line, "has a responder without any answer", "Remove the row", name)


class _Rows(Protocol):
    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...


class _Report(Protocol):
    def __call__(self, line: int | None, message: str, fix: str, value: str | None = None) -> None: ...
