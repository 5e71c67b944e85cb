"""Files with one row per item, and the checks that apply to every row."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from chorale.contract import AnswerError, ItemError
from chorale.files.rows import Row, is_table, read_rows
from chorale.files.shortening import shortened
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.named_files import located
from chorale.folder.checking.report import CheckReport, did_you_mean, printable
from chorale.model import Answer, Problem
from chorale.model.plain_words import MISSING, UNKNOWN, plain_words

LONGEST_ID = 200
_BLANK_BYTES = 100
_ID = "id"
_MOST_NAMES = 20
_BESIDE_THE_ITEM = (_ID, "answer", "explanation")


class RowFile:
    """A file with one row per item, and messages for invalid rows."""

    def __init__(
        self,
        path: Path,
        shown_as: str,
        report: CheckReport,
        id_column: str = _ID,
        *,
        or_id: bool = False,
        of_round: bool = False,
    ) -> None:
        self._path = path
        self.shown_as = shown_as
        self._report = report
        self._id, self._or_id, self._of_round = id_column, or_id, of_round
        self._no_ids = False
        """Whether the missing ID column was reported."""
        self._present: list[str] | None = None
        self.count: int | None = None
        """Number of rows, after all were read; None if some could not be read."""

    def problem(self, line: int | None, message: str, fix: str, value: Any = None) -> None:
        self._report.add(self.shown_as, line, message, fix, None if value is None else shortened(value))

    def rows(self, kind: type[BaseModel]) -> Iterator[Row]:
        """The rows. In a table, an empty cell is a missing value unless `kind` requires the column."""
        required = {field.alias or name for name, field in kind.model_fields.items() if field.is_required()}
        unread: list[Problem] = []
        count = 0
        for row in read_rows(self._path, shown_as=self.shown_as, problems=unread):
            count += 1
            if is_table(self._path):
                filled = {name: cell for name, cell in row.values.items() if cell or name in required}
                yield Row(row.line, filled)
            else:
                yield row
        self.count = None if unread else count
        self._report.problems += unread

    @property
    def is_blank(self) -> bool:
        """Whether the file is empty."""
        return self._path.stat().st_size < _BLANK_BYTES and not self._path.read_bytes().strip()

    def columns(self, looked_for: set[str]) -> set[str]:
        """The columns of a file, read until the needed ones are found."""
        names: set[str] = set()
        for row in read_rows(self._path, shown_as=self.shown_as, problems=[]):
            names |= row.values.keys() - set(_BESIDE_THE_ITEM)
            if looked_for <= names:
                break
        return names

    def key_of(self, row: Row, lines: dict[str, int]) -> str | None:
        """The row's unique `id`; `lines` has the line of each id so far."""
        key = row.values.get(self._id)
        if key is None and self._or_id:
            key = row.values.get(_ID)
        if key is None:
            self._no_id(row)
            return None
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(key)
        if not isinstance(key, str) or not is_id(key):
            fix = f"Use 1 to {LONGEST_ID} printable characters, without spaces around them."
            self.problem(row.line, f"`{self._column_of_key(row)}` is not valid", fix, key)
            return None
        if key in lines:
            column = self._column_of_key(row)
            message = f"`{column}` is already used in line {lines[key]}"
            self.problem(row.line, message, f"Give every row a unique `{column}`.", key)
            return None
        lines[key] = row.line
        return key

    def _column_of_key(self, row: Row) -> str:
        """The column in which this row has its ID."""
        return printable(_ID if row.values.get(self._id) is None else self._id)

    def _no_id(self, row: Row) -> None:
        """Report a missing ID column once, whatever the number of rows."""
        if self._no_ids:
            return
        columns = self._columns_present()
        if self._id in columns or not columns:
            self.problem(row.line, f"`{printable(self._id)}` is missing", "Give every row a unique ID.")
        else:
            self._no_ids = True
            more = f" and {len(columns) - _MOST_NAMES} more" if len(columns) > _MOST_NAMES else ""
            shown = ", ".join(map(printable, columns[:_MOST_NAMES])) + more
            alike = difflib.get_close_matches(self._id.lower(), columns, n=1)
            likely = [*alike, *(name for name in columns if name.lower().endswith(_ID))]
            self.problem(1, f'no column named "{printable(self._id)}" (found: {shown})', self._id_fix(likely))

    def _id_fix(self, likely: Sequence[str]) -> str:
        """What to do about a missing ID column. A round has no setting for it."""
        if self._of_round:
            return f"Rename the column `{printable(likely[0])}`." if likely else "Add a unique `id` to every row."
        if likely:
            return f'Set items.id = "{printable(likely[0])}", or rename the column.'
        return "Add a column with a unique ID for every row, or set items.id to the column that has them."

    def _columns_present(self) -> list[str]:
        """The columns of a table, or all names in the rows of another file."""
        if self._present is None:
            rows = read_rows(self._path, shown_as=self.shown_as, problems=[])
            names = (name for row in (islice(rows, 1) if is_table(self._path) else rows) for name in row.values)
            self._present = list(dict.fromkeys(names))
        return self._present

    def shaped(
        self, row: Row, kind: type[BaseModel], parse: Callable[[Mapping[str, Any]], dict[str, Any]]
    ) -> dict[str, Any] | None:
        """The item in a row, parsed by its task."""
        try:
            shown = {field.alias or name for name, field in kind.model_fields.items()}
            beside = {*_BESIDE_THE_ITEM, *({self._id} - shown)}
            return parse({name: value for name, value in row.values.items() if name not in beside})
        except ItemError as error:
            for field, message, value in error.messages:
                words = plain_words(message)
                fix = did_you_mean(field, kind.model_fields) if message == UNKNOWN else words.fix
                given = None if message == MISSING else value
                self.problem(row.line, f"`{printable(field)}` {words.wrong}", fix, given)
        return None

    def answer_of(self, row: Row, parse: Callable[[Any], Answer]) -> tuple[bool, Answer]:
        """Whether the row has a valid answer, and the answer."""
        if "answer" not in row.values:
            self.problem(row.line, "`answer` is missing", "Add the correct answer.")
            return False, None
        try:
            return True, parse(row.values["answer"])
        except AnswerError as error:
            value, wrong = row.values["answer"], error.words.wrong
            nested = is_table(self._path) and isinstance(value, str) and ("a table" in wrong or value[:1] in "{[")
            fix = "CSV cells hold only text: write the file as JSONL." if nested else error.words.fix
            if error.words.invalid_part is None:
                self.problem(row.line, f"`answer` {wrong}", fix, _culprit(value, wrong))
            else:
                self._report.add(self.shown_as, row.line, f"`answer` {wrong}", fix, error.words.invalid_part)
        return False, None

    def explanation_of(self, row: Row) -> str | None:
        text = row.values.get("explanation")
        if isinstance(text, str) and text.strip():
            return text.strip()
        message = "is missing" if text is None else "is not text" if not isinstance(text, str) else "is blank"
        fix = "Explain in a sentence why the answer is correct. Whether workers read it depends on `feedback`."
        self.problem(row.line, f"`explanation` {message}", fix, text)
        return None


def row_file(
    relative: str | None, at: TomlPath, report: CheckReport, id_column: str = _ID, *, or_id: bool = False
) -> RowFile | None:
    """The file that the setting at `at` names. With `or_id`, rows without its ID column may have `id` instead."""
    path = None if relative is None else located(relative, at, report)
    if relative is None or path is None:
        return None
    return RowFile(path, relative, report, id_column, or_id=or_id, of_round="round" in at)


def _culprit(answer: Any, wrong: str) -> Any:
    """The field of an answer that a message names."""
    field = re.search(r"`([^`]+)`", wrong)
    return answer[field[1]] if isinstance(answer, dict) and field and field[1] in answer else answer


def is_id(text: str) -> bool:
    """Whether a text can be the ID of an item."""
    return 0 < len(text) <= LONGEST_ID and text.isprintable() and text == text.strip()
