"""What is in the cells of batch files: names, labels, times; told with line and column where it can't be understood."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from chorale.formats.batch_answers import JSON_LISTS
from chorale.formats.rows import Row, shortened
from chorale.formats.source import MOST_PROBLEMS
from chorale.model import Problem, UserError

LONGEST_ID = 200
LONGEST_LABEL = 10_000
_UNANSWERED = "{}"
# What Mechanical Turk wrote behind its times.
_ZONES = {"PDT": -7, "PST": -8, "UTC": 0, "GMT": 0}
_IN_WORDS = re.compile(r"\w{3} (\w{3} \d{1,2} \d\d:\d\d:\d\d) ([A-Z]{3}) (\d{4})", re.ASCII)


class CellProblems:
    """What is wrong with a file, up to a number that still helps."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Problem] = []

    def add(self, row: Row, column: str, message: str, fix: str, value: Any) -> None:
        if len(self.found) < MOST_PROBLEMS:
            where = f"column {column!r} {message}"
            self.found.append(Problem(self.name, row.line, where, fix, shortened(value)))

    def check(self) -> None:
        if self.found:
            raise UserError(f"{self.name} can't be imported", self.found[:MOST_PROBLEMS])


def name_in(row: Row, column: str, problems: CellProblems) -> str:
    """What a task or a worker is called."""
    text = str(row.values.get(column, "") if row.values.get(column) is not None else "").strip()
    if not text:
        problems.add(row, column, "is empty", "Fill it in, or remove the row.", text)
    elif len(text) > LONGEST_ID or not text.isprintable():
        fix = f"Use at most {LONGEST_ID} letters, without line breaks."
        problems.add(row, column, "is no name for anything", fix, text)
    return text


def label_in(row: Row, column: str, sep: str | None, problems: CellProblems) -> str | tuple[str, ...] | None:
    """A label, or a set of them where `sep` stands between; None or an empty set where nothing was answered."""
    value = row.values.get(column)
    if value is None or value in ("", _UNANSWERED):
        return None
    if sep is None:
        text = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).strip()
        if len(text) > LONGEST_LABEL:
            problems.add(row, column, f"has more than {LONGEST_LABEL:,} characters", "Shorten it.", text)
        return text or None
    parts = value if isinstance(value, list) else _parts(row, column, str(value), sep, problems)
    if not all(isinstance(part, str | int | float) for part in parts):
        problems.add(row, column, "is not a list of labels", "Write texts.", value)
        return ()
    return tuple(sorted({text for part in parts if (text := str(part).strip())}))


def _parts(row: Row, column: str, text: str, sep: str, problems: CellProblems) -> Sequence[Any]:
    if sep != JSON_LISTS:
        return text.split(sep)
    try:
        parts = json.loads(text)
    except ValueError:
        parts = None
    if not isinstance(parts, list):
        problems.add(row, column, "is not a JSON list", "Correct it, or choose another separator with --sep.", text)
        return ()
    return parts


def time_in(row: Row, column: str | None, problems: CellProblems) -> int | None:
    """Milliseconds since 1970; None where the file has no times."""
    value = None if column is None else row.values.get(column)
    if column is None or value is None or not str(value).strip():
        return None
    text = str(value).strip()
    for read in (_in_words, _american, datetime.fromisoformat):
        try:
            moment = read(text)
        except ValueError:
            continue
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    problems.add(row, column, "is not a time", "Write it as 2017-09-25T09:39:11Z.", text)
    return None


def _in_words(text: str) -> datetime:
    """As Mechanical Turk writes it.

    >>> _in_words("Mon Sep 25 09:39:11 PDT 2017").isoformat()
    '2017-09-25T09:39:11-07:00'
    """
    found = _IN_WORDS.fullmatch(text)
    if found is None or found[2] not in _ZONES:
        raise ValueError(text)
    zone = timezone(timedelta(hours=_ZONES[found[2]]))
    return datetime.strptime(f"{found[1]} {found[3]}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone)


def _american(text: str) -> datetime:
    """As Appen writes it, in UTC.

    >>> _american("3/24/2016 17:57:02").isoformat()
    '2016-03-24T17:57:02+00:00'
    """
    return datetime.strptime(text, "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC)


def seconds_in(row: Row, column: str, problems: CellProblems) -> int:
    """A number of seconds, in milliseconds."""
    text = str(row.values[column])
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 10**9:
        problems.add(row, column, "is no number of seconds", "Write a number of at least 0.", text)
        return 0
    return round(seconds * 1000)
