"""Export tables of a task, and the data they are made from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from chorale.model import Judgment, SourceItem


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of random orders on a worker's page, which stay the same when the worker returns."""

    worker: str
    """For choices that are the same for all items of a worker in the stage."""
    item: str
    """For choices that differ for each item."""

    @classmethod
    def of(cls, study_seed: int, stage: str, worker: str, item: str) -> "Seeds":
        """The seeds for a worker (pseudonym) and an item (key). Exports have both, so orders can be reproduced."""
        return cls(
            *(sha256(f"{study_seed}:{stage}:{part}".encode()).hexdigest() for part in (worker, f"{worker}:{item}"))
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an item that was made from a worker's answer."""

    worker: str
    arm: str | None
    stage: str
    item: str
    """The key of the item they answered."""


def no_arm(_worker: str) -> str | None:
    """The default of `StageResults.arm`: a study without arms."""
    return None


def no_time(_worker: str) -> float | None:
    """The default of `StageResults.seconds`: not measured."""
    return None


def no_origin(_item: SourceItem) -> Origin | None:
    """The default of `StageResults.origin`: items come from a file."""
    return None


@dataclass(frozen=True, slots=True)
class StageResults:
    """The data of a stage for its task's exports."""

    items: Iterable[SourceItem]
    sources: Iterable[SourceItem] | None
    """The items of the stage it was derived from; None if its items come from a file."""
    confidence: float
    """The confidence that results of that stage had to reach."""
    options: BaseModel
    judgments: Callable[[SourceItem], Sequence[Judgment]]
    """The counted answers to an item, with their workers' current trust."""
    seeds: Callable[[str, str], Seeds | None]
    """The seeds for a worker (pseudonym) and an item (key); None for imported answers, which were given elsewhere."""
    origin: Callable[[SourceItem], Origin | None] = no_origin
    """The answer that an item was made from; None if it was not made from a single answer."""
    arm: Callable[[str], str | None] = no_arm
    """The arm of a worker (pseudonym)."""
    seconds: Callable[[str], float | None] = no_time
    """The mean time per answer of a worker (pseudonym)."""


@dataclass(frozen=True, slots=True)
class RowMeasure:
    """A number per row of a table, by which arms can be compared."""

    name: str
    """Its name in `[analysis]`."""
    words: str
    """A short description."""
    value: Callable[[Mapping[str, Any]], float | None]
    """Takes a row. Returns its number, or None if the row has none."""


@dataclass(frozen=True, slots=True)
class RowMeasures:
    """The measures of a table that can be compared between arms."""

    arm: str
    """The column with the arm of the worker that a row is about."""
    worker: str
    """The column with that worker."""
    item: str
    """The column with the item."""
    measures: tuple[RowMeasure, ...]


@dataclass(frozen=True, slots=True)
class TaskExport:
    """A table that only this kind of work has."""

    name: str
    summary: str
    file_name: str
    """Its extension (.csv, .tsv or .jsonl) sets the format.

    With .zip, every row becomes a file; the columns are then `file` and `content`.
    """
    columns: tuple[str, ...]
    rows: Callable[[StageResults], Iterator[Mapping[str, Any]]]
    tally: Callable[[StageResults], Mapping[str, int]] | None = None
    """Counts by outcome, for rows that the table leaves out."""
    released: tuple[str, str] | None = None
    """The tally's outcome that counts as a result, and its name: `("kept", "kept question")`.

    The cost per result is then the cost of one of these. Default: a result is the accepted label of an item.
    """
    by_arm: RowMeasures | None = None
    """Measures of its rows that can be compared between arms. Default: none."""
    more_columns: Callable[[StageResults], Sequence[str]] | None = None
    """Additional last columns that depend on the study, such as extra columns of its items."""
    describes: Mapping[str, str] = field(default_factory=dict)
    """The content of columns in one sentence each, for data cards. Columns of every study (`worker`) need none."""
