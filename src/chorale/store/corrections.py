"""Gold that was corrected: what it was before, and everything that was decided by it."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, ScalarSelect, func, or_, select, update

from chorale.model import EntryKind, Standing
from chorale.store.schema import entry, event, gold, grade, item, participation, response, stage, worker

KIND = "corrected gold"
FIRST_GRADE = "gold"
LATER_GRADES = "gold:"
"""Names of stages have no colon: no grade by people is called so."""


def latest_gold_grade() -> ScalarSelect[int]:
    """The grade a response has by gold as it is now; to be used where `response` is."""
    newer = grade.alias("newer")
    return (
        select(func.max(newer.c.id))
        .where(
            newer.c.response_id == response.c.id,
            or_(newer.c.source == FIRST_GRADE, newer.c.source.like(f"{LATER_GRADES}%")),
        )
        .correlate(response)
        .scalar_subquery()
    )


def is_by_gold(source: str) -> bool:
    """Whether a grade of that source was given by gold."""
    return source == FIRST_GRADE or source.startswith(LATER_GRADES)


@dataclass(frozen=True, slots=True)
class Correction:
    id: int
    at: int
    stage: str
    item_id: int
    key: str
    before: Any
    after: Any


def corrections(tx: Connection, stage_name: str | None = None) -> list[Correction]:
    """Every correction there was, the oldest first."""
    query = (
        select(event.c.id, event.c.at, stage.c.name, event.c.item_id, item.c.key, event.c.evidence)
        .join(stage, stage.c.id == event.c.stage_id)
        .join(item, item.c.id == event.c.item_id)
        .where(event.c.kind == KIND)
        .order_by(event.c.id)
    )
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    found = []
    for number, at, name, item_id, key, evidence in tx.execute(query):
        told = json.loads(evidence)
        before, after = json.loads(told["before"]), json.loads(told["answer"])
        found.append(Correction(number, at, name, item_id, key, before, after))
    return found


def set_gold(tx: Connection, item_id: int, answer: str, explanation: str) -> None:
    tx.execute(update(gold).where(gold.c.item_id == item_id).values(answer=answer, explanation=explanation))


@dataclass(frozen=True, slots=True)
class GradedByGold:
    """An answer to gold, with what gold says now."""

    response_id: int
    worker_id: int
    worker: str
    item_id: int
    kind: str
    answer: Any
    gold: Any
    submitted_at: int
    times: int
    """How often it was graded by gold."""


def graded_by_gold(
    tx: Connection, stage_id: int, *, item_id: int | None = None, worker_id: int | None = None
) -> list[GradedByGold]:
    """Answers to an item, or of a worker in a stage, that gold grades; in the order they came."""
    times = (
        select(func.count())
        .select_from(grade)
        .where(
            grade.c.response_id == response.c.id,
            or_(grade.c.source == FIRST_GRADE, grade.c.source.like(f"{LATER_GRADES}%")),
        )
        .correlate(response)
        .scalar_subquery()
    )
    query = (
        select(
            response.c.id,
            response.c.worker_id,
            worker.c.pseudonym,
            response.c.item_id,
            response.c.kind,
            response.c.answer,
            gold.c.answer,
            response.c.submitted_at,
            times,
        )
        .join(gold, gold.c.item_id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(response.c.stage_id == stage_id, response.c.kind != "production")
        .order_by(response.c.id)
    )
    if item_id is not None:
        query = query.where(response.c.item_id == item_id)
    if worker_id is not None:
        query = query.where(response.c.worker_id == worker_id)
    return [GradedByGold(*row[:5], json.loads(row[5]), json.loads(row[6]), *row[7:]) for row in tx.execute(query)]


def set_record(tx: Connection, stage_id: int, worker_id: int, right: int, recent: str, standing: Standing) -> None:
    """Put down a worker's gold record as it is by corrected gold; their labels are to be looked at again."""
    tx.execute(
        update(participation)
        .where(participation.c.stage_id == stage_id, participation.c.worker_id == worker_id)
        .values(gold_right=right, gold_recent=recent, standing=standing.value, changes=participation.c.changes + 1)
    )


def paid_for_gold(tx: Connection, stage_id: int, worker_id: int) -> int:
    """What a worker got in a stage for being right about gold, corrections included."""
    query = select(func.coalesce(func.sum(entry.c.amount), 0)).where(
        entry.c.worker_id == worker_id,
        entry.c.stage_id == stage_id,
        entry.c.kind == EntryKind.BONUS,
        or_(entry.c.cause.like("response:%:gold"), entry.c.cause.like("correction:%")),
    )
    return int(tx.execute(query).scalar_one())
