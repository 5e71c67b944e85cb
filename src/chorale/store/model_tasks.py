"""Items assigned to models, and their answers."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    update,
)

from chorale.model import AssignmentKind
from chorale.store.corrections import latest_gold_grade
from chorale.store.database import STREAMED
from chorale.store.model_schema import first_pass, model_task
from chorale.store.prepared import NONE, NumberingInsert, Prepared
from chorale.store.schema import assignment, gold, grade, item, response, stage, worker

BESIDE = "beside"
"""The kind of answers stored separately, which are not judgments."""
FIRST = "first"
"""The kind of answers that are the label if people are not asked."""
SUGGEST = "suggest"
"""The kind of answers that are shown to workers."""
NO_JUDGMENTS = (BESIDE, FIRST, SUGGEST)
"""Kinds of answers that are not responses."""
AT_ONCE = 256
"""Maximum number of items looked up together."""


class TaskState(StrEnum):
    ASKED = "asked"
    ANSWERED = "answered"
    SKIPPED = "skipped"
    FAILED = "failed"
    """The server gave no answer; requested again in another run."""


class TakenItem(NamedTuple):
    """An item for a model."""

    item_id: int
    key: str
    group_key: str
    payload: str
    position: int


class ModelTask(NamedTuple):
    """An item assigned to a model."""

    id: int
    worker_id: int
    stage_id: int
    kind: str
    taken_at: int
    item: TakenItem


_TAKEN = exists().where(model_task.c.worker_id == bindparam("worker_id"), model_task.c.item_id == item.c.id)
_SEEN_GROUP = exists().where(
    assignment.c.worker_id == bindparam("worker_id"),
    assignment.c.stage_id == item.c.stage_id,
    assignment.c.group_key == item.c.group_key,
)
_same_group = item.alias("same_group")
_TAKEN_OF_GROUP = exists().where(
    _same_group.c.stage_id == item.c.stage_id,
    _same_group.c.group_key == item.c.group_key,
    model_task.c.worker_id == bindparam("worker_id"),
    model_task.c.item_id == _same_group.c.id,
)
_COLUMNS = item.c["id", "key", "group_key", "payload", "position"]
_SOME: ColumnElement[int] = literal_column(str(AT_ONCE))


def _after(*conditions: Any) -> Select[Any]:
    return (
        select(*_COLUMNS)
        .where(
            item.c.stage_id == bindparam("stage_id"),
            item.c.position > bindparam("after"),
            item.c.wanted > NONE,
            ~_TAKEN,
            *conditions,
        )
        .order_by(item.c.position)
        .limit(_SOME)
        .offset(NONE)
    )


_ANY_ITEMS = Prepared(_after(item.c.state != literal_column("'withdrawn'")))
_OPEN_ITEMS = Prepared(
    _after(item.c.state == literal_column("'open'"), item.c.taken < item.c.wanted, ~_TAKEN_OF_GROUP, ~_SEEN_GROUP)
)


def next_items(tx: Connection, stage_id: int, worker_id: int, after: int, *, counting: bool) -> list[TakenItem]:
    """Items after a position not yet assigned to a model; with `counting`, only those that need a judgment."""
    query = _OPEN_ITEMS if counting else _ANY_ITEMS
    return [TakenItem._make(row) for row in query.all(tx, stage_id=stage_id, worker_id=worker_id, after=after)]


_GOLD = Prepared(
    select(*_COLUMNS)
    .join(gold, gold.c.item_id == item.c.id)
    .where(gold.c.stage_id == bindparam("stage_id"), gold.c.active, ~_TAKEN, ~_SEEN_GROUP)
    .order_by(gold.c.position)
    .limit(_SOME)
    .offset(NONE)
)


def next_gold(tx: Connection, stage_id: int, worker_id: int) -> list[TakenItem]:
    """Gold not yet assigned to a model."""
    return [TakenItem._make(row) for row in _GOLD.all(tx, stage_id=stage_id, worker_id=worker_id)]


_INSERT = NumberingInsert(
    model_task, "worker_id", "stage_id", "item_id", "kind", "taken_at", state=TaskState.ASKED.value
)


def take(tx: Connection, stage_id: int, worker_id: int, taken: TakenItem, kind: str, now: int) -> ModelTask:
    """Assign an item to a model."""
    number = _INSERT.number(tx, worker_id=worker_id, stage_id=stage_id, item_id=taken.item_id, kind=kind, taken_at=now)
    return ModelTask(number, worker_id, stage_id, kind, now, taken)


_END = Prepared(
    update(model_task)
    .where(model_task.c.id == bindparam("of_task"))
    .values(
        state=bindparam("new_state"),
        ended_at=bindparam("now"),
        answer=bindparam("new_answer"),
        confidence=bindparam("new_confidence"),
        response_id=bindparam("response"),
        kind=bindparam("new_kind"),
    )
)


def end(
    tx: Connection,
    task: ModelTask,
    state: TaskState,
    now: int,
    *,
    answer: str | None = None,
    confidence: float | None = None,
    response_id: int | None = None,
    kind: str | None = None,
) -> None:
    """Record the outcome of an item. `kind`: the kind of the stored answer, if it differs from the requested one."""
    _END(
        tx,
        of_task=task.id,
        new_state=state.value,
        now=now,
        new_answer=answer,
        new_confidence=confidence,
        response=response_id,
        new_kind=kind or task.kind,
    )


def unfinished(tx: Connection, stage_id: int, worker_id: int) -> list[ModelTask]:
    """Unanswered items of an earlier run, in the order they were assigned, without withdrawn ones."""
    query = (
        select(*model_task.c["id", "worker_id", "stage_id", "kind", "taken_at"], *_COLUMNS)
        .join(item, item.c.id == model_task.c.item_id)
        .where(
            model_task.c.stage_id == stage_id,
            model_task.c.worker_id == worker_id,
            model_task.c.state.in_((TaskState.ASKED, TaskState.FAILED)),
            item.c.state != "withdrawn",
        )
        .order_by(model_task.c.id)
    )
    return [ModelTask(row[0], row[1], row[2], row[3], row[4], TakenItem(*row[5:])) for row in tx.execute(query)]


def ask_again(tx: Connection, task_id: int) -> None:
    tx.execute(update(model_task).where(model_task.c.id == task_id).values(state=TaskState.ASKED))


def retry_skipped(tx: Connection, stage_id: int, worker_id: int) -> int:
    """Reopen skipped items of a model that are still undecided; returns how many."""
    decided = exists().where(first_pass.c.item_id == model_task.c.item_id)
    skipped = [model_task.c.stage_id == stage_id, model_task.c.worker_id == worker_id, ~decided]
    query = update(model_task).where(*skipped, model_task.c.state == TaskState.SKIPPED)
    return int(tx.execute(query.values(state=TaskState.FAILED, ended_at=None)).rowcount)


def given(tx: Connection, stage_id: int, worker_id: int) -> int:
    """Number of items assigned to a model in a stage so far."""
    query = select(func.count()).where(model_task.c.stage_id == stage_id, model_task.c.worker_id == worker_id)
    return int(tx.execute(query).scalar_one())


def left(tx: Connection, stage_id: int, worker_id: int, *, counting: bool) -> int:
    """Number of items of a stage that a model could still get, without gold."""
    query = select(func.count()).select_from(item).where(*_wanted(stage_id, counting=counting))
    return int(tx.execute(query, {"worker_id": worker_id}).scalar_one())


def _wanted(stage_id: int, *, counting: bool) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = [item.c.stage_id == stage_id, item.c.wanted > 0, ~_TAKEN]
    if counting:
        return [*wanted, item.c.state == "open", item.c.taken < item.c.wanted]
    return [*wanted, item.c.state != "withdrawn"]


def items_left(tx: Connection, stage_id: int, worker_id: int, *, counting: bool) -> Iterator[TakenItem]:
    """All items of a stage that a model could still get, without gold, streamed."""
    query = select(*_COLUMNS).where(*_wanted(stage_id, counting=counting)).order_by(item.c.position)
    for row in tx.execute(query, {"worker_id": worker_id}, execution_options=STREAMED):
        yield TakenItem._make(row)


class ModelAnswerRow(NamedTuple):
    """A model's answer to an item."""

    stage: str
    item: str
    worker: str
    kind: str
    state: str
    answer: str | None
    confidence: float | None
    payload: str
    ended_at: int | None


