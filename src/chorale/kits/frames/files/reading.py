"""Shared parts of the readers of frame files: rows with their errors, cells, and a digest of several files."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorale.files.rows import Row, read_rows
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes
from chorale.model import Problem, UserError


@dataclass
class RowReading:
    """Rows of one or several files, with their errors."""

    problems: list[Problem] = field(default_factory=list)

    def rows(self, path: Path) -> Iterator[Row]:
        return read_rows(path, shown_as=str(path), problems=self.problems)

    def report(self, path: Path, line: int | None, message: str, fix: str, value: str | None = None) -> None:
        self.problems.append(Problem(str(path), line, message, fix, value))

    def check(self, summary: str) -> None:
        if self.problems:
            raise UserError(summary, self.problems[:MOST_PROBLEMS])


def text_of(value: Any) -> str:
    """The text of a cell with text or a whole number; otherwise empty."""
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def number_of(value: Any, most: float = math.inf) -> float | None:
    """A number of at least 0, or None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= most else None


def is_zero(score: Any) -> bool:
    """Whether nobody chose the frame. Such a row may lack a frame: batch 7 of the corpus has empty list entries."""
    return number_of(score) == 0


def digest_of_files(paths: Iterable[Path]) -> str:
    """Combined digest of several files, independent of order."""
    return digest_of("".join(sorted(digest_of(read_bytes(path)) for path in paths)).encode())
