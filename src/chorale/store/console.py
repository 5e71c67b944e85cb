"""Queries of the console: few rows at a time, found by an index, however large the study."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, literal_column, or_, select

from chorale.store.codec import from_text
from chorale.store.schema import (
    entry,
    event,
    gold,
    grade,
    item,
    participation,
    qualification,
    response,
    stage,
    verdict,
    worker,
)
from chorale.store.workers import models


def has_entry(tx: Connection, cause: str) -> bool:
    return tx.execute(select(entry.c.id).where(entry.c.cause == cause)).first() is not None


def take_qualification(tx: Connection, worker_id: int, name: str) -> int | None:
    """Revoke a qualification; returns since when they had it, or None if they did not."""
    query = delete(qualification).where(qualification.c.worker_id == worker_id, qualification.c.name == name)
    return tx.execute(query.returning(qualification.c.granted_at)).scalar()


def qualifications_of(tx: Connection, worker_id: int) -> list[tuple[str, int]]:
    """A worker's qualifications with the times they were granted, oldest first."""
    query = select(qualification.c.name, qualification.c.granted_at).where(qualification.c.worker_id == worker_id)
    rows = tx.execute(query.order_by(qualification.c.granted_at, qualification.c.name))
    return [(str(name), int(at)) for name, at in rows]


def answered_since(tx: Connection, worker_id: int, most: int) -> int:
    """The id of the response before a worker's `most` latest ones; 0 if there is none."""
    query = select(response.c.id).where(response.c.worker_id == worker_id).order_by(response.c.id.desc())
    return int(tx.execute(query.offset(most).limit(1)).scalar() or 0)


def usual_durations(tx: Connection, worker_id: int) -> dict[str, int]:
    """The mean duration of others' answers in a worker's stages, in milliseconds."""
    mine = select(participation.c.stage_id).where(participation.c.worker_id == worker_id)
    query = (
        select(stage.c.name, func.sum(participation.c.worked_ms), func.sum(participation.c.answered))
        .join(stage, stage.c.id == participation.c.stage_id)
        .where(participation.c.worker_id != worker_id, participation.c.stage_id.in_(mine))
        .group_by(stage.c.name)
    )
    return {str(name): round(int(worked) / int(answered)) for name, worked, answered in tx.execute(query) if answered}


def bonuses(tx: Connection) -> int:
    """The sum of all bonuses."""
    query = select(func.coalesce(func.sum(entry.c.amount), 0)).where(entry.c.kind == literal_column("'bonus'"))
    return int(tx.execute(query).scalar_one())


@dataclass(frozen=True, slots=True)
class WorkDone:
    """One worker's work in one stage. It has few columns, since a large study has many such rows."""

    stage_id: int
    worker_id: int
    worker: str
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    worked_ms: int


_WORKED: Select[Any] = select(
    participation.c.stage_id,
    participation.c.worker_id,
    worker.c.pseudonym,
    *participation.c["standing", "answered", "gold_answered", "gold_right", "gold_recent", "earned", "worked_ms"],
).join(worker, worker.c.id == participation.c.worker_id)


def worked(tx: Connection) -> list[WorkDone]:
    """All workers with any work, by stage; without models."""
    did = or_(participation.c.answered > 0, participation.c.worked_ms > 0)
    return [WorkDone(*row) for row in tx.execute(_WORKED.where(did, participation.c.worker_id.not_in(models())))]


def idle_since(tx: Connection, stage_id: int) -> int | None:
    """The time of a stage's latest answer; without answers, the time when its first items were derived.

    If its items come from a file, it is the time of the study's first answer.
    """
    answers = select(response.c.submitted_at).limit(1)
    made = select(event.c.at).where(event.c.kind == "derived", event.c.stage_id == stage_id).limit(1)
    for query in (
        answers.where(response.c.stage_id == stage_id).order_by(response.c.id.desc()),
        made.order_by(event.c.id),
        answers.order_by(response.c.id),
    ):
        at: int | None = tx.execute(query).scalar()
        if at is not None:
            return at
    return None