def answers(tx: Connection, stage_id: int | None = None) -> Iterator[ModelAnswerRow]:
    """All tasks and answers of models, streamed."""
    query: Select[Any] = (
        select(
            stage.c.name,
            item.c.key,
            worker.c.pseudonym,
            *model_task.c["kind", "state", "answer", "confidence"],
            item.c.payload,
            model_task.c.ended_at,
        )
        .select_from(model_task)
        .join(stage, stage.c.id == model_task.c.stage_id)
        .join(item, item.c.id == model_task.c.item_id)
        .join(worker, worker.c.id == model_task.c.worker_id)
        .order_by(model_task.c.id)
    )
    if stage_id is not None:
        query = query.where(model_task.c.stage_id == stage_id)
    for row in tx.execute(query, execution_options=STREAMED):
        yield ModelAnswerRow._make(row)


class GradedAnswerRow(NamedTuple):
    """A model's answer to gold, with its latest grade."""

    worker: str
    stage: str
    confidence: float | None
    score: float


def graded(tx: Connection) -> Iterator[GradedAnswerRow]:
    """All answers of models that were graded by gold."""
    query = (
        select(worker.c.pseudonym, stage.c.name, model_task.c.confidence, grade.c.score)
        .select_from(model_task)
        .join(response, response.c.id == model_task.c.response_id)
        .join(grade, grade.c.id == latest_gold_grade())
        .join(stage, stage.c.id == model_task.c.stage_id)
        .join(worker, worker.c.id == model_task.c.worker_id)
        .order_by(model_task.c.id)
    )
    for row in tx.execute(query):
        yield GradedAnswerRow._make(row)


