"""Converts columns of any type to the text columns of judgments."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

JSON_LISTS = "json"
"""The value of the separator for cells with JSON lists."""

_COLLECTIONS = (list, tuple, set, frozenset)


def columns_of(data: Any, names: Iterable[str]) -> dict[str, Any]:
    """Columns of a dataframe: Polars, pandas, Arrow, or anything that gives a column by its name.

    An unknown name raises ValueError.
    """
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    elif not hasattr(data, "__getitem__"):
        data = _as_frame(data)
    there = _names_in(data)
    columns = {}
    for name in names:
        if there is not None and name not in there:
            raise ValueError(f"there is no column {name!r} (found: {', '.join(map(repr, there))})")
        try:
            columns[name] = data[name]
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(
                f"{type(data).__name__} has no column {name!r}. Pass a Polars, pandas or Arrow table, or a dict of "
                f"columns"
            ) from error
    return columns


def _as_frame(data: Any) -> pl.DataFrame:
    """Convert an object through the interchange protocols of dataframes."""
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pl.DataFrame(data)
        return pl.from_dataframe(data)
    except (TypeError, ValueError, AttributeError, ImportError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{type(data).__name__} can't be read as a table") from error


def _names_in(data: Any) -> list[str] | None:
    if isinstance(data, dict):
        return list(data)
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None and not callable(names) and all(isinstance(name, str) for name in names):
            return list(names)
    return None


def as_text(values: Iterable[Any]) -> pl.Series:
    """A column as text; whole numbers have no decimal point. Nested values raise ValueError."""
    series = _as_series(values)
    if series.dtype == pl.String:
        return series
    if series.dtype.is_nested():
        raise ValueError(f"a column of {series.dtype} has values other than texts and numbers")
    if series.dtype.is_float():
        zero = (series == 0.0).fill_null(False)  # of either sign
        return series.fill_nan(None).set(zero, 0.0).cast(pl.String).str.strip_suffix(".0")
    if series.dtype == pl.Object:
        return pl.Series([None if _is_gap(value) else str(value) for value in series], dtype=pl.String)
    return series.cast(pl.String)


def _as_series(values: Iterable[Any]) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        try:
            return pl.Series(values)
        except (ImportError, TypeError, ValueError, pl.exceptions.PolarsError):
            pass  # pandas needs pyarrow for this, and a column of mixed types has no Arrow type
    array = values if isinstance(values, list | tuple) else np.asarray(values)
    try:
        return pl.Series(array, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        # Values of mixed types, as in an object column of pandas.
        return pl.Series([None if _is_gap(value) else str(value) for value in array], dtype=pl.String)


def _is_gap(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))


def label_column(values: Iterable[Any], sep: str | None) -> pl.Series:
    """Labels as stripped text, or as lists of text if they are sets."""
    labels = written_labels(values)
    return labels if isinstance(labels.dtype, pl.List) else split_labels(labels, sep)


def written_labels(values: Iterable[Any]) -> pl.Series:
    """Labels as unchanged text, or as lists of text if they are sets."""
    if not isinstance(values, pl.Series) and str(getattr(values, "dtype", "object")) == "object":
        values = list(values)
        if any(isinstance(value, _COLLECTIONS) for value in values):
            sets = [None if _is_gap(value) else _options_in(value) for value in values]
            return pl.Series(sets, dtype=pl.List(pl.String))
    series = _as_series(values)
    if isinstance(series.dtype, pl.List | pl.Array):
        if isinstance(series.dtype.inner, pl.Struct) and {"start", "end"} <= {
            each.name for each in series.dtype.inner.fields
        }:
            return written_labels(series.to_list())
        if series.dtype.inner.is_nested():
            raise ValueError(f"a column of {series.dtype} has lists with values other than texts and numbers")
        return series.cast(pl.List(pl.String))
    return as_text(series)


def _options_in(value: Any) -> list[str]:
    if not isinstance(value, _COLLECTIONS):
        return [str(value)]
    return sorted(span_text(one) or str(one) for one in value)


def span_text(value: Any) -> str | None:
    """A span object from an export as text: `3:5`, or `3:5:PER` with its label; None if it is not a span.

    >>> span_text({"start": 3, "end": 5, "label": "PER", "text": "Ada Lovelace"})
    '3:5:PER'
    """
    if not isinstance(value, Mapping) or type(value.get("start")) is not int or type(value.get("end")) is not int:
        return None
    label = value.get("label")
    return f"{value['start']}:{value['end']}" + ("" if label is None else f":{label}")


def split_labels(column: pl.Series, sep: str | None) -> pl.Series:
    """Split text labels into sets of options, if there is a separator.

    Options are stripped. A cell that should be a JSON list and is not raises ValueError with the cell.
    """
    if sep is None:
        return column.str.strip_chars()
    if sep == JSON_LISTS:
        distinct = column.unique().drop_nulls().sort().to_list()
        lists = pl.DataFrame(
            {"cell": distinct, "list": [_json_list(cell) for cell in distinct]},
            schema={"cell": pl.String, "list": pl.List(pl.String)},
        )
        return column.to_frame("cell").join(lists, on="cell", how="left", maintain_order="left")["list"]
    parts = column.str.split(sep).list.eval(pl.element().str.strip_chars())
    return parts.list.eval(pl.element().filter(pl.element() != ""))


def _json_list(cell: str) -> list[str] | None:
    """The options in a cell; None if the cell is empty."""
    if not cell.strip():
        return None
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, list):
        raise ValueError(cell)
    options = [text_of(value) if isinstance(value, str | int | float) else span_text(value) for value in values]
    known = [option for option in options if option is not None]
    if len(known) < len(options):
        raise ValueError(cell)
    return known


def are_rankings(labels: pl.Series) -> bool:
    """Whether all lists have the same options and only their order differs. Labels are lists, or texts with JSON lists.

    >>> are_rankings(pl.Series(['["a", "b"]', '["b", "a"]'])), are_rankings(pl.Series(['["a", "b"]', '["b"]']))
    (True, False)
    """
    cells = labels if isinstance(labels.dtype, pl.List) else labels.unique(maintain_order=True)
    orders: set[tuple[str, ...]] = set()
    options: list[str] = []
    for cell in cells:
        given = cell if cell is None or not isinstance(cell, str) else _json_list(cell)
        if given is None:
            continue
        order = tuple(map(str, given))
        options = options or sorted(order)
        if len(order) < 2 or sorted(order) != options:
            return False
        orders.add(order)
    return len(orders) > 1


def is_json_list(cell: str) -> bool:
    """Whether a cell is a JSON list that can be split into options or spans."""
    try:
        return _json_list(cell) is not None
    except ValueError:
        return False


def text_of(value: Any) -> str:
    """A single value as `as_text` would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # Python refuses to write integers of thousands of digits
        return f"{value:x}"
