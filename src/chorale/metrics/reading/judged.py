"""Reads judgments from a file, a dataframe, rows, triples, or a matrix of raters and items."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import polars as pl

from chorale.files.judgment_columns import as_text, columns_of, written_labels
from chorale.files.judgment_layout import FREE_TEXT
from chorale.files.source import digest_of, read_bytes, refused
from chorale.metrics.judgments import Judgments, Repeats
from chorale.metrics.reading.judgment_files import (
    JudgmentFile,
    line_of_label,
    read_judgments,
    separator_in,
)
from chorale.metrics.reading.labels import doubtful_labels, has_free_text, missing_values, tidy_labels
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.model.problems import did_you_mean
from chorale.registry import blaming, readers

JudgmentsReader = Callable[[Path], Iterable[tuple[str, str, str]]]
"""A kit's reader: returns rows of task, worker and label for a path. Raises UserError for invalid files."""
DATA = "the data"
"""Name in messages and tables for data that are not from a file."""


class ReadingOptions(TypedDict, total=False):
    """Options for reading judgments: columns, missing values and repetitions."""

    task: str | None
    worker: str | None
    label: str | None
    trust: str | None
    sep: str | None
    empty: str | None
    missing: Sequence[str | float]
    repeats: Repeats
    keep_rejected: bool
    reader: str | None
    raters: Literal["rows", "columns"] | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading judgments. Which of them apply depends on the source."""

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    trust: str | None = None
    sep: str | None = None
    empty: str | None = None
    repeats: Repeats = "last"
    keep_rejected: bool = False
    raters: Literal["rows", "columns"] | None = None
    """For a matrix: whether raters are rows (default, as in most libraries) or columns."""
    reader: str | None = None
    """Name of an installed kit's reader, for files in its own format."""
    missing: Sequence[str | float] = ()
    """Values that stand for no label."""

    def file(self, path: Path, *, counted: bool = False) -> JudgmentFile:
        if self.reader is not None:
            return self._file_of_kit(path, self.reader, counted=counted)
        options: dict[str, Any] = {name: getattr(self, name) for name in _USED_BY["a file"] if name != "reader"}
        options["missing"] = missing_values(self.missing)
        return read_judgments(path, **options, counted=counted)

    def _file_of_kit(self, path: Path, name: str, *, counted: bool) -> JudgmentFile:
        """Reads judgments from a file with the named reader."""
        named = {"--task": self.task, "--worker": self.worker, "--label": self.label, "--trust": self.trust}
        options = [option for option, value in named.items() if value is not None]
        options += ["--keep-rejected"] if self.keep_rejected else []
        if options:
            raise UserError(f"--reader {name} finds the columns itself. Omit {', '.join(options)}.")
        there = readers()
        if name not in there:
            listed = f"Available readers: {', '.join(there)}." if there else "No installed kit has a reader."
            raise UserError(f"Unknown reader {name!r}. {listed}{did_you_mean(name, there)}")
        read: JudgmentsReader = there[name]
        digest = digest_of(read_bytes(path))
        try:
            with blaming(f"reader `{name}` of the kit `{there.kit_of(name)}`", f"failed on {path}", but=(ValueError,)):
                rows = list(read(path))
            judgments = _judgments(_of_tuples(rows), self, counted=counted)
        except ValueError as error:
            fix = "Correct the file, or omit --reader"
            raise refused(path, None, f"cannot be read by the reader {name!r}", fix, str(error)) from error
        if not len(judgments):
            why = "; ".join(judgments.notes).rstrip(".")
            problem = f"has no judgments with a label{f' ({why})' if why else ''}"
            raise refused(path, None, problem, "Check the file name")
        return JudgmentFile(judgments, digest)

    def line_of(self, path: Path, option: str) -> int | None:
        """First line of a label, or of an option, in a file; None for files of kit readers."""
        if self.reader is not None:
            return None
        return line_of_label(path, option, task=self.task, worker=self.worker, label=self.label, sep=self.sep)

    def settings(self) -> dict[str, Setting]:
        """Options that can change the result, for the signature."""
        settings: dict[str, Setting] = {one.name.replace("_", "-"): getattr(self, one.name) for one in fields(self)}
        raters = self.raters if self.raters == "columns" else None
        missing = missing_values(self.missing) or None
        return {**settings, "keep-rejected": self.keep_rejected or None, "raters": raters, "missing": missing}


