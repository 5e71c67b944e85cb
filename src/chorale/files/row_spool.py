"""Rows spooled to a file for a second pass: much faster than parsing the table again."""

import marshal
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from chorale.files.rows import read_rows
from chorale.files.source import MOST_PROBLEMS, StreamedFile
from chorale.model import Problem

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 2_000, 1_000_000
_SIZE = struct.Struct("<Q")
# Later versions look for repeated objects, which takes longer than writing them twice.
_MARSHAL = 2

Cells = Sequence[Any]
"""The values of a row in the order of the columns; None if the row has no value."""


class RowSpool:
    """The rows of a file, as read by `read_rows`. Only some of them are in memory at a time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._places: dict[str, int] = {}
        self.count = 0

    @property
    def names(self) -> list[str]:
        """All columns, in the order they first appeared."""
        return list(self._places)

    def fill(self, path: Path, problems: list[Problem], streamed: StreamedFile) -> None:
        """Store all rows of a file. Problems are added to `problems`; if there are many, reading ends early."""
        with self._file.open("wb") as out:
            waiting: list[tuple[int, Cells]] = []
            written = 0
            for row in read_rows(path, shown_as=str(path), problems=problems, streamed=streamed):
                waiting.append((row.line, self._cells(row.values)))
                if len(waiting) == _ROWS_AT_ONCE or streamed.unpacked - written > _BYTES_AT_ONCE:
                    self._write(waiting, out)
                    waiting, written = [], streamed.unpacked
                if len(problems) >= MOST_PROBLEMS:
                    return
            self._write(waiting, out)

    def _cells(self, values: dict[str, Any]) -> Cells:
        places = self._places
        if list(values) == list(places):
            return tuple(values.values())
        for name in values:
            places.setdefault(name, len(places))
        cells: list[Any] = [None] * len(places)
        for name, value in values.items():
            cells[places[name]] = value
        return tuple(cells)

    def _write(self, rows: list[tuple[int, Cells]], out: BinaryIO) -> None:
        raw = marshal.dumps(rows, _MARSHAL)
        out.write(_SIZE.pack(len(raw)))
        out.write(raw)
        self.count += len(rows)

    def __iter__(self) -> Iterator[tuple[int, Cells]]:
        """Iterate over rows with their line numbers."""
        width = len(self._places)
        with self._file.open("rb") as file:
            while size := file.read(_SIZE.size):
                # Safe to unpickle: only this class writes and reads the file.
                for line, cells in marshal.loads(file.read(_SIZE.unpack(size)[0])):  # noqa: S302
                    # Columns may have appeared after this row.
                    yield line, cells if len(cells) == width else (*cells, *[None] * (width - len(cells)))
