"""Reads named columns from a file, a dataframe, a dict of columns or a list of dicts."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.fast_tables import fast_table, header_of
from chorale.files.judgment_columns import as_text, columns_of
from chorale.files.rows import read_rows
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes, refused
from chorale.metrics.reading.judged import DATA
from chorale.model import Problem, UserError
from chorale.model.problems import did_you_mean


class NamedColumns(NamedTuple):
    """Texts, or None for empty cells."""

    texts: Mapping[str, list[str | None]]
    name: str
    """Name of the file, or of other data in messages."""
    digest: str
    source: str
    """Name in the signature: a file, or data from a program."""


def named_columns(data: Any, options: Mapping[str, str]) -> NamedColumns:
    """Reads the columns set by options. The error for a missing column names the option: the first word of the key."""
    if isinstance(data, str | PathLike):
        path = Path(fspath(data))
        raw = read_bytes(path)
        return NamedColumns(_of_file(path, raw, options), str(path), digest_of(raw), "file")
    try:
        given = columns_of(_by_column(data) if _are_rows(data) else data, options.values())
    except ValueError as error:
        raise UserError(f"{DATA.capitalize()} can't be used: {error}.") from None
    texts = {name: as_text(column).to_list() for name, column in given.items()}
    return NamedColumns(texts, DATA, digest_of(repr(texts).encode()), "data")


def _are_rows(data: Any) -> bool:
    return isinstance(data, Sequence) and bool(data) and all(isinstance(row, Mapping) for row in data)


def _by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _of_file(path: Path, raw: bytes, options: Mapping[str, str]) -> dict[str, list[str | None]]:
    header = header_of(path, raw)
    _check_columns(path, header, options)
    table = None if header is None else fast_table(path, raw, header, list(options.values()))
    if table is not None:
        return {name: as_text(table[name]).to_list() for name in options.values()}
    problems: list[Problem] = []
    rows = list(read_rows(path, shown_as=str(path), problems=problems))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    _check_columns(path, list(dict.fromkeys(name for row in rows for name in row.values)), options)
    return {name: as_text([row.values.get(name) for row in rows]).to_list() for name in options.values()}


def _check_columns(path: Path, header: Sequence[str] | None, options: Mapping[str, str]) -> None:
    for option, name in options.items():
        if header is not None and name not in header:
            meant = did_you_mean(name, header).strip().rstrip("?")
            fix = f"Set the column with --{option.partition(' ')[0]}" + (
                f" ({meant[0].lower()}{meant[1:]}?)" if meant else ""
            )
            raise refused(path, None, f'has no column named "{name}"', fix, ", ".join(header))