_IN_ROWS = ("sep", "empty", "missing", "repeats")
_IN_TABLES = ("task", "worker", "label", "trust", *_IN_ROWS)
_USED_BY = {
    "a file": (*_IN_TABLES, "keep_rejected", "reader"),
    "a table": _IN_TABLES,
    "a list of tuples": _IN_ROWS,
    "a matrix": (*_IN_ROWS, "raters"),
    "judgments read before": (),
}
"""Applicable options by source of the judgments."""


@dataclass(frozen=True, slots=True)
class ReadJudgments:
    """Judgments with their source."""

    name: str
    judgments: Judgments
    digest: str
    reading: Mapping[str, Setting] = field(default_factory=dict)
    """The options it was read with, for the signature."""
    line_of: Callable[[str], int | None] = lambda _: None
    """First line of a label, for messages."""
    source: Literal["file", "data"] = "file"
    """Name in the signature: a file, or data from a program."""
    form: str = "a file"
    """Description of the source."""


def judged_in(data: Any, reading: Reading, *, counted: bool = False) -> ReadJudgments:
    """Reads judgments from a file (a path), a dataframe, a dict of columns, rows, triples or a matrix. Raises UserError
    if there are none.
    """
    if isinstance(data, str | PathLike):
        path = Path(fspath(data))
        judgments, digest = reading.file(path, counted=counted)
        return ReadJudgments(str(path), judgments, digest, reading.settings(), partial(reading.line_of, path))
    if isinstance(data, Judgments):
        judgments, form = data, "judgments read before"
    else:
        try:
            columns = _columns(data, reading)
            judgments, form = _judgments(columns, reading, counted=counted), columns.form
        except ValueError as error:
            raise UserError(f"{DATA.capitalize()} can't be used: {error}.") from None
    if not len(judgments):
        why = f" ({'; '.join(judgments.notes)})" if judgments.notes else ""
        raise UserError(f"{DATA.capitalize()} can't be used: no judgment has a label{why}. Check the columns.")
    return ReadJudgments(DATA, judgments, judgments_digest(judgments), reading.settings(), source="data", form=form)


def check_used(reading: Reading, *given: ReadJudgments) -> None:
    """Rejects options that do not apply to any source: they would have no effect but appear in the signature."""
    used = list(dict.fromkeys(name for judged in given for name in _USED_BY[judged.form]))
    for option in fields(reading):
        if option.name not in used and getattr(reading, option.name) != option.default:
            forms = " or ".join(dict.fromkeys(judged.form for judged in given))
            accepted = f"accepted options are {', '.join(used)}" if used else "no reading option applies"
            raise UserError(f"{option.name} has no effect on {forms}: {accepted}. Omit {option.name}.")


def short_names(first: str, second: str) -> tuple[str, str]:
    """Names of two files, with folders only if needed."""
    ones, others = Path(first).name, Path(second).name
    return (ones, others) if ones != others else (first, second)


class _Columns(NamedTuple):
    form: str
    tasks: Any
    workers: Any
    labels: Any
    trust: Any = None
    free_text: bool = False


def _judgments(columns: _Columns, reading: Reading, *, counted: bool) -> Judgments:
    written = written_labels(_as_numbers(columns.labels))
    labels, notes = tidy_labels(written, separator_in(reading.sep), reading.empty, missing_values(reading.missing))
    _, tasks, workers, _, trust, free_text = columns
    judgments = Judgments.from_columns(tasks, workers, labels, trust=trust, repeats=reading.repeats, counted=counted)
    return replace(judgments, notes=(*notes, *judgments.notes, *doubtful_labels(judgments)), free_text=free_text)


def _as_numbers(labels: Any) -> Any:
    """A list of integers and floats as one numeric column, so that 1 and 1.0 are the same label."""
    if not isinstance(labels, list):
        return labels
    kinds = {type(label) for label in labels} - {type(None)}
    return pl.Series(labels, dtype=pl.Float64) if kinds == {int, float} else labels


