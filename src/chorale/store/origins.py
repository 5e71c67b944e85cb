"""The origins of items that were made from a single answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select

from chorale.store.database import STREAMED
from chorale.store.schema import item, response, stage, worker


@dataclass(frozen=True, slots=True)
class OriginRow:
    """The worker and answer that an item was made from."""

    item_id: int
    worker: str
    arm: str | None
    stage: str
    item: str


def origins(tx: Connection, stage_name: str) -> Iterator[OriginRow]:
    """Worker, stage and source item of every item of a stage that was made from a single answer."""
    made, its_stage = item.alias("made"), stage.alias("its_stage")
    query = (
        select(made.c.id, worker.c.pseudonym, worker.c.arm, stage.c.name, item.c.key)
        .select_from(made)
        .join(its_stage, its_stage.c.id == made.c.stage_id)
        .join(response, response.c.id == made.c.response_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(item, item.c.id == response.c.item_id)
        .join(stage, stage.c.id == response.c.stage_id)
        .where(its_stage.c.name == stage_name)
        .order_by(made.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield OriginRow(*row)
