"""Sentences as rows of columns; errors are collected, not raised."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.model import Problem
from chorale.model.plural import plural

EMPTY = frozenset({"_", "-"})
"""Cells without a value. The Chinese part of CoNLL-2009 has dashes."""
_LONGEST_NUMBER = 10


class TooManyError(Exception):
    """The maximum number of problems is reached; reading stops."""


@dataclass(slots=True)
class ProblemReport:
    """Collects the problems of a file."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def __call__(self, line: int | None, message: str, fix: str, value: str | None = None) -> None:
        shown = None if value is None else shortened(value)
        self.problems.append(Problem(self.file, line, message, fix, shown))
        if len(self.problems) >= MOST_PROBLEMS:
            raise TooManyError


@dataclass(frozen=True, slots=True)
class Block:
    """The token lines of one sentence, with their line numbers."""

    lines: list[str]
    numbers: list[int]


def blocks(text: str, *, comments: bool) -> Iterator[Block]:
    """Split a file into sentences at blank lines. Comments, if the format has them, begin with #."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.isspace():
            if lines:
                yield Block(lines, numbers)
                lines, numbers = [], []
        elif not (comments and line[0] == "#"):
            lines.append(line)
            numbers.append(number)
    if lines:
        yield Block(lines, numbers)


def table_of(rows: list[list[str]], numbers: list[int], report: ProblemReport) -> list[tuple[str, ...]] | None:
    """The columns of a sentence; None if its lines have different numbers of them, or empty ones."""
    width = len(rows[0])
    table = list(zip(*rows, strict=False))
    if set(map(len, rows)) == {width} and not any("" in column for column in table):
        return table
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != width:
            fix = "Give all tokens of a sentence the same number of columns: the fixed ones and one per predicate."
            report(
                number, f"has {plural(len(row), 'column', 'columns')}, but the sentence's first line has {width}", fix
            )
            break
        if "" in row:
            report(number, f"is empty in column {row.index('') + 1}", "Write _ for an empty value.")
            break
    return None


def check_numbering(ids: tuple[str, ...], numbers: list[int], report: ProblemReport) -> bool:
    """Whether tokens are numbered 1, 2, 3 and so on."""
    for index, (given, number) in enumerate(zip(ids, numbers, strict=True), 1):
        if given != str(index):
            fix = "Number the tokens of every sentence from 1, and put a blank line between sentences."
            report(number, f"should be token {index} of its sentence", fix, given)
            return False
    return True


def heads_of(column: tuple[str, ...], numbers: list[int], report: ProblemReport) -> tuple[int, ...]:
    """The numbers of heads; empty if the column is empty, or invalid (which is reported)."""
    together = "".join(column)
    if together.isascii() and together.isdigit() and len(together) < _LONGEST_NUMBER * len(column):
        quickly = tuple(map(int, column))
        if max(quickly) <= len(column):
            return quickly
    if all(cell in EMPTY for cell in column):
        return ()
    heads = []
    for cell, number in zip(column, numbers, strict=True):
        if not (cell.isascii() and cell.isdigit()):
            report(number, "has a head that is not a number", "Write the head's number, 0 for the root.", cell)
            return ()
        # A number with too many digits may be too long for Python.
        head = int(cell) if len(cell) < _LONGEST_NUMBER else len(column) + 1
        if head > len(column):
            report(number, "has a head outside its sentence", f"Write a number from 0 to {len(column)}.", cell)
            return ()
        heads.append(head)
    return tuple(heads)
