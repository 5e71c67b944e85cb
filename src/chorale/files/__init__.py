"""Readers and writers of files. Nothing here knows what a study is."""

from chorale.files.rows import Row, is_table, read_rows
from chorale.files.shortening import shortened
from chorale.files.source import Source, digest_of, read_bytes, read_source, refused
from chorale.files.tables import (
    escape_cell,
    replacing,
    unescape_cell,
    write_csv,
    write_jsonl,
    write_parquet,
    write_tsv,
)
from chorale.files.toml_lines import line_of

__all__ = [
    "Row",
    "Source",
    "digest_of",
    "escape_cell",
    "is_table",
    "line_of",
    "read_bytes",
    "read_rows",
    "read_source",
    "refused",
    "replacing",
    "shortened",
    "unescape_cell",
    "write_csv",
    "write_jsonl",
    "write_parquet",
    "write_tsv",
]
