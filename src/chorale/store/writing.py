"""Statistics of how answers were written, counted by pages."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from chorale.store.database import STREAMED
from chorale.store.model_schema import writing
from chorale.store.prepared import PreparedInsert
from chorale.store.schema import item, response, stage, worker

_NAMES = ("characters", "pasted", "typing_ms", "rhythm", "left", "away_ms")
_INSERT = PreparedInsert(writing, "response_id", *_NAMES)


class WritingNumbers(NamedTuple):
    """How an answer was written."""

    characters: int
    """Number of characters of free text."""
    pasted: float
    """Fraction of entered characters that were pasted."""
    typing_ms: int
    """Typing time, without pauses over two seconds."""
    rhythm: float | None
    """Coefficient of variation of the times between changes; None with few changes."""
    left: int
    """How often the page was left before the answer was submitted."""
    away_ms: int


def add(tx: Connection, response_id: int, numbers: WritingNumbers) -> None:
    """Store how an answer was written."""
    _INSERT(tx, response_id=response_id, **numbers._asdict())


class WrittenRow(NamedTuple):
    """An answer and how it was written."""

    response_id: int
    stage: str
    item: str
    worker: str
    answer: str
    numbers: WritingNumbers


def written(tx: Connection) -> Iterator[WrittenRow]:
    """All answers with writing statistics, streamed."""
    query = (
        select(response.c.id, stage.c.name, item.c.key, worker.c.pseudonym, response.c.answer, *writing.c[_NAMES])
        .join(writing, writing.c.response_id == response.c.id)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(item, item.c.id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(response.c.erased_at.is_(None))
        .order_by(response.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        number, stage_name, key, who, answer, *numbers = row
        yield WrittenRow(number, stage_name, key, who, answer, WritingNumbers(*numbers))


def any_written(tx: Connection) -> bool:
    """Whether any answer has writing statistics."""
    return tx.execute(select(writing.c.response_id).limit(1)).first() is not None


def written_by(tx: Connection, worker_id: int) -> dict[int, WritingNumbers]:
    """The writing statistics of a worker's answers, by response."""
    query = (
        select(writing.c.response_id, *writing.c[_NAMES])
        .join(response, response.c.id == writing.c.response_id)
        .where(response.c.worker_id == worker_id)
        .order_by(writing.c.response_id)
    )
    return {int(row[0]): WritingNumbers(*row[1:]) for row in tx.execute(query)}


def erase(tx: Connection, worker_id: int) -> None:
    """Erase the writing statistics of a worker's answers."""
    own = select(response.c.id).where(response.c.worker_id == worker_id)
    tx.execute(delete(writing).where(writing.c.response_id.in_(own)))
