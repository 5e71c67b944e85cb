"""Streams rows from JSONL and CSV files; problems are collected, not raised."""

import codecs
import csv
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from chorale.files.json_lists import begins_as_list, has_object_lines, listed_objects, report_one_object, report_other
from chorale.files.json_text import FlawError, not_json, parsed_json
from chorale.files.separators import LOOKED_AT, declared_separator, separator_of
from chorale.files.shortening import shortened
from chorale.files.source import UNREADABLE, StreamedFile, why_unreadable
from chorale.model import Problem

LONGEST_LINE = 1_000_000
"""In bytes. No item is that long; a file without line breaks would otherwise be read completely."""

_TABLES = {".csv": ",", ".tsv": "\t"}
_OBJECTS = {".jsonl", ".ndjson"}
_LISTED = ".json"
_PACKED = ".gz"
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_SAVE_AS_CSV = "Save it as CSV (in Excel: “CSV UTF-8”)."
_ZIP = b"PK\x03\x04"
_OLD_EXCEL = bytes.fromhex("d0cf11e0")


class Row(NamedTuple):
    line: int
    """The first line of the row; a quoted cell may span several lines."""
    values: dict[str, Any]


def read_rows(
    path: Path, *, shown_as: str, problems: list[Problem], streamed: StreamedFile | None = None
) -> Iterator[Row]:
    """The valid rows of a file. Problems with invalid rows are added to `problems`, under the name `shown_as`.

    The suffix decides the format: .jsonl and .ndjson hold one JSON object per line, and .json a list of objects (or one
    object per line, as some programs write it); .csv and .tsv have a header, and all their cells are text. A .csv has
    commas, semicolons or tabs between cells (`files/separators.py`). Any may be
    gzipped, with .gz after the suffix. The text is UTF-8, with or without a byte order mark. Blank lines are skipped.
    `streamed` counts and digests every byte.
    """
    report = _Reporter(shown_as, problems)
    reader = _reader_for(suffix_of(path))
    if reader is None:
        fix = _SAVE_AS_CSV if path.suffix.lower() in _SPREADSHEETS else "Use a .jsonl, .json, .csv or .tsv file."
        report(None, "has an unsupported format", fix, path.suffix or "no suffix")
        return
    try:
        with ExitStack() as stack:
            file = _opened(path, streamed, stack)
            if _is_utf8(file, report):
                yield from reader(file, report)
    except UNREADABLE as error:
        message, fix = why_unreadable(error)
        report(None, message, f"{fix}.")


def is_table(path: Path) -> bool:
    """Whether the file is a table with a header, where a missing value is an empty cell."""
    return suffix_of(path) in _TABLES


def suffix_of(path: Path) -> str:
    """The lower-case suffix of a file's name without .gz: `.csv` for `a.CSV.gz`."""
    inner = path.with_suffix("") if path.suffix.lower() == _PACKED else path
    return inner.suffix.lower()


def _opened(path: Path, streamed: StreamedFile | None, stack: ExitStack) -> BufferedReader:
    """The decompressed file, open as long as `stack` is."""
    file: Any = stack.enter_context(path.open("rb", buffering=LOOKED_AT))
    if streamed is not None:
        file = _Overheard(file, lambda raw: streamed.packed(len(raw)))
    if path.suffix.lower() == _PACKED:
        file = gzip.GzipFile(fileobj=file)
    if streamed is not None:
        file = _Overheard(file, streamed.take)
    return file if isinstance(file, BufferedReader) else BufferedReader(file, LOOKED_AT)


class _Overheard(RawIOBase):
    """Another file, whose bytes are also passed to a function as they are read."""

    def __init__(self, file: Any, take: Callable[[memoryview], None]) -> None:
        self._file, self._take = file, take

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._file.readinto(buffer)
        self._take(memoryview(buffer)[:count])
        return count


@dataclass(frozen=True, slots=True)
class _Reporter:
    file: str
    problems: list[Problem]

    def __call__(self, line: int | None, message: str, fix: str, value: str | None = None) -> None:
        self.problems.append(Problem(self.file, line, message, fix, value))


