"""Recounts what workers were shown: items, skips and gold."""

from typing import NamedTuple

from sqlalchemy import Connection, and_, case, func, select

from chorale.model import AssignmentKind, AssignmentState
from chorale.store.schema import assignment, gold, item, participation, stage, worker


class ShownToWorker(NamedTuple):
    stage: str
    worker: str
    served: int
    skipped: int
    given_out: int
    """Number of items assigned to them in the stage."""
    returned: int
    """Number of items they returned unanswered or let expire."""


def shown_to_workers(tx: Connection) -> list[ShownToWorker]:
    """The stored number of items shown to each worker in a stage, and the recounted one."""
    of = and_(assignment.c.stage_id == participation.c.stage_id, assignment.c.worker_id == participation.c.worker_id)
    unanswered = (AssignmentState.RETURNED, AssignmentState.EXPIRED)
    returned = case((assignment.c.state.in_(unanswered), 1), else_=0)
    query = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            participation.c.served,
            participation.c.skipped,
            func.count(assignment.c.id),
            func.coalesce(func.sum(returned), 0),
        )
        .select_from(participation)
        .join(stage, stage.c.id == participation.c.stage_id)
        .join(worker, worker.c.id == participation.c.worker_id)
        .outerjoin(assignment, of)
        .group_by(stage.c.name, worker.c.pseudonym, participation.c.served, participation.c.skipped)
        .order_by(stage.c.name, worker.c.pseudonym)
    )
    return [ShownToWorker._make(row) for row in tx.execute(query)]


class ShownGold(NamedTuple):
    stage: str
    item: str
    taken: int
    """Workers who got it in its current turn."""
    turns: int
    """Number of earlier turns."""
    shown: int
    """Number of workers who answered or hold it."""


def shown_gold(tx: Connection) -> list[ShownGold]:
    """The stored number of times that gold was shown, and the recounted one."""
    of = and_(
        assignment.c.item_id == gold.c.item_id,
        assignment.c.kind == AssignmentKind.GOLD,
        assignment.c.state.in_((AssignmentState.LIVE, AssignmentState.SUBMITTED)),
    )
    query = (
        select(stage.c.name, item.c.key, gold.c.taken, gold.c.turns, func.count(assignment.c.id))
        .select_from(gold)
        .join(item, item.c.id == gold.c.item_id)
        .join(stage, stage.c.id == gold.c.stage_id)
        .outerjoin(assignment, of)
        .group_by(stage.c.name, item.c.key, gold.c.taken, gold.c.turns)
        .order_by(stage.c.name, item.c.key)
    )
    return [ShownGold._make(row) for row in tx.execute(query)]
