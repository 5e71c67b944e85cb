"""Judgments (task, worker, label): the table that aggregation and agreement use.

In memory a judgment is three small numbers, with sorted names stored separately, so results do not depend on the order
of rows in the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chorale.files.judgment_columns import JSON_LISTS, as_text, columns_of, label_column, split_labels
from chorale.metrics.ordering import order_of
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Codes = NDArray[np.int32]
Repeats = Literal["last", "first", "all"]
NOTHING = "nothing marked"
"""The label of a judgment without spans. It counts, because others may have marked spans."""

__all__ = ["JSON_LISTS", "NOTHING", "Codes", "Judgments", "Repeats", "codes_in_use", "set_name", "split_labels"]


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Parallel arrays with one entry per judgment; codes index the names.

    A label is the complete answer of a worker. In a multi-label task it is a set of options: `sets` then lists the
    options of every label, as codes into `options`. In a single-label task `sets` is None and the options are the
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
    """The worker's trust at each judgment, if the file has it."""
    notes: tuple[str, ...] = ()
    """Notes on omitted rows and decisions while reading, for publication."""
    free_text: bool = False
    """Whether the file says that the labels are free text."""

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        return brief_repr(
            "Judgments",
            plural(len(self), "judgment", "judgments"),
            plural(len(self.task_names), "task", "tasks"),
            plural(len(self.worker_names), "worker", "workers"),
            plural(len(self.options), "label", "labels") + (" in sets" if self.sets is not None else ""),
        )

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
        counted: bool = False,
    ) -> Self:
        """Builds judgments from three columns of equal length: lists, NumPy arrays, or columns of any dataframe.

        `sep` makes labels sets: cells are split at it, or read as JSON lists if it is `json`. Labels that are lists are
        always sets. A judgment without a label (None, NaN or an empty text) is left out; of a worker's repeated
        judgments of a task, the last, the first or all count. `notes` reports what is left out. An option that occurs
        twice in a label counts once or, if options are `counted`, twice in `sets` as well. A judgment without a task or
        worker, or with invalid trust, raises ValueError.
        """
        columns = {"task": as_text(tasks), "worker": as_text(workers), "label": label_column(labels, sep)}
        if trust is not None:
            columns["trust"] = pl.Series("trust", trust, dtype=pl.Float64, strict=False)
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"columns must have the same length, not {lengths}")
        return cls.from_frame(pl.DataFrame(columns), repeats=repeats, counted=counted)

    @classmethod
    def from_dataframe(
        cls,
        data: Any,
        *,
        task: str = "task",
        worker: str = "worker",
        label: str = "label",
        trust: str | None = None,
        sep: str | None = None,
        repeats: Repeats = "last",
        counted: bool = False,
    ) -> Self:
        """Builds judgments from a Polars, pandas or Arrow table, or any object with columns by name.

        See `from_columns`.
        """
        names = [task, worker, label] + ([] if trust is None else [trust])
        columns = columns_of(data, names)
        weights = None if trust is None else columns[trust]
        return cls.from_columns(
            columns[task], columns[worker], columns[label], trust=weights, sep=sep, repeats=repeats, counted=counted
        )

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, repeats: Repeats = "last", counted: bool = False) -> Self:
        """Builds judgments from a frame with the text columns `task` and `worker`, `label` as text or lists, and
        optionally `trust`.
        """
        frame, notes = _without_gaps(frame)
        multiple = isinstance(frame.schema["label"], pl.List)
        if multiple:
            frame = _with_sets_as_text(frame, counted=counted)
        (tasks, workers, labels), (task_names, worker_names, label_names) = _coded(frame, ("task", "worker", "label"))
        options, sets = label_names, None
        if multiple:
            options, sets = _options_of(frame, label_names)
        trust = frame["trust"].to_numpy() if "trust" in frame.columns else None
        read = cls(tasks, workers, labels, task_names, worker_names, label_names, options, sets, trust, notes)
        return read if repeats == "all" else read._without_repeats(repeats)

    def _without_repeats(self, keep: Repeats) -> Self:
        width = max(1, len(self.worker_names))
        pair = self.tasks.astype(np.int64) * width + self.workers
        order = order_of(pair, width * max(1, len(self.task_names)))
        ordered = pair[order]
        edge = ordered[1:] != ordered[:-1]
        if edge.all():
            return self
        kept = np.zeros(len(self), dtype=np.bool_)
        kept[order[np.r_[edge, True] if keep == "last" else np.r_[True, edge]]] = True
        gone = len(self) - int(np.count_nonzero(kept))
        left_out = plural(gone, "judgment", "judgments")
        note = f"{left_out} left out: if a worker judged a task more than once, only the {keep} judgment counts."
        return self.taken(kept, note)._without_unused_labels()

    def _without_unused_labels(self) -> Self:
        """Removes labels that only occur in omitted judgments."""
        used = np.bincount(self.labels, minlength=len(self.label_names)) > 0
        if used.all():
            return self
        names = tuple(name for name, is_used in zip(self.label_names, used, strict=True) if is_used)
        labels = (np.cumsum(used) - 1)[self.labels].astype(np.int32)
        if self.sets is None:
            return replace(self, labels=labels, label_names=names, options=names)
        sets = [one for one, is_used in zip(self.sets, used, strict=True) if is_used]
        codes = sorted({option for one in sets for option in one})
        place = {code: number for number, code in enumerate(codes)}
        options = tuple(self.options[code] for code in codes)
        renumbered = tuple(tuple(place[code] for code in one) for one in sets)
        return replace(self, labels=labels, label_names=names, options=options, sets=renumbered)

    def taken(self, kept: NDArray[np.intp] | NDArray[np.bool_], *notes: str) -> Self:
        """Only these judgments. Names are kept, even if unused."""
        return replace(
            self,
            tasks=self.tasks[kept],
            workers=self.workers[kept],
            labels=self.labels[kept],
            trust=None if self.trust is None else self.trust[kept],
            notes=(*self.notes, *notes),
        )

    def with_options(self, options: Iterable[str]) -> Self:
        """The judgments with these possible options, whether or not anybody chose them.

        Raises ValueError if a judgment has another option.
        """
        listed = tuple(sorted(set(options)))
        unlisted = sorted(set(self.options) - set(listed))
        if unlisted:
            raise ValueError(f"not among the options: {', '.join(map(repr, unlisted))}")
        place = {option: number for number, option in enumerate(listed)}
        if self.sets is None:
            moved = np.array([place[name] for name in self.label_names], dtype=np.int32)
            labels = moved[self.labels] if len(self) else self.labels
            return replace(self, labels=labels, label_names=listed, options=listed)
        sets = tuple(tuple(place[self.options[code]] for code in one) for one in self.sets)
        return replace(self, options=listed, sets=sets)


