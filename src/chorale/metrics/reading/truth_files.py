"""Reads true labels of tasks, and lists of options."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from chorale.files.judgment_columns import split_labels, text_of
from chorale.files.judgment_layout import column_in
from chorale.files.rows import Row, read_rows
from chorale.files.shortening import shortened
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, read_source, refused
from chorale.model import Problem, UserError

_ReadOptions = Callable[[Any], frozenset[str] | None]
"""The options in a cell, or None."""


@dataclass(frozen=True, slots=True)
class Truth:
    labels: dict[str, frozenset[str]]
    """The true options of each task; exactly one in single-label tasks."""
    digest: str


def read_truth(
    path: Path,
    *,
    task: str | None = None,
    label: str | None = None,
    sep: str | None = None,
    usual: tuple[str, ...] = ("task",),
    options: tuple[str, str] = ("--truth-task", "--truth-label"),
    missing: Sequence[str] = (),
) -> Truth:
    """Reads tasks and their true labels from CSV, TSV, JSONL (optionally .gz) or Parquet.

    A task may occur more than once with the same label. Rows without a label, or with one of the `missing` values, are
    left out. `usual` are default names of the task column, tried in order; `options` are the options that set the two
    columns.
    """
    raw = read_bytes(path)
    problems: list[Problem] = []
    rows = list(_rows(path, problems))
    if not problems and not rows:
        problems.append(Problem(str(path), None, "has no rows", "Check the file name."))
    labels: dict[str, frozenset[str]] = {}
    if not problems:
        names = list(dict.fromkeys(name for row in rows[:100] for name in row.values))
        tasks = task or next((name for name in usual if name in names), usual[0])
        task_column = column_in(path, names, "task", tasks, problems, option=options[0])
        label_column = column_in(path, names, "label", label or "label", problems, option=options[1])
        if not problems:
            read = partial(_options, sep=sep, missing=frozenset(missing))
            labels = _collected(path, rows, task_column, label_column, read, problems)
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    if not labels:
        raise refused(path, None, "has no labels", "Check the selected columns")
    return Truth(labels, digest_of(raw))


def truth_in(labels: Mapping[Any, Any], missing: Sequence[str] = ()) -> Truth:
    """Converts a mapping from task to label, or to a set of options."""
    gaps = frozenset(missing)
    options = {text_of(task): _options(_set_or_label(label), None, gaps) for task, label in labels.items()}
    known = {task: one for task, one in options.items() if one is not None}
    if not known:
        raise UserError("The truth has no labels. Pass a mapping from task to label.")
    return Truth(known, digest_of(repr(sorted((task, sorted(one)) for task, one in known.items())).encode()))


def _set_or_label(label: Any) -> Any:
    return sorted(label, key=str) if isinstance(label, tuple | set | frozenset) else label


def _collected(
    path: Path, rows: Iterable[Row], task: str, label: str, read: _ReadOptions, problems: list[Problem]
) -> dict[str, frozenset[str]]:
    labels: dict[str, frozenset[str]] = {}
    for row in rows:
        name, given = row.values.get(task), row.values.get(label)
        report = partial(Problem, str(path), row.line)
        if name in (None, ""):
            problems.append(report(f"has no {task}", "Fill in the task, or remove the row."))
            continue
        try:
            options = read(given)
        except ValueError:
            problems.append(report(f"has a {label} that is not a JSON list", "Correct it.", shortened(given)))
            continue
        if options is None:
            continue
        known = labels.setdefault(text_of(name), options)
        if known != options:
            labels_given = (shortened(", ".join(sorted(each))) for each in (known, options))
            value = f"{' and '.join(labels_given)} for {shortened(text_of(name))}"
            message = f"has a different {label} than an earlier row for the same task"
            problems.append(report(message, "Remove one of the rows.", value))
    return labels


def _options(given: Any, sep: str | None, missing: frozenset[str]) -> frozenset[str] | None:
    if isinstance(given, list):
        return frozenset(text_of(one) for one in given) - missing
    text = "" if given is None else text_of(given).strip()
    if sep is None:
        return frozenset({text}) if text and text not in missing else None
    if given is None or text in missing:
        return None
    return frozenset(split_labels(pl.Series([text]), sep).to_list()[0] or []) - missing


def _rows(path: Path, problems: list[Problem]) -> Iterator[Row]:
    if path.suffix.lower() != ".parquet":
        yield from read_rows(path, shown_as=str(path), problems=problems)
        return
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, ValueError):
        problems.append(Problem(str(path), None, "is not a valid Parquet file", "Write it again."))
        return
    for number, values in enumerate(table.iter_rows(named=True), 1):
        yield Row(number, values)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # A list of options may be too long for a file name, or contain invalid characters.
        return False


def read_options(text: str) -> tuple[str, ...]:
    """The options of a task: a file with one per line, or a list separated by commas."""
    path = Path(text)
    if _is_file(path):
        options = [line.strip() for line in read_source(path).text.splitlines()]
    else:
        options = [part.strip() for part in text.split(",")]
        if len(options) == 1:
            raise UserError(f"--options {text}: no such file, and a list needs at least two options.")
    return tuple(sorted({option for option in options if option}))
