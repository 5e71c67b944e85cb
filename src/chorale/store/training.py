"""Remaining work after a training round, and workers in training."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, exists, func, or_, select

from chorale.model import Standing
from chorale.store.offering import OFFERED
from chorale.store.schema import assignment, item, participation, qualification, verdict, worker

PLENTY = 1_000
"""Counting stops at this number of free items: there is enough work for everybody."""


class Left(NamedTuple):
    places: int
    most_on_one: int
    people: int
    """Number of workers with answers in the stage."""
    answers: int


def left_in(tx: Connection, stage_id: int) -> Left | None:
    """The open items of a stage and its workers; None if there are plenty."""
    room = select(item.c.wanted - item.c.taken).where(item.c.stage_id == stage_id, OFFERED).limit(PLENTY)
    rooms = list(tx.execute(room).scalars())
    if len(rooms) >= PLENTY:
        return None
    given = participation.c.answered - participation.c.gold_answered
    people, answers = tx.execute(
        select(func.count(), func.sum(given)).where(participation.c.stage_id == stage_id, given > 0)
    ).one()
    return Left(sum(rooms), max(rooms, default=0), int(people), int(answers or 0))


def _was_given_work(of: ColumnElement[int], stage_ids: Sequence[int], since: int) -> ColumnElement[bool]:
    return exists().where(
        assignment.c.worker_id == of, assignment.c.stage_id.in_(stage_ids), assignment.c.leased_at > since
    )


def in_training(
    tx: Connection, rounds: Sequence[int], gates: Sequence[str], given: Sequence[str], since: int, arm: str | None
) -> int:
    """Number of workers in these rounds, active since a time, who have neither failed nor got the gates'
    qualifications.
    """
    worker_id = participation.c.worker_id
    query = select(func.count(worker_id.distinct())).where(
        participation.c.stage_id.in_(rounds),
        participation.c.standing == Standing.ACTIVE,
        ~exists().where(verdict.c.worker_id == worker_id, verdict.c.gate.in_(gates), ~verdict.c.passed),
        ~exists().where(qualification.c.worker_id == worker_id, qualification.c.name.in_(given)),
        or_(participation.c.entered_at > since, _was_given_work(worker_id, rounds, since)),
    )
    return int(tx.execute(_of_arm(query, worker_id, arm)).scalar_one())


def able_to_work(
    tx: Connection, given: Sequence[str], work: Sequence[tuple[int, int | None]], since: int, arm: str | None
) -> int:
    """Number of qualified workers, active since a time, who could get an item now.

    `work` has the stages by id, each with the maximum number of answers per worker.
    """
    worker_id, stage_ids = qualification.c.worker_id, [stage_id for stage_id, _ in work]
    query = select(func.count(worker_id.distinct())).where(
        qualification.c.name.in_(given),
        or_(qualification.c.granted_at > since, _was_given_work(worker_id, stage_ids, since)),
        or_(*(_could_work(worker_id, stage_id, most) for stage_id, most in work)),
    )
    return int(tx.execute(_of_arm(query, worker_id, arm)).scalar_one())


def _could_work(worker_id: ColumnElement[int], stage_id: int, most: int | None) -> ColumnElement[bool]:
    out = participation.c.standing == Standing.DROPPED
    ended = exists().where(
        participation.c.worker_id == worker_id,
        participation.c.stage_id == stage_id,
        out if most is None else or_(out, participation.c.answered >= most),
    )
    seen = exists().where(
        assignment.c.worker_id == worker_id,
        assignment.c.stage_id == stage_id,
        assignment.c.group_key == item.c.group_key,
    )
    return ~ended & exists().where(item.c.stage_id == stage_id, OFFERED, ~seen)


def _of_arm(query: Select[Any], worker_id: ColumnElement[int], arm: str | None) -> Select[Any]:
    """The query, limited to workers in this arm or not in an arm yet; unchanged if `arm` is None."""
    if arm is None:
        return query
    return query.where(exists().where(worker.c.id == worker_id, or_(worker.c.arm.is_(None), worker.c.arm == arm)))