def codes_in_use(codes: Codes) -> NDArray[np.intp]:
    """Sorted distinct codes, much faster than `np.unique` because codes are small numbers."""
    return np.flatnonzero(np.bincount(codes))


def set_name(options: Iterable[str]) -> str:
    """The label for a set of options.

    >>> set_name({"b", "a", "x|y"})
    'a|b|x\\\\|y'
    """
    return "|".join(option.replace("\\", "\\\\").replace("|", "\\|") for option in sorted(set(options)))


def _coded(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[list[Codes], list[tuple[str, ...]]]:
    """Text columns as codes into their sorted distinct values, all columns at once."""
    distinct = frame.select(pl.col(name).unique().sort().implode() for name in columns)
    values = [distinct[name].item() if len(frame) else pl.Series(dtype=pl.String) for name in columns]
    codes = frame.select(
        pl.col(name).cast(pl.Enum(categories)).to_physical().cast(pl.Int32)
        for name, categories in zip(columns, values, strict=True)
    )
    return [codes[name].to_numpy() for name in columns], [tuple(categories.to_list()) for categories in values]


def _without_gaps(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    label = pl.col("label")
    empty = label.list.len() == 0 if isinstance(frame.schema["label"], pl.List) else label == ""
    gap = frame.select(label.is_null() | empty).to_series()
    kept = frame.filter(~gap) if gap.any() else frame
    for name in ("task", "worker"):
        if kept[name].null_count():
            where = int((~gap & frame[name].is_null()).arg_max() or 0)
            raise ValueError(f"judgment {where + 1} has a label but no {name}")
    if "trust" in kept.columns:
        trust = kept["trust"].fill_null(float("nan"))
        if not (trust.is_finite() & (trust >= 0)).all():
            raise ValueError("`trust` must be a number of at least 0 for every judgment")
    gone = len(frame) - len(kept)
    if not gone:
        return frame, ()
    return kept, (f"{plural(gone, 'row left out: it has', 'rows left out: they have')} no label.",)


def _with_sets_as_text(frame: pl.DataFrame, *, counted: bool) -> pl.DataFrame:
    """Normalised labels of sets (sorted, each option once unless counted), and the sets."""
    options = pl.col("label").list.drop_nulls()
    frame = frame.with_columns(set=(options if counted else options.list.unique()).list.sort())
    escaped = pl.element().str.replace_all("\\", "\\\\", literal=True).str.replace_all("|", "\\|", literal=True)
    return frame.with_columns(label=pl.col("set").list.eval(escaped).list.join("|"))


def _options_of(frame: pl.DataFrame, label_names: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    distinct = frame.unique("label").select("label", "set")
    by_label: Mapping[str, list[str]] = dict(zip(distinct["label"].to_list(), distinct["set"].to_list(), strict=True))
    options = tuple(sorted({option for options in by_label.values() for option in options}))
    code = {option: number for number, option in enumerate(options)}
    return options, tuple(tuple(code[option] for option in by_label[label]) for label in label_names)
