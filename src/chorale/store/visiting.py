"""The data of a worker's overview page, in two statements, since it is opened often."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, Text, bindparam, cast, exists, literal_column, select

from chorale.store.credentials import CREDENTIALS, Credentials, as_credentials, listed, names_in
from chorale.store.prepared import Prepared
from chorale.store.schema import WANTING, assignment, item, participation, stage, verdict, worker


class StageProgress(NamedTuple):
    """A worker's progress in a stage they have entered."""

    standing: str
    answered: int
    earned: int
    removed_after: int = 0


class WorkerView(NamedTuple):
    """A worker's current state: stages by id, gates by name."""

    credentials: Credentials
    consent_version: int | None
    """The latest version of the consent form they agreed to."""
    paused: frozenset[int]
    wanting: frozenset[int]
    """Stages that need judgments, assigned or not."""
    holding: frozenset[int]
    """Stages in which the worker holds an item."""
    decided_by: frozenset[str]
    """The gates that have decided about the worker."""
    progress: Mapping[int, StageProgress]
    """Progress in the stages they have entered."""


_STAGE_IDS = select(listed(cast(stage.c.id, Text)))
_WORKER = Prepared(
    select(
        *CREDENTIALS,
        worker.c.consent_version,
        _STAGE_IDS.where(stage.c.state == literal_column("'paused'")).scalar_subquery(),
        _STAGE_IDS.where(exists().where(item.c.stage_id == stage.c.id, item.c.state.in_(WANTING))).scalar_subquery(),
        select(listed(cast(assignment.c.stage_id, Text)))
        .where(assignment.c.worker_id == worker.c.id, assignment.c.state == literal_column("'live'"))
        .scalar_subquery(),
        select(listed(verdict.c.gate)).where(verdict.c.worker_id == worker.c.id).scalar_subquery(),
    ).where(worker.c.id == bindparam("worker_id"))
)
_PROGRESS = Prepared(
    select(*participation.c["stage_id", "standing", "answered", "earned", "removed_after"]).where(
        participation.c.worker_id == bindparam("worker_id")
    )
)


def worker_view(tx: Connection, worker_id: int) -> WorkerView:
    """A worker's view; an empty one if there is no such worker."""
    row = _WORKER.first(tx, worker_id=worker_id) or (None,) * 9
    return WorkerView(
        as_credentials(*row[:4]),
        row[4],
        _numbers(row[5]),
        _numbers(row[6]),
        _numbers(row[7]),
        names_in(row[8]),
        {each[0]: StageProgress._make(each[1:]) for each in _PROGRESS.all(tx, worker_id=worker_id)},
    )


@lru_cache(maxsize=1024)
def _numbers(text: str | None) -> frozenset[int]:
    return frozenset(map(int, text.split(","))) if text else frozenset()