def _columns(data: Any, reading: Reading) -> _Columns:
    """Tasks, workers, labels, and trust if its column is set."""
    if isinstance(data, Mapping) or _is_table(data):
        return _named_columns(data, reading)
    if isinstance(data, np.ndarray):
        return _of_matrix(_cells(data), reading)
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        raise UserError(f"Data of type {type(data).__name__} cannot contain judgments. {_KINDS}")
    rows = list(data)
    if not rows:
        raise UserError(f"{DATA.capitalize()} can't be used: it is empty. {_KINDS}")
    if all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _named_columns({name: [row.get(name) for row in rows] for name in names}, reading)
    if all(isinstance(row, tuple) and len(row) == _TRIPLE for row in rows):
        return _of_tuples(rows)
    if all(isinstance(row, list | np.ndarray) for row in rows):
        if reading.raters is None and all(len(row) == 3 and all(isinstance(cell, str) for cell in row) for row in rows):
            raise UserError(
                "Lists of three texts are ambiguous: rows of task, worker and label, or raters with labels for three "
                'items. Use tuples for rows, or add raters="rows" for a matrix with one row per rater.'
            )
        return _of_matrix([list(row) for row in rows], reading)
    raise UserError(f"{DATA.capitalize()} can't be used: its rows have different or unknown types. {_KINDS}")


_TRIPLE = 3
_KINDS = (
    "Pass a path, a table (pandas, Polars or Arrow), a dict of columns, or a list of dicts. Also accepted: a list of "
    "tuples (task, worker, label), or a matrix with one row per rater."
)


def _of_tuples(rows: Sequence[tuple[Any, Any, Any]]) -> _Columns:
    tasks, workers, labels = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    return _Columns("a list of tuples", tasks, workers, labels)


def _is_table(data: Any) -> bool:
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    return isinstance(data, pl.LazyFrame) or any(
        hasattr(data, name) for name in ("columns", "__arrow_c_stream__", "__dataframe__")
    )


def _named_columns(data: Any, reading: Reading) -> _Columns:
    data = data.collect() if isinstance(data, pl.LazyFrame) else data
    asked = {"task": reading.task, "worker": reading.worker, "label": reading.label, "trust": reading.trust}
    names = {role: name or role for role, name in asked.items() if name is not None or role != "trust"}
    there = _names(data)
    for role, name in names.items():
        if there is not None and name not in there:
            listed = ", ".join(map(str, there)) or "none"
            meant = did_you_mean(name, [each for each in there if isinstance(each, str)])
            raise UserError(
                f'{DATA.capitalize()} has no column named "{name}" (found: {listed}). '
                f'Pass {role}="…" with the name of the column, or rename it.{meant}'
            )
    marked = there is not None and FREE_TEXT in there
    columns = columns_of(data, [*names.values(), *([FREE_TEXT] if marked else [])])
    tasks, workers, labels = (columns[names[role]] for role in ("task", "worker", "label"))
    texts = marked and has_free_text(written_labels(_as_numbers(labels)), as_text(columns[FREE_TEXT]), names["label"])
    trust = columns[names["trust"]] if "trust" in names else None
    return _Columns("a table", tasks, workers, labels, trust, texts)


def _names(data: Any) -> list[Any] | None:
    if isinstance(data, Mapping):
        return list(data)
    if isinstance(data, np.ndarray):
        return list(data.dtype.names or ())
    names = getattr(data, "column_names", getattr(data, "columns", None))
    return None if names is None or callable(names) else list(names)


def _cells(matrix: Any) -> list[list[Any]]:
    if matrix.ndim != 2:
        raise UserError(f"An array of {matrix.ndim} dimensions is not a matrix of raters and items. {_KINDS}")
    cells: list[list[Any]] = matrix.tolist()  # Masked values of a masked array are None.
    return cells


def _of_matrix(rows: Sequence[Sequence[Any]], reading: Reading) -> _Columns:
    width = len(rows[0]) if rows else 0
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise UserError(
                f"The matrix can't be used: row {number} has {len(row)} values, but row 1 has {width}. Use None where "
                "a rater did not judge an item."
            )
    raters = [str(row) for row in range(1, len(rows) + 1) for _ in range(width)]
    items = [str(column) for column in range(1, width + 1)] * len(rows)
    if reading.raters == "columns":
        raters, items = items, raters
    return _Columns("a matrix", items, raters, [value for row in rows for value in row])


def judgments_digest(judgments: Judgments) -> str:
    """Digest of judgments that are not from a file: of their names and codes."""
    parts = [repr((judgments.task_names, judgments.worker_names, judgments.label_names)).encode()]
    parts += [np.ascontiguousarray(each).tobytes() for each in (judgments.tasks, judgments.workers, judgments.labels)]
    if judgments.trust is not None:
        parts.append(np.ascontiguousarray(judgments.trust).tobytes())
    return digest_of(b"\0".join(parts))
