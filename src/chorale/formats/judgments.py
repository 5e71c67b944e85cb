"""Judgments: who said what about which task. The one table that aggregation and agreement work on.

In memory a judgment is three small numbers, and names are kept beside them, sorted: nothing computed from a `Judgments`
depends on the order of rows in the file it came from.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Repeats = Literal["last", "first", "all"]
JSON_LISTS = "json"
"""Given as the separator of labels: cells are JSON lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Parallel arrays, one place per judgment; codes index the names.

    A label is what the worker said as a whole. In a multi-label task it is a set of options: `sets` then says, for
    every label, which ones, as codes into `options`. In a single-label task `sets` is None and the options are the
    labels.
    """

    tasks: Codes
    workers: Codes
    labels: Codes
    task_names: tuple[str, ...]
    worker_names: tuple[str, ...]
    label_names: tuple[str, ...]
    options: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...] | None = None
    trust: NDArray[np.float64] | None = None
    """The worker's trust at each judgment, where the file has it."""
    notes: tuple[str, ...] = ()
    """What was left out or decided while reading, for whoever publishes the numbers."""

    def __len__(self) -> int:
        return len(self.tasks)

    @classmethod
    def from_columns(
        cls,
        tasks: Iterable[Any],
        workers: Iterable[Any],
        labels: Iterable[Any],
        *,
        trust: Iterable[float] | None = None,
        sep: str | None = None,
        repeats: Repeats = "last",
    ) -> Self:
        """From any three columns of equal length: lists, NumPy arrays, columns of any dataframe.

        `sep` makes labels sets: cells are split at it, or read as JSON lists if it is `json`. Labels that are lists are
        sets anyway. A judgment without a label (None, NaN or an empty text) is left out; of a worker's repeated
        judgments of one task the last counts, the first, or all of them. Both are said in `notes`.
        """
        columns = {"task": _as_text(tasks), "worker": _as_text(workers), "label": _label_column(labels, sep)}
        if trust is not None:
            columns["trust"] = pl.Series("trust", trust, dtype=pl.Float64, strict=False)
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"columns must be equally long, not {lengths}")
        return cls.from_frame(pl.DataFrame(columns), repeats=repeats)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, repeats: Repeats = "last") -> Self:
        """From a frame with the text columns `task` and `worker`, `label` as text or lists, and perhaps `trust`."""
        frame, notes = _without_gaps(frame)
        multiple = isinstance(frame.schema["label"], pl.List)
        if multiple:
            # One spelling per set: sorted, each option once.
            frame = frame.with_columns(label=pl.col("label").list.drop_nulls().list.unique().list.sort())
            sets_as_text = (
                pl.col("label").list.eval(pl.element().str.replace_all("|", "\\|", literal=True)).list.join("|")
            )
            frame = frame.with_columns(set=pl.col("label"), label=sets_as_text)
        tasks, task_names = coded(frame["task"])
        workers, worker_names = coded(frame["worker"])
        labels, label_names = coded(frame["label"])
        options, sets = label_names, None
        if multiple:
            options, sets = _options_of(frame, label_names)
        trust = frame["trust"].to_numpy() if "trust" in frame.columns else None
        read = cls(tasks, workers, labels, task_names, worker_names, label_names, options, sets, trust, notes)
        return read if repeats == "all" else read._without_repeats(repeats)

    def _without_repeats(self, keep: Repeats) -> Self:
        pair = self.tasks.astype(np.int64) * max(1, len(self.worker_names)) + self.workers
        order = np.argsort(pair, kind="stable")
        ordered = pair[order]
        edge = ordered[1:] != ordered[:-1]
        kept_in_order = np.r_[edge, True] if keep == "last" else np.r_[True, edge]
        if len(self) == 0 or kept_in_order.all():
            return self
        kept = np.sort(order[kept_in_order])
        gone = len(self) - len(kept)
        note = f"{gone:,} judgments left out: the worker judged the task more than once, and the {keep} one counts."
        return self.taken(kept, note)

    def taken(self, kept: NDArray[np.intp] | NDArray[np.bool_], *notes: str) -> Self:
        """Only these judgments. Names stay, even of what is no longer there."""
        return replace(
            self,
            tasks=self.tasks[kept],
            workers=self.workers[kept],
            labels=self.labels[kept],
            trust=None if self.trust is None else self.trust[kept],
            notes=(*self.notes, *notes),
        )


