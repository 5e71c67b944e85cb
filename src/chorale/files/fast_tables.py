"""Reads some columns of a well-formed table with Polars, and rejects any table with possible problems.

Rejected tables are left to `read_rows`, which is much slower but reports each problem with its place.
"""

import codecs
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from chorale.files.rows import suffix_of
from chorale.files.separators import separator_of

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_OBJECTS = {".jsonl", ".ndjson"}
_PARQUET = ".parquet"
_LOOKED_AT = 100
_LONGEST_HEADER = 100_000
_READY_TYPES = (pl.String, pl.Int64, pl.List(pl.String))


def header_of(path: Path, raw: bytes) -> list[str] | None:
    """The names of a table's columns; None if the header may have problems."""
    suffix = suffix_of(path)
    try:
        if suffix == _PARQUET:
            return list(pl.read_parquet_schema(io.BytesIO(raw)))
        if suffix in _OBJECTS:
            return _keys(raw)
        if suffix not in _SEPARATORS:
            return None
        # An incremental decoder accepts a character that is cut off at the end.
        head = codecs.getincrementaldecoder("utf-8-sig")().decode(raw[:_LONGEST_HEADER])
        if suffix == ".csv" and separator_of(head) != _SEPARATORS[suffix]:
            return None
        rows = csv.reader(io.StringIO(head, newline=""), delimiter=_SEPARATORS[suffix], strict=True)
        names = [name.strip() for name in next((row for row in rows if row), [])]
    except (csv.Error, ValueError, RecursionError, pl.exceptions.PolarsError, OSError):
        return None
    sound = all(names) and len(set(names)) == len(names) > 1 and "\0" not in "".join(names)
    return names if sound else None


def _keys(raw: bytes) -> list[str] | None:
    keys: dict[str, None] = {}
    for line in raw.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
        if line.strip():
            values = json.loads(line.removeprefix(codecs.BOM_UTF8))
            if not isinstance(values, dict):
                return None
            keys |= dict.fromkeys(values)
    return list(keys) or None


def fast_table(path: Path, raw: bytes, names: Sequence[str], columns: Sequence[str]) -> pl.DataFrame | None:
    """The named columns, as text if they are text in the file; None if the table may have problems."""
    suffix = suffix_of(path)
    try:
        if suffix == _PARQUET:
            return pl.read_parquet(io.BytesIO(raw), columns=list(columns))
        if suffix in _OBJECTS:
            return _fast_objects(raw, columns)
        if suffix in _SEPARATORS:
            return _fast_cells(raw.rstrip(b"\r\n"), _SEPARATORS[suffix], names, columns)
    except (pl.exceptions.PolarsError, KeyError, ValueError, OSError):
        pass
    except BaseException as error:
        # Internal errors of Polars are panics, which are not Exceptions.
        if type(error).__name__ != "PanicException":
            raise
    return None


def _fast_cells(raw: bytes, separator: str, names: Sequence[str], columns: Sequence[str]) -> pl.DataFrame | None:
    if b"\0" in raw or raw.count(b"\r") != raw.count(b"\r\n"):
        return None
    table = pl.read_csv(raw, separator=separator, infer_schema=False, new_columns=list(names))
    if table.width != len(names):
        return None
    if b'"' not in raw:
        # Every row has the header's number of separators, so none is short.
        full = raw.count(separator.encode()) == (table.width - 1) * (table.height + 1)
        return table.select(columns) if full and raw.count(b"\n") == table.height else None
    # A short row looks like one with empty cells at its end.
    if table[names[-1]].null_count():
        return None
    # Polars ignores an extra empty cell after a stray quote. All separators are between cells or inside one.
    inside = sum(table.select(pl.all().str.count_matches(separator, literal=True).sum()).row(0))
    inside += sum(name.count(separator) for name in names)
    full = raw.count(separator.encode()) == (table.width - 1) * (table.height + 1) + inside
    return table.select(columns) if full else None


def _fast_objects(raw: bytes, columns: Sequence[str]) -> pl.DataFrame | None:
    if b"\\u" in raw or b"\0" in raw:
        return None
    table = pl.read_ndjson(io.BytesIO(raw.removeprefix(codecs.BOM_UTF8)), infer_schema_length=None)
    for name in columns:
        if table.schema[name] not in _READY_TYPES or (table.schema[name] == pl.String and b"[" in raw):
            return None
        if raw.count(json.dumps(name, ensure_ascii=False).encode()) != table.height:
            return None  # a duplicate or missing key
    return table.select(columns)
