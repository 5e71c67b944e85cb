"""Finished work from elsewhere, row by row: batch files of Mechanical Turk and Appen, tables of task, worker, label.

Beside who said what about which task, a row has what the file tells of the item, when it was answered, how long that
took and what it paid. Anything that can't be understood is refused with its line and column.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from chorale.formats.judgment_layout import Layout, layout_of
from chorale.formats.rows import Row, read_rows, shortened
from chorale.formats.source import MOST_PROBLEMS, digest_of, read_bytes
from chorale.formats.wording import many
from chorale.model import Problem, UserError

JSON_LISTS = "json"
LONGEST_ID = 200
LONGEST_LABEL = 10_000
MOST_JUDGMENTS = 1_000
_INPUT, _UNANSWERED, _GOLD = "Input.", "{}", "_gold"
_REWARD = re.compile(r"\$?\s*(\d{1,6})(?:\.(\d{1,2}))?")
# What Mechanical Turk wrote behind its times.
_ZONES = {"PDT": -7, "PST": -8, "UTC": 0, "GMT": 0}
_IN_WORDS = re.compile(r"\w{3} (\w{3} \d{1,2} \d\d:\d\d:\d\d) ([A-Z]{3}) (\d{4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One judgment."""

    line: int
    task: str
    worker: str
    label: str | tuple[str, ...]
    submitted_at: int | None
    """Milliseconds since 1970; None where the file has no times."""
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A file of finished work."""

    name: str
    panel: str
    """Where it was done: mturk, appen, or table."""
    rows: tuple[BatchRow, ...]
    """One for every worker and task, in the order of the file."""
    items: Mapping[str, Mapping[str, str]]
    """What the file tells of each task, by column."""
    label: str
    """The column of the labels, without what a platform puts before it."""
    sets: bool
    reward: int | None
    """Of every judgment, in cents; None where the file does not say, or says different things."""
    digest: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Which columns hold the judgments, where the file does not say itself."""

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    sep: str | None = None
    keep_rejected: bool = False


@dataclass(frozen=True, slots=True)
class _Platform:
    """Where a platform's files have what is not a judgment itself."""

    panel: str
    submitted: str | None = None
    seconds: str | None = None
    started: str | None = None
    reward: str | None = None


_PLATFORMS = {
    "AssignmentStatus": _Platform("mturk", "SubmitTime", "WorkTimeInSeconds", None, "Reward"),
    "_tainted": _Platform("appen", "_created_at", None, "_started_at", None),
}
_TABLE = _Platform("table")


class _Problems:
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


def read_batch(path: Path, options: BatchOptions) -> Batch:
    """A whole file, or UserError with everything that is wrong with it."""
    problems = _Problems(str(path))
    rows = list(read_rows(path, shown_as=str(path), problems=problems.found))
    if not rows and not problems.found:
        problems.found.append(Problem(str(path), None, "has no rows", "Check that the right file was named."))
    problems.check()
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    layout = layout_of(path, names, task=options.task, worker=options.worker, label=options.label)
    platform = _PLATFORMS.get(layout.refusal or "", _TABLE)
    kept, notes = _without_refused(rows, layout, keep=options.keep_rejected)
    judged = [
        (row, one) for row in kept if (one := _judgment(row, layout, platform, options.sep, problems)) is not None
    ]
    problems.check()
    empty = len(kept) - len(judged)
    if empty:
        notes.append(f"{many(empty, 'row left out: it has', 'rows left out: they have')} no {layout.label}.")
    if not judged:
        why = "; ".join(notes) or None
        fix = "Name the column of the labels with --label."
        raise UserError(f"{path} can't be imported", [Problem(str(path), None, "has no judgments", fix, why)])
    last = {(one.task, one.worker): place for place, (_, one) in enumerate(judged)}
    once = [judged[place] for place in sorted(last.values())]
    if len(once) < len(judged):
        again = many(len(judged) - len(once), "judgment", "judgments")
        notes.append(f"{again} left out: the worker judged the task more than once, and the last one counts.")
    _check_numbers(str(path), [one for _, one in once])
    reward, about = _reward([row for row, _ in once], platform, problems)
    problems.check()
    return Batch(
        name=path.name,
        panel=platform.panel,
        rows=tuple(one for _, one in once),
        items=_items(names, once, layout, platform),
        label=layout.label.removeprefix("Answer."),
        sets=options.sep is not None,
        reward=reward,
        digest=digest_of(read_bytes(path)),
        notes=(*notes, *about),
    )


