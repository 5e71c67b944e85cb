"""Data to detect overused gold, and workers who skip too much or act together."""

from typing import NamedTuple

from sqlalchemy import Connection, case, exists, func, literal_column, select

from chorale.model import AssignmentState, ItemState
from chorale.protocol.suspicion import Given
from chorale.store.schema import assignment, gold, item, participation, response, worker
from chorale.store.workers import models


class GoldTurns(NamedTuple):
    gold: int
    """Number of gold items in use."""
    turns: int
    """Number of turns that every gold item has had. In a turn, the usual number of workers get a gold item."""


def gold_turns(tx: Connection) -> dict[int, GoldTurns]:
    """Completed turns of gold, by stage id."""
    query = select(gold.c.stage_id, func.count(), func.min(gold.c.turns)).where(gold.c.active).group_by(gold.c.stage_id)
    return {int(stage_id): GoldTurns(int(count), int(turns)) for stage_id, count, turns in tx.execute(query)}


class Habits(NamedTuple):
    """A worker's behaviour in a stage."""

    stage_id: int
    worker: str
    answered: int
    skipped: int
    """Items they skipped, returned or let expire."""
    gold_right: int
    gold_answered: int
    gold_recent: str


def habits(tx: Connection) -> list[Habits]:
    """Answers, items left unanswered, and gold results of all workers, without models."""
    holds = exists().where(
        assignment.c.worker_id == participation.c.worker_id,
        assignment.c.stage_id == participation.c.stage_id,
        assignment.c.state == AssignmentState.LIVE,
    )
    # Imported answers were shown elsewhere, so fewer items than answers may be stored as shown.
    unanswered = participation.c.served - participation.c.answered - case((holds, 1), else_=0)
    query = select(
        participation.c.stage_id,
        worker.c.pseudonym,
        participation.c.answered,
        case((unanswered > participation.c.skipped, unanswered), else_=participation.c.skipped),
        participation.c.gold_right,
        participation.c.gold_answered,
        participation.c.gold_recent,
    ).join(worker, worker.c.id == participation.c.worker_id)
    query = query.where(worker.c.id.not_in(models()))
    return [Habits._make(row) for row in tx.execute(query)]


MOST_ANSWERS = 20_000


def answered_before(tx: Connection, stage_id: int, most: int) -> int:
    """The response after which a stage has at most this number of responses."""
    query = (
        select(response.c.id)
        .where(response.c.stage_id == stage_id)
        .order_by(response.c.id.desc())
        .offset(most)
        .limit(1)
    )
    return tx.execute(query).scalar() or 0


def complete_answers(tx: Connection, stage_id: int) -> list[Given]:
    """The latest answers to complete items of a stage, each with the item's label."""
    query = (
        select(worker.c.pseudonym, response.c.item_id, response.c.answer, item.c.label)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(item, item.c.id == response.c.item_id)
        .where(
            response.c.stage_id == stage_id,
            response.c.kind == literal_column("'production'"),
            item.c.state == ItemState.COMPLETE.value,
            item.c.label.is_not(None),
            worker.c.id.not_in(models()),
        )
        .order_by(response.c.id.desc())
        .limit(MOST_ANSWERS)
    )
    return [Given._make(row) for row in tx.execute(query)]
