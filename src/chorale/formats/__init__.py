"""Readers and writers of files. Nothing here knows what a study is."""

from chorale.formats.rows import Row, is_table, read_rows, shortened
from chorale.formats.tables import (
    escape_cell,
    replacing,
    unescape_cell,
    write_csv,
    write_jsonl,
    write_parquet,
    write_tsv,
)
from chorale.formats.toml_lines import line_of

__all__ = [
    "Row",
    "escape_cell",
    "is_table",
    "line_of",
    "read_rows",
    "replacing",
    "shortened",
    "unescape_cell",
    "write_csv",
    "write_jsonl",
    "write_parquet",
    "write_tsv",
]
