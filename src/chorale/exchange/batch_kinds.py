"""Files of finished work for one kind of task, recognised by their columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorale.files.batch_files import BatchFile
from chorale.lazy import load
from chorale.model import Answer
from chorale.registry import blaming, installed


@dataclass(frozen=True)
class BatchKind:
    """How a file becomes a stage of a specific task instead of a form."""

    task: str
    settings: str
    """Settings of the stage, as TOML."""
    options: str
    """Settings of the stage's options, as TOML."""
    item_columns: frozenset[str]
    """The item columns of such a file, without the platform's prefix."""
    answer_column: str
    item: Callable[[Mapping[str, str]], Mapping[str, Any]]
    """Takes the cells of an item by column. Returns a row of the items file, without `id`.

    Raises ValueError if they are invalid.
    """
    answer: Callable[[Mapping[str, Any]], Answer]
    """Takes the submitted values, by field title. Returns an answer."""
    source: Path | None = None
    """The file to name as the origin, if its rows were converted to another file first."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Judgments that were left out when the rows were converted, by reason."""
    notes: tuple[str, ...] = ()
    """Notes on the conversion."""

    def fits(self, batch: BatchFile) -> bool:
        titles = {field.title for field in batch.fields}
        return self.item_columns <= set(batch.columns) and self.answer_column in titles

    def answer_of(self, titles: Sequence[str], given: Sequence[Any]) -> Answer:
        return self.answer({title: value for title, value in zip(titles, given, strict=True) if value})


def batch_kind_of(batch: BatchFile) -> BatchKind | None:
    """The kind of a file, from installed kits; None if no kit recognises it."""
    for kit in installed().kits.values():
        for place in kit.batch_kinds:
            with blaming(f"part {place} of the kit `{kit.name}`"):
                kind: BatchKind = load(place)
                if kind.fits(batch):
                    return kind
    return None