def _without_refused(rows: Sequence[Row], layout: Layout, *, keep: bool) -> tuple[list[Row], list[str]]:
    if layout.refusal is None:
        return list(rows), []
    sound = [row for row in rows if str(row.values.get(layout.refusal, "")).lower() not in layout.refused]
    gone = len(rows) - len(sound)
    if not gone:
        return sound, []
    shown = f"{many(gone, 'judgment', 'judgments')} whose {layout.refusal} is {' or '.join(sorted(layout.refused))}"
    return (list(rows), [f"Kept: {shown}."]) if keep else (sound, [f"Left out: {shown}."])


def _judgment(row: Row, layout: Layout, platform: _Platform, sep: str | None, problems: _Problems) -> BatchRow | None:
    """None where nothing was answered, or where something is wrong, which is told."""
    label = _label(row, layout.label, sep, problems)
    if label is None or label == ():
        return None
    task, worker = (_name(row, column, problems) for column in (layout.task, layout.worker))
    submitted = _time(row, platform.submitted, problems)
    if platform.seconds is not None and row.values.get(platform.seconds):
        duration = _seconds(row, platform.seconds, problems)
    else:
        started = _time(row, platform.started, problems)
        duration = 0 if started is None or submitted is None else max(0, submitted - started)
    return BatchRow(row.line, task, worker, label, submitted, duration)


def _name(row: Row, column: str, problems: _Problems) -> str:
    text = str(row.values.get(column, "") if row.values.get(column) is not None else "").strip()
    if not text:
        problems.add(row, column, "is empty", "Fill it in, or remove the row.", text)
    elif len(text) > LONGEST_ID or not text.isprintable():
        fix = f"Use at most {LONGEST_ID} letters, without line breaks."
        problems.add(row, column, "is no name for anything", fix, text)
    return text


def _label(row: Row, column: str, sep: str | None, problems: _Problems) -> str | tuple[str, ...] | None:
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


def _parts(row: Row, column: str, text: str, sep: str, problems: _Problems) -> Sequence[Any]:
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


def _time(row: Row, column: str | None, problems: _Problems) -> int | None:
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


def _seconds(row: Row, column: str, problems: _Problems) -> int:
    text = str(row.values[column])
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 10**9:
        problems.add(row, column, "is no number of seconds", "Write a number of at least 0.", text)
        return 0
    return round(seconds * 1000)


def _check_numbers(name: str, rows: Sequence[BatchRow]) -> None:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.task] = counts.get(row.task, 0) + 1
        if counts[row.task] > MOST_JUDGMENTS:
            message = f"has more than {MOST_JUDGMENTS:,} judgments of one task"
            fix = "Check which column names the task (--task)."
            raise UserError(f"{name} can't be imported", [Problem(name, row.line, message, fix, shortened(row.task))])


def _reward(rows: Sequence[Row], platform: _Platform, problems: _Problems) -> tuple[int | None, list[str]]:
    """What a judgment paid, in cents."""
    column = platform.reward
    if column is None:
        return None, []
    found: set[int] = set()
    for row in rows:
        text = str(row.values.get(column) or "").strip()
        if not text:
            return None, []
        amount = _REWARD.fullmatch(text)
        if amount is None:
            problems.add(row, column, "is no amount", "Write it as $0.05.", text)
            return None, []
        found.add(int(amount[1]) * 100 + int((amount[2] or "").ljust(2, "0")))
    if len(found) > 1:
        return None, ["Judgments were paid differently, so nothing is said about pay."]
    return next(iter(found)), []


def _items(
    names: Sequence[str], judged: Sequence[tuple[Row, BatchRow]], layout: Layout, platform: _Platform
) -> dict[str, dict[str, str]]:
    """What the file tells of each task: the inputs of a batch, or all columns that are the same in all its rows."""
    inputs = [name for name in names if name.startswith(_INPUT)]
    told = [name for name in names if not name.startswith(("_", "Answer.")) and not name.endswith(_GOLD)]
    wanted = [name for name in (inputs if platform.panel == "mturk" else told) if name not in layout.columns]
    found: dict[str, dict[str, str]] = {}
    varying: set[str] = set()
    for row, one in judged:
        known = found.get(one.task)
        values = {name: _as_text(row.values.get(name)) for name in wanted}
        if known is None:
            found[one.task] = values
        else:
            varying.update(name for name in wanted if known[name] != values[name])
    return {
        task: {name.removeprefix(_INPUT): text for name, text in values.items() if name not in varying and text.strip()}
        for task, values in found.items()
    }


def _as_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
