"""Graded answers, which gates use."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, bindparam, func, literal_column, select

from chorale.model import Grade, GradedAnswer
from chorale.store.codec import as_ordered_text, as_text, from_text, frozen_from_text
from chorale.store.prepared import Prepared, PreparedInsert, Scope
from chorale.store.schema import gold, grade, item, participation, response, stage, worker

_GOLD: ColumnElement[str] = literal_column("'gold'")


@cache
def _graded_answers(stages: int, of_one: bool) -> Prepared:
    """The query for this number of stages; usually one."""
    newer = grade.alias("newer")
    latest = (
        select(func.max(newer.c.id)).where(newer.c.response_id == response.c.id).correlate(response).scalar_subquery()
    )
    query: Select[Any] = (
        select(
            response.c.worker_id,
            worker.c.pseudonym,
            response.c.id,
            response.c.stage_id,
            grade.c.score,
            grade.c.reasons,
            response.c.answer,
            item.c.payload,
            grade.c.criteria,
            grade.c.id,
            gold.c.answer,
        )
        .join(grade, grade.c.response_id == response.c.id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(item, item.c.id == response.c.item_id)
        .outerjoin(gold, gold.c.item_id == item.c.id)
        .where(_among(response.c.stage_id, stages), response.c.kind != _GOLD, grade.c.id == latest)
        .order_by(response.c.id)
    )
    return Prepared(query.where(response.c.worker_id == bindparam("worker_id")) if of_one else query)


def _among(column: Column[int], count: int) -> ColumnElement[bool]:
    return column.in_([bindparam(f"stage_{number}", type_=column.type) for number in range(count)])


def _named(stage_ids: Collection[int], worker_id: int | None) -> dict[str, int]:
    named = {f"stage_{number}": stage_id for number, stage_id in enumerate(stage_ids)}
    return named if worker_id is None else {**named, "worker_id": worker_id}


def graded_answers(tx: Connection, stage_ids: Collection[int], worker_id: int | None = None) -> list[GradedAnswer]:
    """Graded answers of some stages, by one worker or all, each with its latest grade.

    Gold in production is left out: results from these grades are shown, and would reveal gold.
    """
    query = _graded_answers(len(stage_ids), worker_id is not None)
    return [
        GradedAnswer(
            worker_id=row[0],
            worker=row[1],
            response_id=row[2],
            stage_id=row[3],
            score=row[4],
            reasons=tuple(from_text(row[5])),
            answer=frozen_from_text(row[6]),
            payload=frozen_from_text(row[7]),
            criteria=from_text(row[8] or "{}"),
            grade_id=row[9],
            expert=None if row[10] is None else frozen_from_text(row[10]),
        )
        for row in query.all(tx, **_named(stage_ids, worker_id))
    ]


def all_grades(tx: Connection, item_id: int | None = None) -> list[Grade]:
    """All grades, including replaced ones, of one item or all, oldest first."""
    query: Select[Any] = (
        select(
            grade.c.id,
            grade.c.response_id,
            worker.c.pseudonym,
            stage.c.name,
            response.c.kind,
            *grade.c["source", "score", "reasons", "criteria", "graded_at"],
        )
        .join(response, response.c.id == grade.c.response_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(stage, stage.c.id == response.c.stage_id)
        .order_by(grade.c.id)
    )
    if item_id is not None:
        query = query.where(response.c.item_id == item_id)
    return [
        Grade(*(*plain, tuple(from_text(reasons)), None if criteria is None else from_text(criteria), graded_at))
        for *plain, reasons, criteria, graded_at in tx.execute(query)
    ]


@dataclass(frozen=True, slots=True)
class Graded:
    """A response with its current grade."""

    worker_id: int
    stage_id: int
    times: int
    """Number of grades."""


_GRADED = Prepared(
    select(
        response.c.worker_id,
        response.c.stage_id,
        select(func.count()).select_from(grade).where(grade.c.response_id == response.c.id).scalar_subquery(),
    ).where(response.c.id == bindparam("response_id"))
)


def grades_of(tx: Connection, response_id: int) -> Graded:
    row = _GRADED.first(tx, response_id=response_id)
    if row is None:
        raise RuntimeError(f"there is no response {response_id}")
    return Graded(*row)


def latest_by(tx: Connection, response_id: int, stage_name: str) -> float | None:
    """The score of the latest grade that a stage gave a response; None if it gave none."""
    by_stage = grade.c.source.startswith(f"{stage_name}#", autoescape=True)
    query = select(grade.c.score).where(grade.c.response_id == response_id, by_stage).order_by(grade.c.id.desc())
    return tx.execute(query.limit(1)).scalar()


@cache
def _answered_by(stages: int, of_one: bool) -> Prepared:
    gold_answers = (
        select(func.count())
        .select_from(response)
        .where(
            response.c.worker_id == participation.c.worker_id,
            response.c.stage_id == participation.c.stage_id,
            response.c.kind == _GOLD,
        )
        .scalar_subquery()
    )
    query = select(participation.c.worker_id, participation.c.stage_id, participation.c.answered - gold_answers).where(
        _among(participation.c.stage_id, stages), participation.c.standing == literal_column("'active'")
    )
    return Prepared(query.where(participation.c.worker_id == bindparam("worker_id")) if of_one else query)


def answered_by(tx: Connection, stage_ids: Collection[int], worker_id: int | None = None) -> dict[int, dict[int, int]]:
    """Numbers of answers by active workers, by worker and stage; gold in production is left out."""
    counts: dict[int, dict[int, int]] = defaultdict(dict)
    query = _answered_by(len(stage_ids), worker_id is not None)
    for answerer_id, stage_id, answered in query.all(tx, **_named(stage_ids, worker_id)):
        counts[answerer_id][stage_id] = answered
    return counts


def active_in(tx: Connection, stage_id: int, answered: int) -> dict[str, int]:
    """Active workers with a minimum number of answers in a stage: ids by pseudonym."""
    query = (
        select(worker.c.pseudonym, worker.c.id)
        .join(participation, participation.c.worker_id == worker.c.id)
        .where(
            participation.c.stage_id == stage_id,
            participation.c.standing == literal_column("'active'"),
            participation.c.answered >= answered,
        )
    )
    return {str(row[0]): int(row[1]) for row in tx.execute(query)}


_INSERT_GRADE = PreparedInsert(
    grade, "response_id", "source", "score", "reasons", "criteria", "graded_at", scope=Scope()
)


def add_grade(
    tx: Connection,
    response_id: int,
    source: str,
    score: float,
    reasons: Sequence[str],
    now: int,
    criteria: Mapping[str, float] | None = None,
) -> None:
    _INSERT_GRADE(
        tx,
        response_id=response_id,
        source=source,
        score=score,
        reasons=as_text(list(reasons)),
        # In the order of the rubric.
        criteria=None if criteria is None else as_ordered_text(dict(criteria)),
        graded_at=now,
    )
