"""Responses: adding them, and reading them with their details, streamed if there may be many."""

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, func, literal_column, not_, or_, select

from chorale.model import Assignment, ItemState, Response, Standing
from chorale.store.codec import from_text, frozen_from_text, kept_from_text
from chorale.store.corrections import latest_gold_grade
from chorale.store.database import STREAMED
from chorale.store.prepared import NumberingInsert, Prepared, Scope
from chorale.store.schema import assignment, gold, grade, item, participation, response, stage, worker

_PRODUCTION: ColumnElement[str] = literal_column("'production'")
_IS_THERE = response.c.erased_at.is_(None)

_INSERT_RESPONSE = NumberingInsert(
    response,
    *("assignment_id", "stage_id", "item_id", "worker_id", "kind", "answer", "task_version", "submitted_at"),
    *("duration_ms", "idempotency_key"),
    scope=Scope(worker="worker_id", item="item_id"),
)


def add_response(
    tx: Connection, row: Assignment, answer: str, task_version: int, now: int, duration_ms: int, idempotency_key: str
) -> int:
    return _INSERT_RESPONSE.number(
        tx,
        assignment_id=row.id,
        stage_id=row.stage_id,
        item_id=row.item_id,
        worker_id=row.worker_id,
        kind=row.kind,
        answer=answer,
        task_version=task_version,
        submitted_at=now,
        duration_ms=duration_ms,
        idempotency_key=idempotency_key,
    )


@dataclass(frozen=True, slots=True)
class EarlierSubmission:
    kind: str
    answer: str
    score: float | None
    explanation: str | None


def response_to(tx: Connection, assignment_id: int) -> EarlierSubmission | None:
    """The response to an assignment, with its gold grade if it has one."""
    query = (
        select(response.c.kind, response.c.answer, grade.c.score, gold.c.explanation)
        .select_from(response)
        .outerjoin(grade, grade.c.id == latest_gold_grade())
        .outerjoin(gold, gold.c.item_id == response.c.item_id)
        .where(response.c.assignment_id == assignment_id)
    )
    row = tx.execute(query).first()
    return None if row is None else EarlierSubmission(*row)


def answers_given(tx: Connection, response_ids: Collection[int]) -> dict[int, Any]:
    """Some answers by response, in the given order; None for erased ones."""
    query = select(response.c.id, response.c.answer).where(response.c.id.in_(response_ids)).order_by(response.c.id)
    return {int(number): frozen_from_text(text) for number, text in tx.execute(query)}


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
        _IS_THERE,
    )
    .order_by(response.c.id)
)


def answers_after(tx: Connection, stage_id: int, after: int) -> list[GivenAnswer]:
    """The production answers of a stage after a response, counted or not."""
    rows = _ANSWERS_AFTER.all(tx, stage_id=stage_id, after=after)
    return [
        GivenAnswer(response_id, key, name, worker_id, from_text(answer))
        for response_id, key, name, worker_id, answer in rows
    ]


