"""Reads small text tables: CSV and JSONL with column names, tab-separated text with or without column names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chorale.files.json_text import FlawError
from chorale.files.rows import read_rows, suffix_of
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, read_source, refused
from chorale.model import Problem, UserError
from chorale.model.plural import plural

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of cells with their lines."""

    path: Path
    columns: tuple[str, ...] | None
    """None if there is no header."""
    rows: Iterator[tuple[int, Sequence[str]]]
    digest: str


def read_table(path: Path, is_header: Callable[[Sequence[str]], bool]) -> TextTable:
    """Reads the cells of a file. Tab-separated text has no quoting, and a first line that is not a header is a row."""
    if suffix_of(path) in {".csv", ".jsonl", ".ndjson"}:
        return _named_rows(path)
    source = read_source(path)
    lines = [(number, line) for number, line in enumerate(source.text.split("\n"), 1) if line.strip()]
    rows = [(number, line.split("\t")) for number, line in lines]
    names = tuple(name.strip().lower() for name in rows[0][1])
    columns = names if is_header(names) else None
    return TextTable(path, columns, iter(rows[1:] if columns else rows), source.digest)


def _named_rows(path: Path) -> TextTable:
    digest = digest_of(read_bytes(path))
    problems: list[Problem] = []
    rows = list(read_rows(path, shown_as=str(path), problems=problems))
    if problems or not rows:
        missing = Problem(str(path), None, "has no rows", "Check the file name.")
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS] or [missing])
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    cells = [
        (row.line, ["" if (value := row.values.get(name)) is None else str(value) for name in names]) for row in rows
    ]
    return TextTable(path, tuple(name.strip().lower() for name in names), iter(cells), digest)


def sound_rows(table: TextTable, read: Callable[[Sequence[str]], _Read]) -> list[tuple[int, _Read]]:
    """Parses the rows, each with its line. Raises one error with all problems."""
    width = None if table.columns is None else len(table.columns)
    problems: list[Problem] = []
    rows: list[tuple[int, _Read]] = []
    for line, cells in table.rows:
        try:
            if width is not None and len(cells) != width:
                fix = f"Separate cells with tabs: the header has {plural(width, 'cell', 'cells')}."
                raise FlawError("has a different number of cells than the header", fix, str(len(cells)))
            rows.append((line, read(cells)))
        except FlawError as flaw:
            value = None if flaw.value is None else shortened(flaw.value)
            problems.append(Problem(str(table.path), line, flaw.message, flaw.fix, value))
            if len(problems) >= MOST_PROBLEMS:
                break
    if not problems and not rows:
        problems.append(Problem(str(table.path), None, "has no rows", "Check the file name."))
    if problems:
        raise UserError(f"{table.path} can't be used", problems)
    return rows


def column_of(table: TextTable, name: str) -> int:
    columns = table.columns or ()
    if name not in columns:
        fix = "Add it, or rename the column that contains it"
        raise refused(table.path, 1, f"has no column {name!r}", fix, shortened(", ".join(columns)))
    return columns.index(name)
