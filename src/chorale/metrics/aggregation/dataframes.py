"""Conversion from and to pandas and Polars tables, without a dependency on pandas.

The library is detected from the input table, so results have the same type.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.dawid_skene import InitialErrors
from chorale.metrics.aggregation.result import Aggregation, certainty
from chorale.metrics.aggregation.scored_labels import LabelTable, Source
from chorale.metrics.checked_options import naming_keywords
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judged import Reading, judged_in
from chorale.model.plural import plural

_COLUMNS = ("task", "worker", "label")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Judgments, the library of their table, and the original values of tasks, workers and labels."""

    judgments: Judgments
    library: Any
    is_pandas: bool
    task_values: Any
    worker_values: Any
    label_values: Any
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files; empty for a table."""

    @classmethod
    def of(cls, data: Any) -> Self:
        """Converts a dataframe with the columns task, worker and label, or any other form of judgments.

        Rows without a label are left out.
        """
        module = type(data).__module__.partition(".")[0]
        if module == "pandas":
            return cls._of_pandas(data, sys.modules["pandas"])
        if module == "polars":
            return cls._of_polars(data, sys.modules["polars"])
        if hasattr(data, "__arrow_c_stream__"):
            return cls._of_polars(sys.modules["polars"].DataFrame(data), sys.modules["polars"])
        with naming_keywords():
            judged = judged_in(data, Reading(repeats="all"))
        judgments = judged.judgments
        polars = sys.modules["polars"]
        tasks, workers, labels = map(
            polars.Series, (judgments.task_names, judgments.worker_names, judgments.label_names)
        )
        inputs = {"file": judged.digest} if judged.source == "file" else {}
        return cls(judgments, polars, False, tasks, workers, labels, inputs)

    @classmethod
    def _of_pandas(cls, data: Any, pandas: Any) -> Self:
        _check_columns(list(data.columns))
        data = data[list(_COLUMNS)]
        data = data[data["label"].notna()]
        _check_gaps({name: int(data[name].isna().sum()) for name in _COLUMNS})
        coded = [pandas.factorize(data[name], sort=True) for name in _COLUMNS]
        return cls(_judgments(coded), pandas, True, *(values for _, values in coded))

    @classmethod
    def _of_polars(cls, data: Any, polars: Any) -> Self:
        data = data.collect() if isinstance(data, polars.LazyFrame) else data
        _check_columns(data.columns)
        # NaN is a missing value, as in pandas.
        no_value = polars.selectors.float().fill_nan(None)
        data = data.select(_COLUMNS).with_columns(no_value).filter(polars.col("label").is_not_null())
        _check_gaps({name: data[name].null_count() for name in _COLUMNS})
        coded = []
        for name in _COLUMNS:
            values = data[name].unique().sort()
            places = polars.DataFrame({name: values, "place": np.arange(len(values), dtype=np.int32)})
            codes = data.select(name).join(places, on=name, how="left", maintain_order="left")["place"]
            coded.append((codes.to_numpy(), values))
        return cls(_judgments(coded), polars, False, *(values for _, values in coded))

    def with_labels(self, values: Iterable[Any]) -> Self:
        """Adds possible labels that nobody gave."""
        known = list(self.label_values)
        more = [value for value in dict.fromkeys(values) if value not in set(known)]
        if not more:
            return self
        every = sorted([*known, *more])
        place = {value: number for number, value in enumerate(every)}
        moved = np.array([place[value] for value in known], dtype=np.int32)
        names = tuple(map(str, every))
        judgments = replace(self.judgments, labels=moved[self.judgments.labels], label_names=names, options=names)
        column = self.library.Index(every) if self.is_pandas else self.library.Series(every)
        return replace(self, judgments=judgments, label_values=column)

    def numbers(self, given: Any, values: Any, title: str) -> FloatArray | None:
        """A number for every value, from a mapping or a pandas Series; None without input."""
        if given is None:
            return None
        known = dict(given.items())
        lacking = [value for value in values if value not in known]
        if lacking:
            raise ValueError(f"{title} has no value for {lacking[0]!r}")
        numbers = np.asarray([known[value] for value in values], dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{title} must be finite numbers")
        return numbers

    def initial_errors(self, given: Any, *, replaces: bool) -> InitialErrors:
        """Converts a table with worker and label (the index in pandas) and a column for each true label."""
        frame = given.reset_index() if type(given).__module__.partition(".")[0] == "pandas" else given
        columns = list(frame.columns)
        if "worker" not in columns or "label" not in columns:
            raise ValueError("initial_error must have worker, label, and a column for every label")
        true = [name for name in columns if name not in ("worker", "label")]
        label_of = {value: code for code, value in enumerate(self.label_values)}
        by_name = label_of | {str(value): code for value, code in label_of.items()}
        strange = [name for name in true if name not in by_name]
        if strange:
            raise ValueError(f"initial_error has a column {strange[0]!r}, a label that nobody gave. Remove it")
        worker_of = {value: code for code, value in enumerate(self.worker_values)}
        workers = np.array([worker_of.get(value, -1) for value in frame["worker"]], dtype=np.intp)
        labels = np.array([label_of.get(value, -1) for value in frame["label"]], dtype=np.intp)
        values = np.zeros((len(workers), len(label_of)))
        for name in true:
            values[:, by_name[name]] = np.asarray(frame[name], dtype=np.float64)
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError("initial_error must contain counts or probabilities: finite and at least 0")
        ours = workers >= 0
        return InitialErrors(workers[ours], labels[ours], values[ours], replaces)

    def labels(self, result: Aggregation) -> Any:
        """The label of each task, named `agg_label`."""
        labels = self.label_values[result.leading]
        if result.tie_rule in ("abstain", "all") and result.ties:
            labels = self._with_ties(labels, result)
        return self._column(self.task_values, "task", labels, "agg_label")

    def _with_ties(self, labels: Any, result: Aggregation) -> Any:
        """Labels, with None or a list of all leading labels for tied tasks."""
        values, known, chosen = list(labels), list(self.label_values), result.chosen
        for row in np.flatnonzero(result.tied).tolist():
            leading = [known[code] for code in np.flatnonzero(chosen[row]).tolist()]
            values[row] = leading or None
        if self.is_pandas or result.tie_rule == "abstain":
            return values
        return [value if isinstance(value, list) else [value] for value in values]

    def scored_labels(self, result: Aggregation, source: Source) -> Any:
        """The label of each task, with additional columns."""
        if self.is_pandas:
            from chorale.metrics.aggregation.pandas_labels import LabelSeries  # noqa: PLC0415 - not installed with Chorale

            return LabelSeries.of(self.labels(result), certainty(result), source)
        return LabelTable(self.labels(result), certainty(result), source)

    def probabilities(self, result: Aggregation) -> Any:
        """One row per task, one column per label."""
        return self._table({"task": self.task_values}, result.probabilities)

    def of_workers(self, values: FloatArray, name: str) -> Any:
        return self._column(self.worker_values, "worker", values, name)

    def of_tasks(self, values: FloatArray, name: str) -> Any:
        return self._column(self.task_values, "task", values, name)

    def of_labels(self, values: FloatArray, name: str) -> Any:
        return self._column(self.label_values, "label", values, name)

    def errors(self, result: Aggregation) -> Any:
        """One row per worker and used label, one column per true label."""
        workers = self.worker_values[result.details["error_workers"]]
        labels = self.label_values[result.details["error_labels"]]
        return self._table({"worker": workers, "label": labels}, result.details["errors"])

    def _table(self, keys: dict[str, Any], values: FloatArray) -> Any:
        """One column per label. Labels that clash with another column get an underscore."""
        if self.is_pandas:
            if len(keys) == 1:
                [(name, of_rows)] = keys.items()
                index = self._index(of_rows, name)
            else:
                index = self.library.MultiIndex.from_arrays(list(keys.values()), names=list(keys))
            return self.library.DataFrame(values, index=index, columns=self._index(self.label_values, "label"))
        names = [f"{name}_" if name in _COLUMNS else name for name in map(str, self.label_values.to_list())]
        return self.library.DataFrame({**keys, **dict(zip(names, values.T, strict=True))})

    def _column(self, keys: Any, key: str, values: Any, name: str) -> Any:
        if self.is_pandas:
            return self.library.Series(values, index=self._index(keys, key), name=name)
        return self.library.DataFrame({key: keys, name: values})

    def _index(self, values: Any, name: str) -> Any:
        return self.library.Index(values, name=name)


def _check_columns(names: Sequence[Any]) -> None:
    missing = [name for name in _COLUMNS if name not in names]
    if missing:
        raise ValueError(f"the table has no columns {', '.join(missing)} (found: {', '.join(map(str, names))})")


def _check_gaps(gaps: Mapping[str, int]) -> None:
    for name, count in gaps.items():
        if count:
            lack = plural(count, "judgment has", "judgments have")
            raise ValueError(f"{lack} a label but no {name}. Fill in the missing values, or remove such rows")


def _judgments(coded: Sequence[tuple[Any, Any]]) -> Judgments:
    (tasks, workers, labels), names = (
        (np.asarray(codes, dtype=np.int32) for codes, _ in coded),
        [tuple(str(value) for value in values) for _, values in coded],
    )
    return Judgments(tasks, workers, labels, names[0], names[1], names[2], names[2])