def accepted_at(tx: Connection, stage_id: int) -> dict[int, int]:
    """Assignment times of a stage's answered items, by response."""
    query = (
        select(response.c.id, assignment.c.leased_at)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .where(response.c.stage_id == stage_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}


_RESPONSE_FIELDS: tuple[Any, ...] = (
    response.c.id,
    stage.c.name.label("stage"),
    stage.c.task,
    response.c.task_version,
    item.c.key,
    item.c.group_key,
    worker.c.pseudonym,
    *response.c["kind", "answer", "submitted_at", "duration_ms"],
    participation.c.standing,
    gold.c.answer.label("gold_answer"),
    grade.c.score,
    item.c.id.label("item_id"),
    *item.c["payload", "state", "label", "confidence", "released"],
)


def _responses(*fields: Any) -> Select[Any]:
    return (
        select(*fields)
        .select_from(response)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(item, item.c.id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(
            participation,
            and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id),
        )
        .outerjoin(gold, and_(gold.c.item_id == response.c.item_id, response.c.kind != "production"))
        .outerjoin(grade, grade.c.id == case((response.c.kind != "production", latest_gold_grade())))
        .order_by(response.c.id)
    )


_RESPONSES = _responses(*_RESPONSE_FIELDS)
_WITHOUT_PAYLOADS = _responses(*(field for field in _RESPONSE_FIELDS if field is not item.c.payload))


class _Shared:
    """Parses JSON, with a cache for short texts and for the label of an item."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._labels: dict[int | str, Any] = {}

    def parsed(self, text: str) -> Any:
        if text in self._known:
            return self._known[text]
        value = kept_from_text(text)
        if len(text) <= _SHORT and len(self._known) < _MOST_SHARED:
            self._known[text] = value
        return value

    def label(self, item: int | str, text: str) -> Any:
        if item not in self._labels:
            self._labels[item] = self.parsed(text)
        return self._labels[item]


_SHORT, _MOST_SHARED = 200, 10_000

RESPONSE_COLUMNS = tuple(column.name for column in _RESPONSES.selected_columns)


def response_batches(tx: Connection, size: int) -> Iterator[Sequence[Sequence[Any]]]:
    """All responses in the order of submission, as raw rows in batches: see RESPONSE_COLUMNS."""
    yield from tx.execute(_RESPONSES.where(_IS_THERE), execution_options={"yield_per": size}).partitions()


def answered_before(tx: Connection, worker_id: int, at: int) -> dict[int, int]:
    """The number of a worker's answers before a time, by stage."""
    query = (
        select(response.c.stage_id, func.count())
        .where(response.c.worker_id == worker_id, response.c.submitted_at < at)
        .group_by(response.c.stage_id)
    )
    return {int(stage_id): int(count) for stage_id, count in tx.execute(query)}


def count_responses(tx: Connection) -> int:
    return tx.execute(select(func.count()).select_from(response).where(_IS_THERE)).scalar_one()


_ACTIVE = Standing.ACTIVE.value


def all_responses(
    tx: Connection,
    *,
    stage_name: str | None = None,
    pseudonym: str | None = None,
    item_ids: Collection[int] | None = None,
    after: int = 0,
    by_item: bool = False,
    to_keep: bool = False,
    erased: bool = False,
) -> Iterator[Response]:
    """Responses in the order of submission, streamed: all, or those after one of them.

    `by_item` groups them by item. `erased` includes responses without an answer. `to_keep` is for keeping all of them
    in memory: without items' content, and with shared equal values.
    """
    query = _WITHOUT_PAYLOADS if to_keep else _RESPONSES
    shared = _Shared()
    named, parsed = (sys.intern, shared.parsed) if to_keep else (str, from_text)
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    if item_ids is not None:
        query = query.where(response.c.item_id.in_(item_ids))
    if after:
        query = query.where(response.c.id > after)
    if not erased:
        query = query.where(_IS_THERE)
    if by_item:
        query = query.order_by(None).order_by(response.c.item_id, response.c.id)
    for row in tx.execute(query, execution_options=STREAMED):
        # By index: access by name is slower, and there may be millions.
        number, name, task, version, key, group, who, kind, answer, at, took, standing, expected, score, *of_item = row
        if to_keep:
            of_item.insert(1, "")
        item_id, payload, state, label, confidence, released = of_item
        yield Response(
            id=number,
            stage=named(name),
            task=named(task),
            task_version=version,
            item=named(key),
            group=named(group),
            worker=named(who),
            kind=named(kind),
            answer=parsed(answer),
            submitted_at=at,
            duration_ms=took,
            counts=kind == "production" and standing == _ACTIVE,
            gold_answer=None if expected is None else parsed(expected),
            gold_score=score,
            item_id=item_id,
            item_payload=payload,
            item_state=named(state),
            item_label=None if label is None else shared.label(item_id, label) if to_keep else from_text(label),
            item_confidence=confidence,
            item_released=bool(released),
        )


class CountedAnswer(NamedTuple):
    """A counted answer in compact form: there may be millions."""

    item: str
    worker: str
    answer: Any
    item_label: Any


_COUNTS = and_(
    response.c.kind == "production", participation.c.standing == Standing.ACTIVE, item.c.state != ItemState.WITHDRAWN
)


def counted_responses(tx: Connection, stage_name: str) -> Iterator[CountedAnswer]:
    """The counted answers of a stage, streamed in the order of submission, with shared equal values."""
    shared = _Shared()
    query = _of_items(item.c.key, worker.c.pseudonym, response.c.answer, item.c.label)
    query = query.join(worker, worker.c.id == response.c.worker_id).where(stage.c.name == stage_name, _COUNTS)
    for key, who, answer, label in tx.execute(query.order_by(response.c.id), execution_options=STREAMED):
        of_item = None if label is None else shared.label(key, label)
        yield CountedAnswer(sys.intern(key), sys.intern(who), shared.parsed(answer), of_item)


def gold_responses(tx: Connection, stage_name: str) -> Iterator[tuple[str, Any, Any]]:
    """Workers, their answers to gold in a stage, and the gold, streamed in the order of submission."""
    parsed = _Shared().parsed
    query = _of_items(worker.c.pseudonym, response.c.answer, gold.c.answer)
    query = query.join(worker, worker.c.id == response.c.worker_id).join(gold, gold.c.item_id == response.c.item_id)
    query = query.where(stage.c.name == stage_name, response.c.kind != "production", _IS_THERE)
    for who, answer, expected in tx.execute(query.order_by(response.c.id), execution_options=STREAMED):
        yield sys.intern(who), parsed(answer), parsed(expected)


def count_counted(tx: Connection) -> dict[str, int]:
    """The number of counted answers, by stage."""
    query = _of_items(stage.c.name, func.count()).where(_COUNTS).group_by(stage.c.name)
    return {str(name): int(count) for name, count in tx.execute(query)}


def counted_ids(tx: Connection) -> dict[str, list[int]]:
    """The ids of counted answers, by stage."""
    ids: dict[str, list[int]] = defaultdict(list)
    query = _of_items(stage.c.name, response.c.id).where(_COUNTS).order_by(response.c.id)
    for name, number in tx.execute(query, execution_options=STREAMED):
        ids[name].append(number)
    return dict(ids)


def not_counted(tx: Connection) -> set[int]:
    """The ids of paid answers that do not count: their worker was removed, or their item withdrawn."""
    query = _of_items(response.c.id).where(response.c.kind == "production", not_(_COUNTS))
    return set(tx.execute(query, execution_options=STREAMED).scalars())


class ImpossibleDuration(NamedTuple):
    """A response whose duration exceeds the time its worker held the item."""

    id: int
    stage: str
    worker: str
    duration_ms: int
    held_ms: int
    """Time from assignment to submission."""


def impossible_durations(tx: Connection) -> list[ImpossibleDuration]:
    """Responses whose duration is negative, or longer than the time between assignment and submission."""
    held = response.c.submitted_at - assignment.c.leased_at
    # If the clock was set back, an assignment can end before it started; then no work is possible.
    possible = case((held > 0, held), else_=0)
    query = (
        select(response.c.id, stage.c.name, worker.c.pseudonym, response.c.duration_ms, possible)
        .select_from(response)
        .join(assignment, assignment.c.id == response.c.assignment_id)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(or_(response.c.duration_ms < 0, response.c.duration_ms > possible))
        .order_by(response.c.id)
    )
    return [ImpossibleDuration(*row) for row in tx.execute(query)]


def _of_items(*fields: Any) -> Select[Any]:
    """A query of responses with their stage, item and whether their worker is active."""
    in_stage = and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id)
    return (
        select(*fields)
        .select_from(response)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(item, item.c.id == response.c.item_id)
        .join(participation, in_stage)
    )
