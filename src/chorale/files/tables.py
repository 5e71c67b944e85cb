"""Tables for other programs: JSONL, CSV and Parquet. A file is written completely or not at all."""

import csv
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO
from zipfile import ZIP_DEFLATED, ZipFile

TableRow = Mapping[str, Any]

_FORMULA = re.compile(r"'*(?:[\t\r\n]|\s*[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"'*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_BATCH = 25_000


def escape_cell(text: str) -> str:
    """Escape text for a CSV cell, so that no spreadsheet treats it as a formula.

    A cell gets a leading apostrophe if it begins with a tab or line break, or with `=`, `+`, `-` or `@` (or their
    full-width forms), even after white space. Plain numbers such as -1.5 stay unchanged. If such a text already has
    leading apostrophes, it gets one more, so that the escaping can be reversed.
    """
    # Fast path: most cells begin with a letter or a digit.
    return text if not text or text[0].isalnum() or not _is_formula(text) else f"'{text}"


def unescape_cell(cell: str) -> str:
    """The original text of a cell from `escape_cell`."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write to a temporary file next to `path`, which replaces it on success and is removed otherwise."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield draft
        os.replace(draft, path)  # noqa: PTH105 - says in one word that it overwrites
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _opened(target: Path | TextIO, *, private: bool = False) -> Iterator[TextIO]:
    if not isinstance(target, Path):
        yield target
        return
    with replacing(target) as draft:
        draft.touch(0o600 if private else 0o666, exist_ok=False)
        # The csv module writes its own line breaks; translating them would corrupt cells that contain some.
        with draft.open("w", encoding="utf-8", newline="") as file:
            yield file


def write_jsonl(rows: Iterable[TableRow], target: Path | TextIO) -> None:
    """Write one JSON object per line."""
    with _opened(target) as file:
        for row in rows:
            file.write(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) + "\n")


def write_zip(rows: Iterable[TableRow], target: Path) -> None:
    """Write an archive with one file per row: its name in `file`, its text in `content`."""
    with replacing(target) as draft, ZipFile(draft, "x", ZIP_DEFLATED) as archive:
        for row in rows:
            archive.writestr(row["file"], row["content"])


def write_lines(batches: Iterable[Iterable[str]], target: Path) -> None:
    """Write prepared lines in batches."""
    with _opened(target) as file:
        for lines in batches:
            file.writelines(lines)


def write_json_list(rows: Iterable[TableRow], target: Path | TextIO) -> None:
    """Write one JSON list, with one object per line."""
    with _opened(target) as file:
        before = "[\n"
        for row in rows:
            file.write(before + json.dumps(dict(row), ensure_ascii=False, allow_nan=False))
            before = ",\n"
        file.write("[]\n" if before == "[\n" else "\n]\n")


def write_all_jsonl(files: Mapping[Path, Iterable[TableRow]]) -> None:
    """Write several files and their folder: all of them, or none."""
    with ExitStack() as stack:
        for path, rows in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_jsonl(rows, stack.enter_context(replacing(path)))


def write_csv(
    columns: Sequence[str],
    rows: Iterable[TableRow],
    target: Path | TextIO,
    delimiter: str = ",",
    *,
    header: bool = True,
    private: bool = False,
) -> None:
    """Write CSV as in RFC 4180, with a header unless left out. Missing values and None are empty; nested values are
    JSON text. Other users of the machine can't read a `private` file.

    No cell can be a formula: see `escape_cell`.
    """
    with _opened(target, private=private) as file:
        # With line ends of two characters, cells that contain either of them are quoted in every version of Python.
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        if header:
            writer.writerow([escape_cell(column) for column in columns])
        writer.writerows([escape_cell(_text(row.get(column))) for column in columns] for row in rows)


_LINE_BREAKING = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


def write_tsv(columns: Sequence[str], rows: Iterable[TableRow], target: Path | TextIO) -> None:
    """Write tab-separated values, one line per row: tabs and line breaks in texts become spaces."""
    with _opened(target) as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            [escape_cell(_LINE_BREAKING.sub(" ", _text(row.get(column)))) for column in columns] for row in rows
        )


def write_parquet(columns: Sequence[str], rows: Iterable[TableRow], path: Path) -> None:
    """Write Parquet with typed columns: booleans, integers, floats, or text if values are mixed or nested."""
    write_parquet_columns(
        columns, ([[row.get(name) for row in batch] for name in columns] for batch in _batches(rows)), path
    )


def write_parquet_columns(columns: Sequence[str], batches: Iterable[Sequence[list[Any]]], path: Path) -> None:
    """Write Parquet from batches of columns, which takes half the time of writing rows.

    Only one batch is in memory: column types are known only after the last row, so earlier batches wait in files next
    to the target.
    """
    import polars  # noqa: PLC0415 - a second of start-up that only this function needs

    types = {"bool": polars.Boolean, "int": polars.Int64, "float": polars.Float64, "text": polars.String}
    kinds: dict[str, set[str]] = {column: set() for column in columns}
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as waiting:
        parts: list[polars.LazyFrame] = []
        frame = polars.DataFrame(schema=dict.fromkeys(columns, polars.Null))
        for number, batch in enumerate(batches):
            if number:
                put_by = Path(waiting) / f"{number}.parquet"
                frame.write_parquet(put_by, compression="lz4")
                parts.append(polars.scan_parquet(put_by))
            series = []
            for column, given in zip(columns, batch, strict=True):
                kind, values = _column(given)
                kinds[column] |= kind
                series.append(polars.Series(column, values, dtype=types[_common(kind)]))
            frame = polars.DataFrame(series)
        schema = polars.Schema({column: types[_common(kind)] for column, kind in kinds.items()})
        # Opened here, so that a failure is reported like that of any other file.
        with replacing(path) as draft, draft.open("xb") as file:
            if parts:
                polars.concat([part.cast(schema) for part in (*parts, frame.lazy())]).sink_parquet(file)
            else:
                frame.cast(schema).write_parquet(file)


def _batches(rows: Iterable[TableRow]) -> Iterator[list[TableRow]]:
    rows = iter(rows)
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _column(values: list[Any]) -> tuple[set[str], list[Any]]:
    """The types in a column, and the values converted to their common type."""
    types = set(map(type, values)) - {type(None)}
    if types == {str}:
        return {"text"}, values
    kinds = {_kind(value) for value in values if value is not None}
    if _common(kinds) == "text":
        values = [None if value is None else _text(value) for value in values]
    return kinds, values


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -(2**63) <= value < 2**63 else "text"
    return "float" if isinstance(value, float) else "text"


def _common(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "float" if kinds == {"int", "float"} else "text"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
