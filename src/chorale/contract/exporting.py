"""Export tables of a task, and the data they are made from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from chorale.model import Judgment, SourceItem


@dataclass(frozen=True, slots=True)
class Seeds:
    """The source of the random order on a worker's page, which stays the same when they return."""

    worker: str
    """For what stays the same for everything a worker does in the stage."""
    item: str
    """For what is another for each item."""

    @classmethod
    def of(cls, study_seed: int, stage: str, worker: str, item: str) -> "Seeds":
        """Those of a worker (their pseudonym) at an item (its key). Exports have both, so orders can be repeated."""
        return cls(
            *(sha256(f"{study_seed}:{stage}:{part}".encode()).hexdigest() for part in (worker, f"{worker}:{item}"))
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item that was made from somebody's answer comes from."""

    worker: str
    arm: str | None
    stage: str
    item: str
    """The key of what they answered."""


def no_arm(_worker: str) -> str | None:
    """The plain case of `StageResults.arm`: a study without arms."""
    return None


def no_time(_worker: str) -> float | None:
    """The plain case of `StageResults.seconds`: nobody has measured it."""
    return None


def no_origin(_item: SourceItem) -> Origin | None:
    """The plain case of `StageResults.origin`: items come from a file."""
    return None


@dataclass(frozen=True, slots=True)
class StageResults:
    """A stage as its task's own exports see it."""

    items: Iterable[SourceItem]
    sources: Iterable[SourceItem] | None
    """The items of the stage it was derived from; None if its items come from a file."""
    confidence: float
    """What a result of that stage had to reach."""
    options: BaseModel
    judgments: Callable[[SourceItem], Sequence[Judgment]]
    """The counted answers to one of the items, with their workers' present trust."""
    seeds: Callable[[str, str], Seeds]
    """Those a worker (their pseudonym) had at an item (its key)."""
    origin: Callable[[SourceItem], Origin | None] = no_origin
    """Whose answer one of the items was made from; None if it was made from no single one."""
    arm: Callable[[str], str | None] = no_arm
    """The arm a worker (their pseudonym) is in."""
    seconds: Callable[[str], float | None] = no_time
    """How long an answer here took a worker (their pseudonym) on average."""


@dataclass(frozen=True, slots=True)
class RowMeasure:
    """A number of every row of a table, by which arms can be compared."""

    name: str
    """What `[analysis]` calls it."""
    words: str
    """What it is, in a few words."""
    value: Callable[[Mapping[str, Any]], float | None]
    """From a row to its number, or None where the row says nothing of it."""


@dataclass(frozen=True, slots=True)
class RowMeasures:
    """What of a table can be compared between arms."""

    arm: str
    """The column with the arm of the worker that a row is about."""
    worker: str
    """The column with that worker."""
    item: str
    """The column with what they worked on."""
    measures: tuple[RowMeasure, ...]


@dataclass(frozen=True, slots=True)
class TaskExport:
    """A table that only this kind of work has."""

    name: str
    summary: str
    file_name: str
    """Its ending (.csv, .tsv or .jsonl) says how it is written; .zip makes a file of every row, whose columns are then
    `file` and `content`."""
    columns: tuple[str, ...]
    rows: Callable[[StageResults], Iterator[Mapping[str, Any]]]
    tally: Callable[[StageResults], Mapping[str, int]] | None = None
    """How many came to which end, for what the table leaves out."""
    released: tuple[str, str] | None = None
    """The outcome in the tally that the study is for, and what one of them is called: `("kept", "kept question")`. The
    cost of a result is then the cost of one of these. Default: a result is the accepted label of an item."""
    by_arm: RowMeasures | None = None
    """What of its rows can be compared between arms. Default: nothing."""
    more_columns: Callable[[StageResults], Sequence[str]] | None = None
    """Columns behind the others that depend on the study, such as what its items have beside what the task needs."""
