"""Accepts tables where a family of metrics reads files, by writing them to temporary files.

So each format needs only one reader, with the same checks, messages and digests.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter
from inspect import signature as parameters_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from chorale.metrics.checked_options import check_options, naming_keywords
from chorale.metrics.score import Score
from chorale.model import Problem, UserError


def taking_tables(score: Callable[..., Score]) -> Callable[..., Score]:
    """Wraps a function to accept tables wherever it accepts paths."""

    parameters = parameters_of(score)
    own_options = {name for name, one in parameters.parameters.items() if one.kind is Parameter.VAR_KEYWORD}

    @wraps(score)
    @naming_keywords()
    def scored(*arguments: Any, **options: Any) -> Score:
        bound = parameters.bind(*arguments, **options)
        check_options(score, options)
        given = {name: value for name, value in bound.arguments.items() if name not in own_options}
        for name, value in given.items():
            if isinstance(value, list | tuple) and not value and parameters.parameters[name].default != ():
                raise UserError(f"{name} is empty. {_GIVE}")
        if not any(_is_table(value) or _are_tables(value) for value in given.values()):
            return score(*arguments, **options)
        with TemporaryDirectory(prefix="chorale-") as folder:
            for name, value in given.items():
                if _is_table(value):
                    bound.arguments[name] = _written(value, Path(folder), name)
                elif _are_tables(value):
                    listed = [_written(one, Path(folder), f"{name}-{at}") for at, one in enumerate(value, 1)]
                    bound.arguments[name] = listed
            try:
                return _named(score(*bound.args, **bound.kwargs), f"{folder}/")
            except UserError as error:
                raise _renamed(error, f"{folder}/") from None

    return scored


_GIVE = "Pass a path, a dataframe or a list of dicts."


def _is_table(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    return isinstance(value, pl.LazyFrame) or any(hasattr(value, name) for name in ("columns", "__arrow_c_stream__"))


def _are_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_table, value))


def _written(table: Any, folder: Path, name: str) -> Path:
    """Writes a CSV file, or JSONL if cells are not only texts and numbers."""
    cells, nested = folder / f"{name}.csv", folder / f"{name}.jsonl"
    if isinstance(table, list) and any(isinstance(value, list | dict) for row in table for value in row.values()):
        # Lists in rows may have values of several types, which a column cannot.
        nested.write_text("".join(f"{json.dumps(row, default=str)}\n" for row in table), "utf-8")
        return nested
    frame = _frame(table, name)
    if any(kind.is_nested() for kind in frame.dtypes):
        frame.write_ndjson(nested)
        return nested
    frame.write_csv(cells)
    return cells


def _frame(table: Any, name: str) -> pl.DataFrame:
    try:
        if isinstance(table, pl.LazyFrame):
            return table.collect()
        if type(table).__module__.partition(".")[0] == "pandas":
            # Without Arrow, which may not be installed.
            columns = {str(column): table[column].astype(object).tolist() for column in table.columns}
            return pl.DataFrame(columns, strict=False).fill_nan(None)
        return pl.DataFrame(table, strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{name} cannot be read as a table: {error}. {_GIVE}") from None


def _named(score: Score, folder: str) -> Score:
    """Removes the path of the temporary folder."""
    return replace(
        score,
        json=_without(score.json, folder),
        tables=[
            replace(table, title=_without(table.title, folder), columns=tuple(_without(list(table.columns), folder)))
            for table in score.tables
        ],
        notes=_without(list(score.notes), folder),
    )


def _renamed(error: UserError, folder: str) -> UserError:
    problems = [
        Problem(_without(one.file, folder), one.line, _without(one.message, folder), one.fix, one.value)
        for one in error.problems
    ]
    return UserError(_without(error.message, folder), problems)


def _without(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(folder, "")
    if isinstance(value, Mapping):
        return {_without(name, folder): _without(one, folder) for name, one in value.items()}
    return [_without(one, folder) for one in value] if isinstance(value, list | tuple) else value
