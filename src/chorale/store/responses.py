"""Answers: taking them, grading them by gold, and counting them as judgments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, literal_column, select

from chorale.model import GoldRecord, GoldSettings, Judgment
from chorale.protocol import trust
from chorale.store.codec import answer_from_text, as_ordered_text, as_text, from_text
from chorale.store.corrections import latest_gold_grade
from chorale.store.leasing import AssignmentRow
from chorale.store.prepared import Prepared, prepared_insert, prepared_numbering
from chorale.store.schema import assignment, gold, grade, item, participation, response, worker

_PRODUCTION: ColumnElement[str] = literal_column("'production'")

_INSERT_RESPONSE = prepared_numbering(
    response,
    "assignment_id",
    "stage_id",
    "item_id",
    "worker_id",
    "kind",
    "answer",
    "task_version",
    "submitted_at",
    "duration_ms",
    "idempotency_key",
)


def add_response(
    tx: Connection,
    row: AssignmentRow,
    answer: str,
    task_version: int,
    now: int,
    duration_ms: int,
    idempotency_key: str,
) -> int:
    return _INSERT_RESPONSE.number(
        tx,
        {
            "assignment_id": row.id,
            "stage_id": row.stage_id,
            "item_id": row.item_id,
            "worker_id": row.worker_id,
            "kind": row.kind,
            "answer": answer,
            "task_version": task_version,
            "submitted_at": now,
            "duration_ms": duration_ms,
            "idempotency_key": idempotency_key,
        },
    )


@dataclass(frozen=True, slots=True)
class GivenResponse:
    id: int
    kind: str
    answer: str
    idempotency_key: str
    score: float | None
    explanation: str | None


def response_to(tx: Connection, assignment_id: int) -> GivenResponse | None:
    """What was submitted for an assignment, with its gold grade if it has one."""
    row = tx.execute(
        select(
            response.c.id,
            response.c.kind,
            response.c.answer,
            response.c.idempotency_key,
            grade.c.score,
            gold.c.explanation,
        )
        .select_from(response)
        .outerjoin(grade, grade.c.id == latest_gold_grade())
        .outerjoin(gold, gold.c.item_id == response.c.item_id)
        .where(response.c.assignment_id == assignment_id)
    ).first()
    return None if row is None else GivenResponse(*row)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    answer: str
    explanation: str


_GOLD_ANSWER = select(gold.c.answer, gold.c.explanation).where(gold.c.item_id == bindparam("item_id"))
_READ_GOLD = Prepared(_GOLD_ANSWER)
# Nobody corrects it before the transaction that grades by it is over: then the answer is there to be graded again.
_HOLD_GOLD = Prepared(_GOLD_ANSWER.with_for_update(read=True))


def gold_answer(tx: Connection, item_id: int, *, to_grade: bool = False) -> GoldAnswer | None:
    row = (_HOLD_GOLD if to_grade else _READ_GOLD).first(tx, {"item_id": item_id})
    return None if row is None else GoldAnswer(*row)


_INSERT_GRADE = prepared_insert(grade, "response_id", "source", "score", "reasons", "criteria", "graded_at")


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
        {
            "response_id": response_id,
            "source": source,
            "score": score,
            "reasons": as_text(list(reasons)),
            # In the order of the rubric.
            "criteria": None if criteria is None else as_ordered_text(dict(criteria)),
            "graded_at": now,
        },
    )


_JUDGMENTS = Prepared(
    select(
        worker.c.pseudonym,
        response.c.answer,
        participation.c.gold_right,
        participation.c.gold_answered,
        participation.c.gold_recent,
        response.c.id,
    )
    .select_from(response)
    .join(worker, worker.c.id == response.c.worker_id)
    .join(
        participation,
        and_(
            participation.c.stage_id == response.c.stage_id,
            participation.c.worker_id == response.c.worker_id,
        ),
    )
    .where(
        response.c.item_id == bindparam("item_id"),
        response.c.kind == _PRODUCTION,
        participation.c.standing == literal_column("'active'"),
    )
)


class GivenAnswer(NamedTuple):
    """A production answer of a stage."""

    response: int
    item: str
    worker: str
    worker_id: int
    answer: Any


_ANSWERS_AFTER = Prepared(
    select(response.c.id, item.c.key, worker.c.pseudonym, response.c.worker_id, response.c.answer)
    .select_from(response)
    .join(item, item.c.id == response.c.item_id)
    .join(worker, worker.c.id == response.c.worker_id)
    .where(
        response.c.stage_id == bindparam("stage_id"),
        response.c.id > bindparam("after"),
        response.c.kind == _PRODUCTION,
    )
    .order_by(response.c.id)
)


def answers_after(tx: Connection, stage_id: int, after: int) -> list[GivenAnswer]:
    """The production answers of a stage that came after a response, whether they count or not."""
    rows = _ANSWERS_AFTER.all(tx, {"stage_id": stage_id, "after": after})
    return [
        GivenAnswer(response_id, key, name, worker_id, from_text(answer))
        for response_id, key, name, worker_id, answer in rows
    ]


def judgments_of(tx: Connection, item_id: int, rule: GoldSettings | None) -> tuple[Judgment, ...]:
    """The counted judgments of an item, each with its worker's present trust by the stage's rule."""
    rows = _JUDGMENTS.all(tx, {"item_id": item_id})
    if rule is None:
        # Without gold everybody is trusted alike.
        whole = trust(GoldRecord(), None)
        return tuple([Judgment(row[0], answer_from_text(row[1]), whole, row[5]) for row in rows])
    trusted = _trusted_by(rule)
    return tuple(
        [
            Judgment(name, answer_from_text(answer), trusted(right, answered, recent), response_id)
            for name, answer, right, answered, recent, response_id in rows
        ]
    )


@lru_cache(maxsize=64)
def _trusted_by(rule: GoldSettings) -> Callable[[int, int, str], float]:
    """Trust by a rule, given a gold record. Remembered, since many have the same, and each is asked for again."""
    return lru_cache(maxsize=4096)(lambda right, answered, recent: trust(GoldRecord(right, answered, recent), rule))


def accepted_at(tx: Connection, stage_id: int) -> dict[int, int]:
    """When the items that were answered in a stage were given out, by response."""
    query = (
        select(response.c.id, assignment.c.leased_at)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .where(response.c.stage_id == stage_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}
