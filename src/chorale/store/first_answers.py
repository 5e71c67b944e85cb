"""First answers, given before the rest of an item was shown. They are immutable."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from chorale.model import Answer, Assignment
from chorale.store.codec import frozen_from_text
from chorale.store.prepared import Prepared, PreparedInsert, Scope
from chorale.store.schema import assignment, first_answer, item, response, stage, worker
from chorale.store.settings import setting_value

STORED_AFTER = "first_answers_after"
"""The setting of older studies with the number of the last response before first answers were stored."""

_IMPORTED = "imported-%"
"""The prefix of tokens of imported assignments (`store/staging.py`); other tokens are random."""

_INSERT = PreparedInsert(first_answer, "assignment_id", "answer", "at")
_BY_TOKEN = Prepared(
    select(assignment.c.worker_id, first_answer.c.answer)
    .join(first_answer, first_answer.c.assignment_id == assignment.c.id)
    .where(assignment.c.token == bindparam("token")),
    Scope(worker=0),
)


def add_first_answer(tx: Connection, held: Assignment, answer: str, now: int) -> None:
    """Store a first answer; the database refuses a second one."""
    _INSERT(tx, assignment_id=held.id, answer=answer, at=now)


def first_answer_of(tx: Connection, token: str) -> Answer | None:
    """The first answer to an assignment; None if there is none."""
    row = _BY_TOKEN.first(tx, token=token)
    return None if row is None else frozen_from_text(row[1])


class FirstGiven(NamedTuple):
    """A response of a stage with its first answer."""

    response_id: int
    worker: str
    submitted_at: int
    answer: str
    first: str | None
    at: int | None


def first_given(tx: Connection, stage_id: int) -> Iterator[FirstGiven]:
    """The responses of a stage since first answers have been stored, without erased and imported responses."""
    after = stored_after(tx)
    query = (
        select(
            response.c.id,
            worker.c.pseudonym,
            response.c.submitted_at,
            response.c.answer,
            first_answer.c.answer,
            first_answer.c.at,
        )
        .join(worker, worker.c.id == response.c.worker_id)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .outerjoin(first_answer, first_answer.c.assignment_id == response.c.assignment_id)
        .where(response.c.stage_id == stage_id, response.c.id > after, response.c.erased_at.is_(None))
        .where(assignment.c.token.not_like(_IMPORTED))
        .order_by(response.c.id)
    )
    return map(FirstGiven._make, tx.execute(query))


def imported_answers(tx: Connection, stage_id: int) -> int:
    """Number of imported responses of a stage, whose order of steps is unknown."""
    query = select(func.count()).where(assignment.c.stage_id == stage_id, assignment.c.token.like(_IMPORTED))
    return int(tx.execute(query).scalar_one())


def imported_pairs(tx: Connection, stage_id: int) -> frozenset[tuple[str, str]]:
    """The workers (pseudonyms) and items (keys) of the imported responses of a stage."""
    query = (
        select(worker.c.pseudonym, item.c.key)
        .join_from(assignment, worker, worker.c.id == assignment.c.worker_id)
        .join(item, item.c.id == assignment.c.item_id)
        .where(assignment.c.stage_id == stage_id, assignment.c.token.like(_IMPORTED))
    )
    return frozenset((name, key) for name, key in tx.execute(query))


def stored_after(tx: Connection) -> int:
    """The last response before first answers were stored; 0 in studies that always stored them."""
    return int(setting_value(tx, STORED_AFTER) or 0)


class OwnFirst(NamedTuple):
    """A worker's first answer, for a copy of their data."""

    stage: str
    item: str
    answer: Answer
    at: int


def first_answers_by(tx: Connection, worker_id: int) -> list[OwnFirst]:
    """All first answers of a worker, oldest first."""
    query = (
        select(stage.c.name, item.c.key, first_answer.c.answer, first_answer.c.at)
        .join(assignment, assignment.c.id == first_answer.c.assignment_id)
        .join(item, item.c.id == assignment.c.item_id)
        .join(stage, stage.c.id == assignment.c.stage_id)
        .where(assignment.c.worker_id == worker_id)
        .order_by(first_answer.c.at, assignment.c.id)
    )
    return [OwnFirst(name, key, frozen_from_text(answer), at) for name, key, answer, at in tx.execute(query)]


def erase_first_answers(tx: Connection, worker_id: int) -> None:
    """Erase a worker's first answers, during an erasure."""
    own = select(assignment.c.id).where(assignment.c.worker_id == worker_id)
    tx.execute(update(first_answer).where(first_answer.c.assignment_id.in_(own)).values(answer="null"))
