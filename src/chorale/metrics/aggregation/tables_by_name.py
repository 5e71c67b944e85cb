"""A value for every name, in the kind of table that the data came in."""

import sys
from collections.abc import Sequence
from typing import Any

import polars as pl


def is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def series_by_name(data: Any, key: str, names: Sequence[Any], value: str, values: Sequence[Any] | Any) -> Any:
    """A pandas Series where the data are pandas's, else a Polars table with both columns."""
    if is_pandas(data):
        pandas = sys.modules["pandas"]
        return pandas.Series(list(values), index=pandas.Index(list(names), name=key), name=value)
    return pl.DataFrame({key: list(names), value: pl.Series(value, list(values), strict=False)})
