"""One worker's work by day, for their own page."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from chorale.store.schema import participation, response

DAY_MS = 86_400_000


class DayOfWork(NamedTuple):
    """A worker's answers in a stage on a day, of all kinds together."""

    stage_id: int
    day: int
    """Days since 1 January 1970, UTC."""
    answers: int
    worked_ms: int


def days_of_work(tx: Connection, worker_id: int) -> list[DayOfWork]:
    """Every day on which a worker answered, by stage, the newest first."""
    day = (response.c.submitted_at // DAY_MS).label("day")
    query = (
        select(response.c.stage_id, day, func.count(), func.sum(response.c.duration_ms))
        .where(response.c.worker_id == worker_id)
        .group_by(response.c.stage_id, day)
        .order_by(day.desc(), response.c.stage_id)
    )
    return [DayOfWork(*(int(value) for value in row)) for row in tx.execute(query)]


def graded_answers(tx: Connection, worker_id: int) -> dict[int, tuple[int, int]]:
    """Numbers of graded and of correct answers, by stage."""
    query = select(participation.c.stage_id, participation.c.gold_answered, participation.c.gold_right)
    rows = tx.execute(query.where(participation.c.worker_id == worker_id))
    return {int(stage_id): (int(answered), int(right)) for stage_id, answered, right in rows}