def coded(column: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """A text column as codes into its sorted distinct values."""
    categories = column.unique().sort()
    names = tuple(categories.to_list())
    return column.cast(pl.Enum(categories)).to_physical().to_numpy().astype(np.int32), names


def _without_gaps(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    label = pl.col("label")
    empty = label.list.len() == 0 if isinstance(frame.schema["label"], pl.List) else label == ""
    kept = frame.filter(~(label.is_null() | empty))
    gone = len(frame) - len(kept)
    if not gone:
        return frame, ()
    return kept, (f"{gone:,} rows left out: they have no label.",)


def _options_of(frame: pl.DataFrame, label_names: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    distinct = frame.unique("label").select("label", "set")
    by_label: Mapping[str, list[str]] = dict(zip(distinct["label"].to_list(), distinct["set"].to_list(), strict=True))
    options = tuple(sorted({option for options in by_label.values() for option in options}))
    code = {option: number for number, option in enumerate(options)}
    return options, tuple(tuple(code[option] for option in by_label[label]) for label in label_names)


def _as_text(values: Iterable[Any]) -> pl.Series:
    """A column as text; numbers as they are written, whole ones without a point."""
    series = _as_series(values)
    if series.dtype == pl.String:
        return series
    if series.dtype.is_float():
        series = series.fill_nan(None)
        if (series.drop_nulls() == series.drop_nulls().floor()).all():
            series = series.cast(pl.Int64, strict=False)
    if series.dtype == pl.Object:
        return pl.Series([None if value is None else str(value) for value in series], dtype=pl.String)
    return series.cast(pl.String)


def _as_series(values: Iterable[Any]) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    array = values if isinstance(values, list | tuple) else np.asarray(values)
    try:
        return pl.Series(array, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        # Values of several kinds, as in an object column of pandas.
        return pl.Series([None if _is_nan(value) else str(value) for value in array], dtype=pl.String)


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _label_column(values: Iterable[Any], sep: str | None) -> pl.Series:
    listed = values if isinstance(values, pl.Series) else list(values)
    if not isinstance(listed, pl.Series) and any(isinstance(value, list | tuple | set | frozenset) for value in listed):
        listed = pl.Series(
            [None if _is_nan(value) else sorted(map(str, value)) for value in listed], dtype=pl.List(pl.String)
        )
    if isinstance(listed, pl.Series) and isinstance(listed.dtype, pl.List):
        return listed.cast(pl.List(pl.String))
    return split_labels(_as_text(listed), sep)


def split_labels(column: pl.Series, sep: str | None) -> pl.Series:
    """Labels of text as sets of options, if there is a separator.

    Options are stripped of white space around them. A cell that is not a JSON list where one should be raises
    ValueError with the cell.
    """
    if sep is None:
        return column.str.strip_chars()
    if sep == JSON_LISTS:
        distinct = column.unique().drop_nulls().to_list()
        lists = pl.DataFrame(
            {"cell": distinct, "list": [_json_list(cell) for cell in distinct]},
            schema={"cell": pl.String, "list": pl.List(pl.String)},
        )
        return column.to_frame("cell").join(lists, on="cell", how="left", maintain_order="left")["list"]
    parts = column.str.split(sep).list.eval(pl.element().str.strip_chars())
    return parts.list.eval(pl.element().filter(pl.element() != ""))


def _json_list(cell: str) -> list[str]:
    if not cell.strip():
        return []
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(cell)
    return [str(value) for value in values]
