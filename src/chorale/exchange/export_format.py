"""A table that a study can be exported as."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorale.engine.running import Study
from chorale.files.tables import TableRow
from chorale.store import Tx

Rows = Callable[[Tx, Study], Iterator[Mapping[str, Any]]]
Writer = Callable[[Sequence[str], Iterable[TableRow], Path], None]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    summary: str
    file_name: str
    """The file's default name."""
    columns: tuple[str, ...]
    rows: Rows
    write: Writer
    more_columns: Callable[[Tx, Study], Sequence[str]] | None = None
    """Additional last columns that depend on the study."""
    describes: Mapping[str, str] = field(default_factory=dict)
    """The content of columns, one sentence each."""
    kit: str | None = None
    """The kit that it comes from, set by Chorale."""