class _Lines:
    """The lines of a file as text, for readers that need to know which lines had problems."""

    def __init__(self, file: BufferedReader, report: _Reporter) -> None:
        self._file = file
        self._report = report
        self._spoiled = False
        self.number = 0
        self.ended = True
        """Whether the latest line had its line break; without one, the file may have been cut off there."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        raw = self._file.readline(LONGEST_LINE + 1)
        if not raw:
            raise StopIteration
        self.number += 1
        self.ended = raw.endswith(b"\n")
        if len(raw) > LONGEST_LINE:
            self._skip_rest_of_line()
            return "\n"
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            self._spoil("is not UTF-8 text", "Save the file as UTF-8.", shortened(raw[error.start : error.end]))
            # The rest of the line still shows a CSV reader where cells begin and end.
            return raw.decode(errors="replace")
        if "\0" in text:
            self._spoil("contains a NUL character", "Remove it.")
        return text

    def coming(self) -> str:
        """The next lines, as far as they are in memory. They are not checked, and will be read again."""
        return self._file.peek(LOOKED_AT).decode(errors="replace")

    def take_spoiled(self) -> bool:
        """Whether any line since the last call was reported already."""
        spoiled, self._spoiled = self._spoiled, False
        return spoiled

    def _spoil(self, message: str, fix: str, value: str | None = None) -> None:
        self._report(self.number, message, fix, value)
        self._spoiled = True

    def _skip_rest_of_line(self) -> None:
        self._spoil(f"is longer than {LONGEST_LINE:,} bytes", "Shorten it, or check that no line break is missing.")
        while not self.ended and (more := self._file.readline(LONGEST_LINE)):
            self.ended = more.endswith(b"\n")


_Reader = Callable[[BufferedReader, _Reporter], Iterator[Row]]


def _reader_for(suffix: str) -> _Reader | None:
    if suffix in _OBJECTS:
        return _objects
    if suffix == _LISTED:
        return _listed
    if suffix in _TABLES:
        return partial(_cells, delimiter=_TABLES[suffix])
    return None


def _is_utf8(file: BufferedReader, report: _Reporter) -> bool:
    """Skip a UTF-8 byte order mark. Refuse UTF-16 and binary files, which would cause a problem in every line."""
    head = file.peek(4)
    if head.startswith(codecs.BOM_UTF8):
        file.read(3)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        report(1, "is UTF-16 text, not UTF-8", "Save the file as UTF-8 (in Excel: “CSV UTF-8”).")
        return False
    if head.startswith((_ZIP, _OLD_EXCEL)):
        report(None, "is a spreadsheet or another packed file, not text", _SAVE_AS_CSV)
        return False
    return True


# JSONL


def _objects(file: BufferedReader, report: _Reporter) -> Iterator[Row]:
    lines = _Lines(file, report)
    empty = True
    for text in lines:
        if lines.take_spoiled():
            empty = False
        elif not text.isspace():
            empty = False
            try:
                yield Row(lines.number, _parsed(text))
            except FlawError as flaw:
                report(lines.number, flaw.message, flaw.fix, flaw.value)
            except (ValueError, RecursionError) as error:
                report(lines.number, *_why_not_json(text, error, ended=lines.ended))
    if empty:
        report(None, "is empty", "Write one JSON object per line.")


def _listed(file: BufferedReader, report: _Reporter) -> Iterator[Row]:
    if begins_as_list(file):
        for line, values in listed_objects(file, report, LONGEST_LINE):
            yield Row(line, values)
    elif has_object_lines(file):
        rows = _objects(file, report)
        first = list(islice(rows, 2))
        if len(first) == 1 and not report.problems:
            report_one_object(report)
        else:
            yield from first
            yield from rows
    else:
        report_other(file, report)


def _parsed(text: str) -> dict[str, Any]:
    values = parsed_json(text)
    if not isinstance(values, dict):
        raise FlawError("is not an object", 'Write one JSON object per line: {"id": "…", …}.', shortened(values))
    return values


def _why_not_json(text: str, error: Exception, *, ended: bool) -> tuple[str, str, str]:
    if not isinstance(error, json.JSONDecodeError):
        return "can't be read as JSON", "Remove overlong numbers and deep nesting.", shortened(text)
    # An error at the end of a line is reported at the position after the line break.
    where = min(error.pos, len(text.rstrip()))
    near = shortened(text[max(0, where - 20) : where + 20].rstrip())
    if not ended:
        return "is truncated: the file ends in the middle of this line", "Complete the line or remove it.", near
    return not_json(json.JSONDecodeError(error.msg, text, where)), "Correct the line.", near


# CSV


def _cells(file: BufferedReader, report: _Reporter, *, delimiter: str) -> Iterator[Row]:
    lines = _Lines(file, report)
    head = _lines_to_header(lines)
    if delimiter == "," and head:
        declared = declared_separator(head[-1])
        if declared is not None:
            head[-1:] = ["\n", *_lines_to_header(lines)]  # a blank line, so that line numbers stay the same
        delimiter = declared or separator_of(head[-1] + lines.coming())
    records = _records(head, lines, report, delimiter)
    line, header = next(records, (0, []))
    spoiled = lines.take_spoiled()
    if header == []:
        report(None, "is empty", "Write a line of column names, then one line per row.")
    if not header:
        return
    columns = [name.strip() for name in header]
    sound = not spoiled and _check_header(columns, line, report)
    for line, cells in records:
        if lines.take_spoiled() or cells is None:
            continue
        if len(cells) != len(columns):
            report(line, *_why_not_row(len(cells), len(columns), ended=lines.ended))
        elif sound:
            yield Row(line, dict(zip(columns, cells, strict=True)))


def _lines_to_header(lines: _Lines) -> list[str]:
    """The lines up to the header: blank lines and the first other line."""
    head: list[str] = []
    for text in lines:
        head.append(text)
        if not text.isspace():
            break
    return head


def _records(
    head: list[str], lines: _Lines, report: _Reporter, delimiter: str
) -> Iterator[tuple[int, list[str] | None]]:
    """The records that are not blank, each with the line it begins on; None for one that was reported."""
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message, fix = why_not_csv(str(error))
            report(line, message, fix)
            yield line, None
            if "field larger" in str(error):
                return  # it is unknown whether the rest is inside or outside of quotes
        else:
            if cells:
                yield line, cells
            elif lines.take_spoiled():
                yield line, None


def why_not_csv(error: str) -> tuple[str, str]:
    """The problem and fix for an error of Python's CSV reader."""
    if "unexpected end" in error:
        return (
            "has a quote that is never closed",
            "Close it, and double every quote inside a quoted cell. The file may also be cut off.",
        )
    if "field larger" in error:
        return (
            f"has a cell of more than {csv.field_size_limit():,} characters",
            "Check that its quotes are closed; nothing after this line was read.",
        )
    if "new-line" in error:
        return "has a carriage return outside quotes", "Save the file with Unix or Windows line breaks."
    return "has text after a closing quote", "Double every quote inside a quoted cell."


def _check_header(columns: list[str], line: int, report: _Reporter) -> bool:
    sound = all(columns)
    if not sound:
        first, count = columns.index("") + 1, columns.count("")
        which = f"column {first}" if count == 1 else f"{count} columns, the first of them column {first}"
        report(line, f"has no name for {which}", "Give every column a name.")
    for number, name in enumerate(columns, 1):
        if name and name in columns[: number - 1]:
            report(line, "has a duplicate column name", "Rename or remove one of the two.", shortened(name))
            sound = False
    return sound


def _why_not_row(cells: int, columns: int, *, ended: bool) -> tuple[str, str, str]:
    count = f"{cells} cell" if cells == 1 else f"{cells} cells"
    if cells < columns and not ended:
        return "is truncated: the file ends in the middle of this row", "Complete the row or remove it.", count
    fix = "Quote cells that contain separators or line breaks." if cells > columns else "Add the missing cells."
    return f"does not have the {columns} cells of the header", fix, count
