"""Reads the cells of batch files (names, labels, times) and reports mistakes with line and column."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from chorale.files.batch_answers import JSON_LISTS
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS
from chorale.model import Problem, UserError

LONGEST_ID = 200
LONGEST_LABEL = 10_000
_UNANSWERED = "{}"
# Time zones in Mechanical Turk's times.
_ZONES = {name: timezone(timedelta(hours=hours)) for name, hours in (("PDT", -7), ("PST", -8), ("UTC", 0), ("GMT", 0))}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN_WORDS = re.compile(r"\w{3} (\w{3}) (\d{1,2}) (\d\d):(\d\d):(\d\d) ([A-Z]{3}) (\d{4})", re.ASCII)
_AMERICAN = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}) +(\d{1,2}):(\d{1,2}):(\d{1,2})", re.ASCII)
_REWARD = re.compile(r"\$?\s*(\d{1,6})(?:\.(\d{1,2}))?")
_FOREIGN = re.compile(r"(?:[A-Z]{3} |[^\W\d_]?[^\w\s$.,-])\d[\d,]*(?:\.\d{1,3})?")
"""An amount in another currency, as Chorale writes it."""


class CellProblems:
    """The problems of a file, up to `MOST_PROBLEMS`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.listed: list[Problem] = []

    def add(self, line: int, column: str, message: str, fix: str, value: Any) -> None:
        if len(self.listed) < MOST_PROBLEMS:
            where = f"column {column!r} {message}"
            self.listed.append(Problem(self.name, line, where, fix, shortened(value)))

    def check(self) -> None:
        if self.listed:
            raise UserError(f"{self.name} can't be imported", self.listed[:MOST_PROBLEMS])


class Column:
    """A column of a file; it reports problems in its cells."""

    def __init__(self, name: str, place: int, problems: CellProblems) -> None:
        self.name, self.place, self._problems = name, place, problems
        self.problem_count = 0
        """Problems reported so far."""
        self.foreign: str | None = None
        """An amount in a currency other than dollars."""

    def report(self, line: int, message: str, fix: str, value: Any) -> None:
        self.problem_count += 1
        self._problems.add(line, self.name, message, fix, value)


def name_in(column: Column, line: int, value: Any) -> str:
    """Read the name of a task or a worker."""
    text = "" if value is None else str(value).strip()
    if not text:
        column.report(line, "is empty", "Fill it in, or remove the row.", text)
    elif len(text) > LONGEST_ID or not text.isprintable():
        fix = f"Use at most {LONGEST_ID} characters, without line breaks."
        column.report(line, "is not a valid name", fix, text)
    return text


def label_in(sep: str | None, column: Column, line: int, value: Any) -> str | tuple[str, ...] | None:
    """Read a label, or a set of labels separated by `sep`; None or an empty set for an empty cell."""
    if value is None or value in ("", _UNANSWERED):
        return None
    if sep is None:
        text = as_text(value).strip()
        if len(text) > LONGEST_LABEL:
            column.report(line, f"has more than {LONGEST_LABEL:,} characters", "Shorten it.", text)
        return text or None
    parts = value if isinstance(value, list) else _parts(column, line, str(value), sep)
    if not all(isinstance(part, str | int | float) for part in parts):
        column.report(line, "is not a list of labels", "Write texts.", value)
        return ()
    return tuple(sorted({text for part in parts if (text := str(part).strip())}))


def as_text(value: Any) -> str:
    """A value as the text of a cell."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parts(column: Column, line: int, text: str, sep: str) -> Sequence[Any]:
    if sep != JSON_LISTS:
        return text.split(sep)
    try:
        parts = json.loads(text)
    except ValueError:
        parts = None
    if not isinstance(parts, list):
        column.report(line, "is not a JSON list", "Correct it, or choose another separator with --sep.", text)
        return ()
    return parts


def time_in(column: Column, line: int, value: Any) -> int | None:
    """Read a time as milliseconds since 1970; None if the file has no times."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    for read in (_in_words, _american, datetime.fromisoformat):
        try:
            moment = read(text)
        except ValueError:
            continue
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    column.report(line, "is not a time", "Write it as 2017-09-25T09:39:11Z.", text)
    return None


def _in_words(text: str) -> datetime:
    """Parse a time in Mechanical Turk's format.

    >>> _in_words("Mon Sep 25 09:39:11 PDT 2017").isoformat()
    '2017-09-25T09:39:11-07:00'
    """
    parts = _IN_WORDS.fullmatch(text)
    if parts is None or parts[6] not in _ZONES or parts[1].lower() not in _MONTHS:
        raise ValueError(text)
    month, zone = _MONTHS.index(parts[1].lower()) + 1, _ZONES[parts[6]]
    return datetime(int(parts[7]), month, int(parts[2]), int(parts[3]), int(parts[4]), int(parts[5]), tzinfo=zone)


def _american(text: str) -> datetime:
    """Parse a time in Appen's format, in UTC.

    >>> _american("3/24/2016 17:57:02").isoformat()
    '2016-03-24T17:57:02+00:00'
    """
    parts = _AMERICAN.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    month, day, year, hour, minute, second = map(int, parts.groups())
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


def seconds_in(column: Column, line: int, value: Any) -> int:
    """Read a number of seconds, in milliseconds."""
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 10**9:
        column.report(line, "is not a number of seconds", "Write a number of at least 0.", str(value))
        return 0
    return round(seconds * 1000)


def reward_in(column: Column, line: int, value: Any) -> int | None:
    """Read an amount in dollars, in cents; None if there is none, or if it is in another currency.

    >>> reward_in(Column("Reward", 0, CellProblems("batch.csv")), 2, "$0.5")
    50
    """
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    amount = _REWARD.fullmatch(text)
    if amount is None and _FOREIGN.fullmatch(text):
        column.foreign = text
        return None
    if amount is None:
        column.report(line, "is not an amount", "Write it as $0.05.", text)
        return None
    return int(amount[1]) * 100 + int((amount[2] or "").ljust(2, "0"))
