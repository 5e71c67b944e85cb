"""Columns as codes of sorted names, and values by name in the table type of the input."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from chorale.model.plural import plural


def coded(values: Iterable[Any], column: str) -> tuple[NDArray[np.intp], tuple[Any, ...]]:
    """Codes and their sorted names. A missing value (None, NaN) raises ValueError."""
    given = list(values)
    lacking = sum(value is None or value != value for value in given)  # noqa: PLR0124 - NaN is not equal to itself
    if lacking:
        raise ValueError(
            f"{plural(lacking, 'row has', 'rows have')} no {column}. Fill in the missing values, or remove such rows"
        )
    names = sorted(set(given))
    place = {name: code for code, name in enumerate(names)}
    return np.array([place[value] for value in given], dtype=np.intp), tuple(names)


def is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def table_by_name(data: Any, key: str, names: Sequence[Any], columns: Mapping[str, Iterable[Any]]) -> Any:
    """A pandas table with the key as index for pandas data, otherwise a Polars table with the key as first column."""
    if is_pandas(data):
        pandas = sys.modules["pandas"]
        index = pandas.Index(list(names), name=key)
        return pandas.DataFrame({name: pandas.Series(list(each), index=index) for name, each in columns.items()})
    plain = {name: [_plain(value) for value in each] for name, each in columns.items()}
    return pl.DataFrame({key: list(names), **plain}, strict=False)


def series_by_name(data: Any, key: str, names: Sequence[Any], value: str, values: Iterable[Any]) -> Any:
    """A pandas Series for pandas data, otherwise a Polars table with both columns."""
    table = table_by_name(data, key, names, {value: values})
    return table[value] if is_pandas(data) else table


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
