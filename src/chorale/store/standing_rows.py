"""How workers stand in the stages: what they answered, how gold found it, what they earned."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, select

from chorale.store.schema import participation, stage, worker


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """A worker in a stage."""

    stage: str
    worker: str
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    fees: int
    worked_ms: int
    entered_at: int


def worker_standings(
    tx: Connection, *, stage_name: str | None = None, pseudonym: str | None = None
) -> list[WorkerStanding]:
    query: Select[Any] = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            participation.c.standing,
            participation.c.answered,
            participation.c.gold_answered,
            participation.c.gold_right,
            participation.c.gold_recent,
            participation.c.earned,
            participation.c.fees,
            participation.c.worked_ms,
            participation.c.entered_at,
        )
        .join(stage, stage.c.id == participation.c.stage_id)
        .join(worker, worker.c.id == participation.c.worker_id)
        .order_by(stage.c.position, participation.c.entered_at, worker.c.pseudonym)
    )
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    return [WorkerStanding(*row) for row in tx.execute(query)]
