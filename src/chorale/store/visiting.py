"""What a worker's start page rests on: asked for in two statements, since people look at it often."""

from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, Text, bindparam, cast, exists, literal_column, select

from chorale.store.papers import PAPERS, Papers, as_papers, listed, names_in
from chorale.store.prepared import Prepared
from chorale.store.schema import assignment, item, participation, stage, verdict, worker


class Situation(NamedTuple):
    """A worker's papers, stages by their ids, and gates by their names."""

    papers: Papers
    paused: frozenset[int]
    wanting: frozenset[int]
    """Those that want judgments, be they leased out or not."""
    held_in: frozenset[int]
    """Those in which the worker holds an item."""
    decided_by: frozenset[str]
    """The gates that have decided about the worker."""


class Attended(NamedTuple):
    """How a worker stands in a stage they have entered."""

    stage_id: int
    standing: str
    answered: int
    earned: int


_STAGE_IDS = select(listed(cast(stage.c.id, Text)))
_SITUATION = Prepared(
    select(
        *PAPERS,
        _STAGE_IDS.where(stage.c.state == literal_column("'paused'")).scalar_subquery(),
        _STAGE_IDS.where(
            exists().where(item.c.stage_id == stage.c.id, item.c.state == literal_column("'open'"))
        ).scalar_subquery(),
        select(listed(cast(assignment.c.stage_id, Text)))
        .where(assignment.c.worker_id == worker.c.id, assignment.c.state == literal_column("'live'"))
        .scalar_subquery(),
        select(listed(verdict.c.gate)).where(verdict.c.worker_id == worker.c.id).scalar_subquery(),
    ).where(worker.c.id == bindparam("worker_id"))
)


def situation(tx: Connection, worker_id: int) -> Situation:
    """How things are for a worker; for nobody in particular if there is no such worker."""
    row = _SITUATION.first(tx, {"worker_id": worker_id}) or (None,) * 8
    return Situation(as_papers(*row[:4]), _numbers(row[4]), _numbers(row[5]), _numbers(row[6]), names_in(row[7]))


_ATTENDED = Prepared(
    select(participation.c.stage_id, participation.c.standing, participation.c.answered, participation.c.earned).where(
        participation.c.worker_id == bindparam("worker_id")
    )
)


def attended(tx: Connection, worker_id: int) -> dict[int, Attended]:
    """The stages a worker has entered, by their ids."""
    return {row[0]: Attended._make(row) for row in _ATTENDED.all(tx, {"worker_id": worker_id})}


@lru_cache(maxsize=1024)
def _numbers(text: str | None) -> frozenset[int]:
    return frozenset(map(int, text.split(","))) if text else frozenset()
