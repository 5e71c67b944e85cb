"""Cluster columns of files, for `--cluster`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chorale.files.rows import read_rows
from chorale.model import Problem, UserError


def table_columns(
    paths: Iterable[Path], cluster: Sequence[str], item_of: Callable[[Mapping[str, Any]], str | None]
) -> dict[str, dict[str, str]]:
    """Columns of items in tables with one item per row. Missing columns are left out."""
    problems: list[Problem] = []
    rows = [row.values for path in paths for row in read_rows(path, shown_as=str(path), problems=problems)]
    by_name = {}
    for name in cluster:
        pairs = [(item_of(row), row[name]) for row in rows if row.get(name) not in (None, "")]
        if pairs:
            by_name[name] = values_of_items(((item, str(value)) for item, value in pairs if item is not None), name)
    return by_name


def values_of_items(pairs: Iterable[tuple[str, str]], name: str) -> dict[str, str]:
    """The single value of each item. An item with two values is an error."""
    by_item: dict[str, str] = {}
    for item, value in pairs:
        if by_item.setdefault(item, value) != value:
            raise UserError(
                f"--cluster {name}: {item} has two values, {by_item[item]!r} and {value!r}. Use a column with one "
                "value per item, such as the document."
            )
    return by_item
