"""Errors as they are reported to the person who can fix them."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_PROBLEMS = 50
"""Maximum number of problems reported per file."""
_LISTED_LINES = 3
_LISTED_VALUES = 10
_FEW_SETTINGS = 3
"""Maximum number of settings with the same error that are listed one by one."""
_SIMILAR, _SIMILAR_LETTERS = 0.5, 0.6
"""Minimum similarity of a suggested name, as difflib computes it: for whole names, and for names without digits."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error in a file, and what to do about it."""

    file: str
    line: int | None
    message: str
    fix: str
    value: str | None = None
    setting: tuple[str | int, ...] = ()
    """Its path in a settings file: names and list indices. Empty for other files."""
    missing: bool = False
    """Whether the value is the name of something that does not exist."""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.with_value}. {self.fix}"

    @property
    def with_value(self) -> str:
        """The message with the value.

        >>> Problem("a.toml", 1, "there is no such file", "Create it.", "'b.csv'", missing=True).with_value
        "there is no such file: 'b.csv'"
        >>> Problem("a.toml", 1, "is below 1", "Write a number from 1 up.", "0").with_value
        'is below 1 (found 0)'
        """
        if self.value is None:
            return self.message
        # “no such file (found …)” would read as if the file had been found.
        return f"{self.message}: {self.value}" if self.missing else f"{self.message} (found {self.value})"


def condensed(problems: Iterable[Problem]) -> list[Problem]:
    """One problem for each cause: rows of a file with the same error become one, with their number and first lines.

    A file that several stages read is checked for each of them, but its errors count once.

    >>> rows = [Problem("a.csv", line, "has no text", "Add it.") for line in range(2, 9)]
    >>> str(*condensed(rows))
    'a.csv:2: has no text in 7 rows (lines 2, 3, 4, …). Add it.'

    Rows that repeat earlier rows also become one problem, even if each repeats a different row.

    >>> rows = [Problem("a.csv", line, f"repeats the id of line {line - 2}", "Change it.") for line in (4, 5)]
    >>> str(*condensed(rows))
    'a.csv:4: repeats the id of an earlier line in 2 rows (lines 4, 5). Change it.'
    """
    causes: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in dict.fromkeys(problems):
        cause = re.sub(r" at column \d+", "", problem.message)
        cause = re.sub(r"\b(in|of) line \d+", r"\1 an earlier line", cause)
        causes.setdefault((problem.file, cause, problem.fix), []).append(problem)
    listed: list[Problem] = []
    for (file, cause, _), alike in causes.items():
        lines = list(dict.fromkeys(problem.line for problem in alike if problem.line is not None))
        if len(lines) <= (_FEW_SETTINGS if file.endswith(".toml") else 1):
            listed += alike
            continue
        first = ", ".join(map(str, lines[:_LISTED_LINES])) + (", …" if len(lines) > _LISTED_LINES else "")
        # Readers stop at this number of problems, so there may be more rows.
        count = f"at least {len(alike):,}" if len(alike) == MOST_PROBLEMS else f"{len(alike):,}"
        message = f"{cause} in {count} rows (lines {first})"
        different = list(dict.fromkeys(problem.value for problem in alike if problem.value is not None))
        values = ", ".join(different[:_LISTED_VALUES]) + (", …" if len(different) > _LISTED_VALUES else "")
        listed.append(
            Problem(file, alike[0].line, message, alike[0].fix, values or None, alike[0].setting, alike[0].missing)
        )
    return listed


class UserError(Exception):
    """An error of the user: shown without a traceback, exit status 2."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join([self.message, *map(str, self.problems)])


class Refusal(Exception):  # noqa: N818 - a decision, not a failure
    """A refused request: `code` for programs, `message` for people."""

    def __init__(self, code: str, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


class UnavailableError(Exception):
    """The database can't be used now: missing, full, or not writable. The request itself is valid."""

    exit_status = 2

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


class DamagedError(UnavailableError):
    """The database's file is damaged."""

    exit_status = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message about an unknown name; empty if no name is similar.

    >>> did_you_mean("kapa", ["alpha", "kappa"])
    ' Did you mean kappa?'
    >>> did_you_mean("xyz", ["alpha", "kappa"])
    ''

    The same digits do not make names similar, such as those of two papers of one year.

    >>> did_you_mean("smith2020", ["roit2020", "dumitrache2019"])
    ''
    """
    by_small = {each.lower(): each for each in known}
    small = name[:100].lower()
    near = difflib.get_close_matches(small, by_small, n=3, cutoff=_SIMILAR)
    near = [each for each in near if _similar_letters(small, each)]
    return f" Did you mean {by_small[near[0]]}?" if near else ""


def _similar_letters(name: str, other: str) -> bool:
    first, second = (re.sub(r"\d", "", each) for each in (name, other))
    if (first, second) == (name, other):
        return True
    return difflib.SequenceMatcher(None, first, second).ratio() >= _SIMILAR_LETTERS
