"""The user's own table for a new study: its columns, and which of them are the text and the ID."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import Any

from chorale.files.rows import read_rows
from chorale.files.shortening import shortened
from chorale.folder.checking.report import did_you_mean
from chorale.folder.checking.row_files import LONGEST_ID, is_id
from chorale.model import Problem, UserError
from chorale.model.problems import condensed
from chorale.text.scripts import length_in_words

NEVER_SHOWN = ("id", "answer", "explanation", "pieces", "rendered")
"""Column names that a study's files and pages reserve, so they can't be shown to people."""
LONGEST_NAME = 100
"""Maximum length of the name of a column that people read, in characters."""
_NUMBERS = "row_id"
_FEW_ROWS, _SHARING = 3, 10
"""A text in at least three rows, and in at least a tenth of all rows, is hardly meant to be labelled every time."""
_SMALL_WORDS = frozenset({"and", "by", "for", "from", "in", "of", "on", "or", "per", "the", "to"})
"""Words that begin with a small letter in titles."""
_LIKE_ID = re.compile(r"(^|[^A-Za-z])[iI][dD]$|[a-z]I[dD]$")
_NOTHING_TO_READ = re.compile(r"[\W\d_]*|[a-z][a-z0-9+.-]*://\S+|(?=\S*\d)[0-9a-f-]{16,}", re.IGNORECASE)
"""Numbers, addresses and long IDs: values that nobody can annotate."""


@dataclass(frozen=True, slots=True)
class OwnTable:
    """The rows of a table, and the use of its columns in a study."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    def text_column(self, named: str | None) -> str:
        """The column that people read: the named one, or else the column with the longest texts."""
        column = self.likely_text() if named is None else self._known(named, "--text")
        if column is None:
            reserved = [f"`{name}`" for name in NEVER_SHOWN if name in self.columns and self._is_readable(name)]
            rename = f" Rename the column {' or '.join(reserved)} to use it." if reserved else ""
            raise UserError(
                f"{self.path}: no column looks like text (found: {', '.join(self.columns)}). Use --text COLUMN to "
                f"name the column that people read.{rename}"
            )
        if column in NEVER_SHOWN:
            raise UserError(
                f"{self.path}: the column `{column}` can't be shown to people, because its name is reserved. "
                "Rename the column."
            )
        if len(column) > LONGEST_NAME:
            raise UserError(
                f"{self.path}: the column name {shortened(column)} is too long ({len(column)} characters; the maximum "
                f"is {LONGEST_NAME}). The first row must have the names of the columns. If this row is data, "
                "add a row of column names above it."
            )
        return column

    def likely_text(self) -> str | None:
        """The column with the longest texts; None if all columns have IDs, numbers or addresses."""

        def rank(name: str) -> tuple[float, float]:
            texts = [_text(row.get(name)) for row in self.rows]
            return fmean(map(length_in_words, texts)), fmean(map(len, texts))

        readable = [name for name in self.columns if name not in NEVER_SHOWN and self._has_text(name)]
        return max(readable, key=rank, default=None)

    def _has_text(self, column: str) -> bool:
        return not _LIKE_ID.search(column) and self._is_readable(column)

    def _is_readable(self, column: str) -> bool:
        return not all(_NOTHING_TO_READ.fullmatch(_text(row.get(column))) for row in self.rows)

    @property
    def number_column(self) -> str:
        """The name of a new column with row numbers, for tables without usable IDs."""
        names = (_NUMBERS if number == 1 else f"{_NUMBERS}_{number}" for number in count(1))
        return next(name for name in names if name not in self.columns)

    def id_column(self, named: str | None) -> str | None:
        """The ID column: the named one, or else one whose name suggests it; None if there is none.

        A named column must have usable IDs.
        """
        if named is not None:
            problem = self._unusable(self._known(named, "--id"))
            if problem is not None:
                raise UserError(f"{self.path}: the column `{named}` can't be the ID: {problem}.")
            return named
        return next((name for name in self._like_ids() if self._unusable(name) is None), None)

    def why_numbered(self) -> str:
        """Why rows get numbers as IDs: a column named like an ID is unusable, or no column is named like one."""
        problems = ((name, self._unusable(name)) for name in self._like_ids())
        unusable = next((f"in `{name}`, {problem}" for name, problem in problems if problem), None)
        return unusable or "no column is named like an ID"

    def _like_ids(self) -> list[str]:
        return [name for name in self.columns if _LIKE_ID.search(name)]

    def repeated_text(self, column: str) -> tuple[str, int] | None:
        """The text that most rows share, such as `NA`, and their number; None if few rows share one."""
        [(text, rows)] = Counter(_text(row.get(column)) for row in self.rows).most_common(1)
        return (text, rows) if rows >= _FEW_ROWS and rows * _SHARING >= len(self.rows) else None

    def doubtful_header(self) -> str | None:
        """A column name that looks like a value, as in a table without a header; None if all look like names."""
        texts = (name for name in self.columns if name.isdigit() or name.endswith((".", "!")) or _is_phrase(name))
        return next((name for name in texts if not name.endswith("?")), None)

    def _known(self, name: str, option: str) -> str:
        if name not in self.columns:
            names = ", ".join(self.columns)
            raise UserError(f"{self.path}: no column named `{name}` for {option} (found: {names}).{_near(name, self)}")
        return name

    def _unusable(self, column: str) -> str | None:
        seen: set[str] = set()
        for number, row in enumerate(self.rows, 1):
            value = _text(row.get(column))
            if not value:
                return f"row {number} is empty"
            if not isinstance(row[column], str | int) or not is_id(value):
                return f"row {number} is not a text of 1 to {LONGEST_ID} printable characters"
            if value in seen:
                return f"row {number} repeats `{value[:60]}`"
            seen.add(value)
        return None


def _is_phrase(name: str) -> bool:
    """Whether a column name has three words or more, unless they are in title case.

    >>> [_is_phrase(name) for name in ("Hello there friend", "Aircraft Make Model", "Number of Engines", "date")]
    [True, False, False, False]
    """
    return name.count(" ") > 1 and any(
        word[0].isalpha() and not word[0].isupper() and word not in _SMALL_WORDS for word in name.split()
    )


def _near(name: str, table: OwnTable) -> str:
    near = did_you_mean(name, table.columns)
    return f" {near}" if near.startswith("Did") else " Name one of these columns."


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def read_own_table(path: Path) -> OwnTable:
    """Read the table in a file; UserError if it is invalid."""
    if not path.is_file():
        wrong = "is a folder, not a file" if path.is_dir() else "no such file"
        raise UserError(f"{path}: {wrong}. Name a .csv, .tsv, .jsonl or .json file with one row per item.")
    problems: list[Problem] = []
    rows = [row.values for row in read_rows(path, shown_as=str(path), problems=problems)]
    if problems:
        raise UserError(f"{path} can't be read", condensed(problems))
    if not rows:
        raise UserError(f"{path} has no rows. It needs a header and one row per item.")
    return OwnTable(path, tuple(dict.fromkeys(name for row in rows for name in row)), tuple(rows))