def labels_over_time(tx: Connection, parts: int, most_labels: int) -> list[list[tuple[int, int, dict[str, Any]]]]:
    """A sample of labels from each period of the log: time, stage and evidence. Reading all would take too long."""
    ends = select(func.min(event.c.id), func.max(event.c.id)).where(event.c.kind == "labelled")
    first, last = tx.execute(ends).one()
    if first is None:
        return []
    step = max(1, -(-(last - first + 1) // parts))
    parts_read = []
    for start in range(first, last + 1, step):
        query = (
            select(event.c.at, event.c.stage_id, event.c.evidence)
            .where(event.c.kind == "labelled", event.c.id >= start, event.c.id < start + step)
            .order_by(event.c.id)
            .limit(most_labels)
        )
        rows = [(int(at), int(stage_id), from_text(evidence)) for at, stage_id, evidence in tx.execute(query)]
        if rows:
            parts_read.append(rows)
    return parts_read


@dataclass(frozen=True, slots=True)
class GoldMet:
    """Workers' recent results on one gold item."""

    stage_id: int
    key: str
    answered: int
    right: int


def gold_met(tx: Connection, latest: int, lowest_correct: Mapping[int, float]) -> list[GoldMet]:
    """Workers' latest results on gold in use, by item. An answer that was graded again counts with its newest grade.

    `lowest_correct` is the minimum score of a correct answer, by stage.
    """
    grades = (
        select(grade.c.response_id, grade.c.score)
        .where(or_(grade.c.source == "gold", grade.c.source.like("gold:%")))
        .order_by(grade.c.id.desc())
        .limit(latest)
    )
    scores: dict[int, float] = {}
    for response_id, score in tx.execute(grades):
        scores.setdefault(response_id, score)
    # By id: with a join to the grades, PostgreSQL would scan all answers to all gold.
    query = (
        select(response.c.id, item.c.stage_id, item.c.key)
        .join(item, item.c.id == response.c.item_id)
        .join(gold, and_(gold.c.item_id == item.c.id, gold.c.active))
        .where(response.c.id.in_(scores), response.c.kind == "gold")
    )
    answered, right = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for response_id, stage_id, key in tx.execute(query):
        answered[int(stage_id), str(key)] += 1
        right[int(stage_id), str(key)] += scores[response_id] >= lowest_correct.get(stage_id, 1.0)
    return [GoldMet(*where, count, right[where]) for where, count in sorted(answered.items())]


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """A worker removed from a stage, with the reason."""

    stage: str
    worker: str
    at: int
    evidence: dict[str, Any]


def dropped(tx: Connection, most: int) -> list[DroppedRow]:
    """Removed workers, latest first, without reinstated ones."""
    out = and_(
        participation.c.stage_id == event.c.stage_id,
        participation.c.worker_id == event.c.worker_id,
        participation.c.standing == literal_column("'dropped'"),
    )
    query = (
        select(stage.c.name, worker.c.pseudonym, event.c.at, event.c.evidence)
        .select_from(event)
        .join(participation, out)
        .join(stage, stage.c.id == event.c.stage_id)
        .join(worker, worker.c.id == event.c.worker_id)
        .where(event.c.kind == "dropped")
        .order_by(event.c.id.desc())
        .limit(most)
    )
    dropped_now: dict[tuple[str, str], DroppedRow] = {}
    for name, who, at, evidence in tx.execute(query):
        # A worker who was removed again has an event for each removal.
        dropped_now.setdefault((name, who), DroppedRow(name, who, at, from_text(evidence)))
    return list(dropped_now.values())


def passed_gates(tx: Connection) -> dict[str, int]:
    """Number of workers who passed, by gate."""
    query = select(verdict.c.gate, func.count()).where(verdict.c.passed).group_by(verdict.c.gate)
    return {str(name): int(count) for name, count in tx.execute(query)}


def open_items(tx: Connection, answered_by: int | None = None) -> dict[int, int]:
    """Number of items that need judgments, by stage: all, or those with at least one."""
    query = select(item.c.stage_id, func.count()).where(item.c.state == literal_column("'open'"))
    if answered_by is not None:
        query = query.join(response, response.c.item_id == item.c.id).where(response.c.worker_id == answered_by)
    return {int(row[0]): int(row[1]) for row in tx.execute(query.group_by(item.c.stage_id))}
