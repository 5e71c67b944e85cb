"""Pairwise comparisons from a file or from what a program has: a dataframe, a dict of columns, a list of dicts."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.fast_tables import fast_table, header_of
from chorale.files.judgment_columns import as_text, columns_of
from chorale.files.rows import read_rows
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, refused
from chorale.metrics.aggregation.pairwise import Comparisons
from chorale.metrics.reading.judged import DATA
from chorale.model import Problem, UserError
from chorale.model.problems import did_you_mean

ROLES = ("worker", "left", "right", "label")


class Compared(NamedTuple):
    comparisons: Comparisons
    digest: str
    source: str
    """What the signature calls it: a file, or data handed over by a program."""


def comparisons_in(data: Any, columns: Mapping[str, str | None]) -> Compared:
    """Who preferred which of two items. `columns` names those that are not called as their role, one of `ROLES`."""
    names = {role: columns.get(role) or role for role in ROLES}
    if isinstance(data, str | PathLike):
        path = Path(fspath(data))
        raw = read_bytes(path)
        return Compared(_comparisons(str(path), _of_file(path, raw, names), names), digest_of(raw), "file")
    rows = {name: [row.get(name) for row in data] for name in names.values()} if _are_rows(data) else data
    try:
        given = columns_of(rows, names.values())
    except ValueError as error:
        raise UserError(f"{DATA.capitalize()} can't be used: {error}.") from None
    texts = {name: as_text(column).to_list() for name, column in given.items()}
    return Compared(_comparisons(DATA, texts, names), digest_of(repr(texts).encode()), "data")


def _are_rows(data: Any) -> bool:
    return isinstance(data, Sequence) and bool(data) and all(isinstance(row, Mapping) for row in data)


def _of_file(path: Path, raw: bytes, names: Mapping[str, str]) -> dict[str, list[Any]]:
    header = header_of(path, raw)
    _check_columns(path, header, names)
    table = None if header is None else fast_table(path, raw, header, list(names.values()))
    if table is not None:
        return {name: as_text(table[name]).to_list() for name in names.values()}
    problems: list[Problem] = []
    rows = list(read_rows(path, shown_as=str(path), problems=problems))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    _check_columns(path, list(dict.fromkeys(name for row in rows for name in row.values)), names)
    return {name: as_text([row.values.get(name) for row in rows]).to_list() for name in names.values()}


def _check_columns(path: Path, header: Sequence[str] | None, names: Mapping[str, str]) -> None:
    for role, name in names.items():
        if header is not None and name not in header:
            fix = f"Name the column with --{role}{did_you_mean(name, header)}"
            raise refused(path, None, f'has no column named "{name}"', fix, ", ".join(header))


def _comparisons(source: str, columns: Mapping[str, list[Any]], names: Mapping[str, str]) -> Comparisons:
    try:
        found = Comparisons.of(*(columns[names[role]] for role in ROLES))
    except ValueError as error:
        fix = "Correct the row: the label must be the left or the right item"
        raise refused(source, None, "has comparisons that can't be used", fix, str(error)) from None
    if not len(found):
        raise refused(source, None, "has no comparisons", "Check that the right file was named")
    return found
