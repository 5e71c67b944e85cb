"""Finished work from elsewhere, row by row: batch files of Mechanical Turk and Appen, tables of task, worker, label.

Beside who said what about which task, a row has what the file tells of the item, when it was answered, how long that
took and what it paid. Anything that can't be understood is refused with its line and column.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chorale.formats.batch_answers import (
    ANSWER,
    GOLD,
    INPUT,
    MOST_FIELDS,
    BatchField,
    answer_columns,
    fields_of,
)
from chorale.formats.batch_cells import CellProblems, label_in, name_in, seconds_in, time_in
from chorale.formats.judgment_layout import Layout, layout_of
from chorale.formats.rows import Row, read_rows, shortened
from chorale.formats.source import digest_of, read_bytes
from chorale.formats.wording import many
from chorale.model import Problem, UserError

LABEL = "label"
"""What the form calls the one thing it asks."""
MOST_JUDGMENTS = 1_000
_REWARD = re.compile(r"\$?\s*(\d{1,6})(?:\.(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One judgment."""

    line: int
    task: str
    worker: str
    answers: Mapping[str, str | tuple[str, ...]]
    """What was filled in, by the name of the field."""
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
    fields: tuple[BatchField, ...]
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
    sep: str = "|"
    """What it puts between the options that somebody ticked."""


_PLATFORMS = {
    "AssignmentStatus": _Platform("mturk", "SubmitTime", "WorkTimeInSeconds", None, "Reward"),
    "_tainted": _Platform("appen", "_created_at", None, "_started_at", None, "\n"),
}
_TABLE = _Platform("table")


def read_batch(path: Path, options: BatchOptions) -> Batch:
    """A whole file, or UserError with everything that is wrong with it."""
    problems = CellProblems(str(path))
    rows = _sharing(read_rows(path, shown_as=str(path), problems=problems.found))
    if not rows and not problems.found:
        problems.found.append(Problem(str(path), None, "has no rows", "Check that the right file was named."))
    problems.check()
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    layout = layout_of(path, names, task=options.task, worker=options.worker, label=options.label, several=True)
    platform = _PLATFORMS.get(layout.refusal or "", _TABLE)
    kept, notes = _without_refused(rows, layout, keep=options.keep_rejected)
    fields = _fields(path, kept, names, layout, options.sep, platform)
    judge = _Judge(layout, platform, fields, problems)
    judged = [(row, one) for row in kept if (one := judge.judgment(row)) is not None]
    problems.check()
    if len(fields) > 1:
        asked = ", ".join(shortened(field.title) for field in fields)
        notes.append(f"Answers are in {len(fields)} columns, and each is a field: {asked}. --label chooses one.")
    empty = len(kept) - len(judged)
    if empty:
        notes.append(
            f"{many(empty, 'row left out: it has', 'rows left out: they have')} no {layout.label or 'answer'}."
        )
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
        items=_items(names, once, {*layout.columns, *(field.column for field in fields)}, platform),
        fields=tuple(fields),
        reward=reward,
        digest=digest_of(read_bytes(path)),
        notes=(*notes, *about),
    )


def _sharing(rows: Iterator[Row]) -> list[Row]:
    """All rows, with texts that come again, as most do, held once."""
    known: dict[str, str] = {}
    found = []
    for row in rows:
        for name, value in row.values.items():
            if isinstance(value, str):
                row.values[name] = known.setdefault(value, value)
        found.append(row)
    return found


def _fields(
    path: Path, rows: Sequence[Row], names: Sequence[str], layout: Layout, sep: str | None, platform: _Platform
) -> list[BatchField]:
    """The column of labels that was named, or all columns that people filled in."""
    if not layout.candidates or (layout.label and sep is not None):
        return [BatchField(LABEL, layout.label, sep)]
    columns = answer_columns(rows, names, layout.candidates, layout.task)
    if not columns or len(columns) > MOST_FIELDS:
        filled_in = f"{len(columns) or 'no'} columns that people filled in"
        problem = Problem(
            str(path), 1, f"has {filled_in}, and a form has from 1 to {MOST_FIELDS}", "Choose one with --label."
        )
        raise UserError(f"{path} can't be imported", [problem])
    found = fields_of(rows, columns, sep or platform.sep)
    return found if len(found) > 1 else [replace(found[0], name=LABEL)]


def _without_refused(rows: Sequence[Row], layout: Layout, *, keep: bool) -> tuple[list[Row], list[str]]:
    if layout.refusal is None:
        return list(rows), []
    sound = [row for row in rows if str(row.values.get(layout.refusal, "")).lower() not in layout.refused]
    gone = len(rows) - len(sound)
    if not gone:
        return sound, []
    shown = f"{many(gone, 'judgment', 'judgments')} whose {layout.refusal} is {' or '.join(sorted(layout.refused))}"
    return (list(rows), [f"Kept: {shown}."]) if keep else (sound, [f"Left out: {shown}."])


class _Judge:
    """Makes judgments of rows. What is the same in many of them is held once."""

    def __init__(
        self, layout: Layout, platform: _Platform, fields: Sequence[BatchField], problems: CellProblems
    ) -> None:
        self._layout, self._platform, self._fields, self._problems = layout, platform, fields, problems
        self._answers: dict[tuple[Any, ...], Mapping[str, str | tuple[str, ...]]] = {}

    def judgment(self, row: Row) -> BatchRow | None:
        """None where nothing was answered, or where something is wrong, which is told."""
        layout, platform, problems = self._layout, self._platform, self._problems
        given = tuple(label_in(row, field.column, field.sep, problems) for field in self._fields)
        if not any(given):
            return None
        task, worker = (name_in(row, column, problems) for column in (layout.task, layout.worker))
        submitted = time_in(row, platform.submitted, problems)
        if platform.seconds is not None and row.values.get(platform.seconds):
            duration = seconds_in(row, platform.seconds, problems)
        else:
            started = time_in(row, platform.started, problems)
            duration = 0 if started is None or submitted is None else max(0, submitted - started)
        return BatchRow(row.line, task, worker, self._shared(given), submitted, duration)

    def _shared(self, given: tuple[Any, ...]) -> Mapping[str, str | tuple[str, ...]]:
        found = self._answers.get(given)
        if found is None:
            found = {field.name: label for field, label in zip(self._fields, given, strict=True) if label}
            self._answers[given] = found
        return found


def _check_numbers(name: str, rows: Sequence[BatchRow]) -> None:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.task] = counts.get(row.task, 0) + 1
        if counts[row.task] > MOST_JUDGMENTS:
            message = f"has more than {MOST_JUDGMENTS:,} judgments of one task"
            fix = "Check which column names the task (--task)."
            raise UserError(f"{name} can't be imported", [Problem(name, row.line, message, fix, shortened(row.task))])


def _reward(rows: Sequence[Row], platform: _Platform, problems: CellProblems) -> tuple[int | None, list[str]]:
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
    names: Sequence[str], judged: Sequence[tuple[Row, BatchRow]], taken: Set[str], platform: _Platform
) -> dict[str, dict[str, str]]:
    """What the file tells of each task: the inputs of a batch, or all columns that are the same in all its rows."""
    inputs = [name for name in names if name.startswith(INPUT)]
    told = [name for name in names if not name.startswith(("_", ANSWER)) and not name.endswith(GOLD)]
    wanted = [name for name in (inputs if platform.panel == "mturk" else told) if name not in taken]
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
        task: {name.removeprefix(INPUT): text for name, text in values.items() if name not in varying and text.strip()}
        for task, values in found.items()
    }


def _as_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
