"""Suggestions of models shown to workers."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    exists,
    literal_column,
    select,
    update,
)

from chorale.store.corrections import latest_gold_grade
from chorale.store.database import STREAMED
from chorale.store.model_schema import model_task, suggestion
from chorale.store.prepared import Prepared, PreparedInsert, Scope
from chorale.store.schema import assignment, gold, grade, item, response, stage, worker

_INSERT = PreparedInsert(suggestion, "assignment_id", "task_id", "answer", "wrong_on_purpose", "at")
_HELD = Prepared(
    select(assignment.c.id, assignment.c.item_id, assignment.c.kind, suggestion.c.answer)
    .outerjoin(suggestion, suggestion.c.assignment_id == assignment.c.id)
    .where(assignment.c.token == bindparam("token"))
)


def _answers_to(item_id: ColumnElement[int]) -> Select[Any]:
    """The answer of the model with the bound pseudonym to an item."""
    return (
        select(model_task.c.id, model_task.c.answer)
        .join(worker, worker.c.id == model_task.c.worker_id)
        .where(
            model_task.c.item_id == item_id,
            worker.c.pseudonym == bindparam("model"),
            model_task.c.state == literal_column("'answered'"),
        )
    )


_ANSWERED = Prepared(_answers_to(bindparam("item_id", type_=Integer)), Scope())


def has_answer(item_id: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition: the model with the pseudonym bound as `model` has answered an item."""
    return _answers_to(item_id).exists()


def was_shown(item_id: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition: an item was shown with a suggestion."""
    return exists().where(assignment.c.item_id == item_id, suggestion.c.assignment_id == assignment.c.id)


class Held(NamedTuple):
    """An assignment to show a suggestion for."""

    assignment_id: int
    item_id: int
    kind: str
    suggestion: str | None
    """The existing suggestion, if any."""


def held(tx: Connection, token: str) -> Held:
    """The assignment with this token."""
    return Held._make(_HELD.first(tx, token=token))


def model_answer(tx: Connection, item_id: int, model: str) -> tuple[int, str] | None:
    """The answer of the model with this pseudonym to an item, with the task's number; None if there is none."""
    row = _ANSWERED.first(tx, item_id=item_id, model=model)
    return None if row is None else (int(row[0]), str(row[1]))


def add(tx: Connection, assignment_id: int, task_id: int, answer: str, now: int, *, wrong_on_purpose: bool) -> None:
    """Store a suggestion shown to a worker."""
    _INSERT(tx, assignment_id=assignment_id, task_id=task_id, answer=answer, wrong_on_purpose=wrong_on_purpose, at=now)


def erase(tx: Connection, worker_id: int) -> None:
    """Erase suggestions to a worker whose answers are erased, since the answers may repeat the suggestions."""
    own = select(assignment.c.id).where(assignment.c.worker_id == worker_id)
    tx.execute(update(suggestion).where(suggestion.c.assignment_id.in_(own)).values(answer="null"))


class SuggestedRow(NamedTuple):
    """An answer, and the suggestion that its worker saw or could have seen."""

    response_id: int
    stage: str
    item: str
    worker: str
    arm: str | None
    kind: str
    answer: str
    duration_ms: int
    score: float | None
    """The gold score."""
    gold: str | None
    suggestion: str | None
    wrong_on_purpose: bool | None
    at: int | None
    model_answer: str | None
    model: str | None


def answers_with_suggestions(tx: Connection, stage_id: int, model: str) -> Iterator[SuggestedRow]:
    """People's answers in a stage, with the suggestion and the answer of the model with this pseudonym."""
    who = worker.alias("who")
    query = (
        select(
            response.c.id,
            stage.c.name,
            item.c.key,
            worker.c.pseudonym,
            worker.c.arm,
            *response.c["kind", "answer", "duration_ms"],
            grade.c.score,
            gold.c.answer,
            *suggestion.c["answer", "wrong_on_purpose", "at"],
            model_task.c.answer,
            who.c.pseudonym,
        )
        .select_from(response)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(item, item.c.id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .outerjoin(grade, grade.c.id == latest_gold_grade())
        .outerjoin(gold, (gold.c.item_id == item.c.id) & (response.c.kind != "production"))
        .outerjoin(suggestion, suggestion.c.assignment_id == response.c.assignment_id)
        .outerjoin(who, who.c.pseudonym == model)
        .outerjoin(model_task, (model_task.c.item_id == item.c.id) & (model_task.c.worker_id == who.c.id))
        .where(
            response.c.stage_id == stage_id,
            response.c.erased_at.is_(None),
            worker.c.pseudonym.not_like("model:%"),
        )
        .order_by(response.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield SuggestedRow._make(row)
