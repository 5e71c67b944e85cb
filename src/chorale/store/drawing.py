"""Answers from which a later stage samples some per worker."""

from sqlalchemy import Connection, bindparam, literal_column, select

from chorale.store.prepared import NONE, ONE, Prepared
from chorale.store.schema import assignment, item, participation, response

_ACTIVE = Prepared(
    select(participation.c.worker_id).where(
        participation.c.stage_id == bindparam("stage_id"),
        participation.c.standing == literal_column("'active'"),
        participation.c.answered >= bindparam("at_least"),
    )
)
_GIVEN = Prepared(
    select(response.c.id, response.c.item_id)
    .where(
        response.c.stage_id == bindparam("stage_id"),
        response.c.worker_id == bindparam("worker_id"),
        response.c.kind == literal_column("'production'"),
    )
    .order_by(response.c.id)
)
_AT_WORK = Prepared(
    select(assignment.c.worker_id).where(
        assignment.c.stage_id == bindparam("stage_id"), assignment.c.state == literal_column("'live'")
    )
)
_DRAWN = (
    select(response.c.worker_id)
    .join(item, item.c.response_id == response.c.id)
    .where(item.c.stage_id == bindparam("later_id"), response.c.stage_id == bindparam("stage_id"))
)
_DRAWN_FROM = Prepared(_DRAWN.distinct())
_DRAWN_FROM_ONE = Prepared(_DRAWN.where(response.c.worker_id == bindparam("worker_id")).limit(ONE).offset(NONE))


def people_to_draw_from(tx: Connection, later_id: int, stage_id: int, at_least: int = 1) -> list[int]:
    """Workers with enough answers in a stage, not sampled for the later stage yet, who hold no item."""
    candidates = set(_ACTIVE.column(tx, stage_id=stage_id, at_least=at_least))
    if not candidates:
        return []
    settled = set(_DRAWN_FROM.column(tx, later_id=later_id, stage_id=stage_id))
    settled.update(_AT_WORK.column(tx, stage_id=stage_id))
    return sorted(candidates - settled)


def answers_given(tx: Connection, stage_id: int, worker_id: int) -> dict[int, int]:
    """A worker's production responses in a stage with their items, in the order of submission."""
    return {row[0]: row[1] for row in _GIVEN.all(tx, stage_id=stage_id, worker_id=worker_id)}


def is_drawn_from(tx: Connection, later_id: int, stage_id: int, worker_id: int) -> bool:
    """Whether a later stage has an item made from a worker's answer in a stage."""
    of = {"later_id": later_id, "stage_id": stage_id, "worker_id": worker_id}
    return _DRAWN_FROM_ONE.first(tx, **of) is not None