class TaskRow(NamedTuple):
    """The outcome of an item assigned to a model."""

    id: int
    worker: str
    stage: str
    item: str
    kind: str
    state: str
    answer: str | None
    response_id: int | None


def all_tasks(tx: Connection) -> Iterator[TaskRow]:
    """All items assigned to models, streamed."""
    query = (
        select(
            model_task.c.id,
            worker.c.pseudonym,
            stage.c.name,
            item.c.key,
            *model_task.c["kind", "state", "answer", "response_id"],
        )
        .select_from(model_task)
        .join(stage, stage.c.id == model_task.c.stage_id)
        .join(item, item.c.id == model_task.c.item_id)
        .join(worker, worker.c.id == model_task.c.worker_id)
        .order_by(model_task.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield TaskRow._make(row)


def with_responses(tx: Connection) -> dict[int, str]:
    """The submitted answers of models that were not erased, by response."""
    query = (
        select(response.c.id, response.c.answer)
        .join(model_task, model_task.c.response_id == response.c.id)
        .where(response.c.erased_at.is_(None))
    )
    return {int(number): str(answer) for number, answer in tx.execute(query)}


_PLACE = Prepared(
    select(item.c.id).where(
        item.c.id == bindparam("item_id", type_=Integer),
        item.c.state == literal_column("'open'"),
        item.c.taken < item.c.wanted,
    )
)
_GROUP_SEEN = Prepared(
    select(assignment.c.id).where(
        and_(
            assignment.c.worker_id == bindparam("worker_id"),
            assignment.c.stage_id == bindparam("stage_id"),
            assignment.c.group_key == bindparam("group_key"),
        )
    )
)


def has_place(tx: Connection, task: ModelTask) -> bool:
    """Whether the item of a task still needs a judgment by this model."""
    if task.kind == AssignmentKind.PRODUCTION and _PLACE.first(tx, item_id=task.item.item_id) is None:
        return False
    seen = {"worker_id": task.worker_id, "stage_id": task.stage_id, "group_key": task.item.group_key}
    return _GROUP_SEEN.first(tx, **seen) is None
