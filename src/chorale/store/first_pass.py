"""Items that a model answered first: decisions about them, and the calibration of its confidence."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from sqlalchemy import Connection, and_, bindparam, exists, func, insert, literal_column, or_, select

from chorale.model import ItemState, Standing
from chorale.protocol import WhyAsked
from chorale.store.corrections import FIRST_GRADE, LATER_GRADES
from chorale.store.database import STREAMED
from chorale.store.model_schema import first_pass, model_calibration, model_task
from chorale.store.model_tasks import TaskState
from chorale.store.prepared import Prepared, PreparedInsert
from chorale.store.schema import grade, item, participation, response, stage, worker

_INSERT = PreparedInsert(
    first_pass, "item_id", "stage_id", "worker_id", "task_id", "calibration_id", "at", "confidence", "probability",
    "asked", "why",
)  # fmt: skip


MODEL_REMOVED = WhyAsked.MODEL_REMOVED.value


class FirstLabel(NamedTuple):
    """The result of the model that answered an item first."""

    model: str
    """The model's pseudonym."""
    answer: str | None
    confidence: float | None
    """The calibrated confidence."""
    probability: float
    asked: bool
    """Whether the item goes to people."""
    why: str
    standing: str
    """The model's status: after a removal, its answers are not labels."""

    @property
    def in_force(self) -> tuple[str, float]:
        """Why people are asked or not, and with which probability; if the model was removed, they are always asked."""
        return (self.why, self.probability) if self.standing == Standing.ACTIVE else (MODEL_REMOVED, 1.0)

    @property
    def is_label(self) -> bool:
        """Whether the model's answer is the label, because it counts and people are not asked."""
        return not self.asked and self.answer is not None and self.standing == Standing.ACTIVE


_COLUMNS = (
    worker.c.pseudonym,
    model_task.c.answer,
    *first_pass.c["confidence", "probability", "asked", "why"],
    participation.c.standing,
)
_JOINED = (
    first_pass.join(worker, worker.c.id == first_pass.c.worker_id)
    .outerjoin(model_task, model_task.c.id == first_pass.c.task_id)
    .join(
        participation,
        and_(participation.c.stage_id == first_pass.c.stage_id, participation.c.worker_id == first_pass.c.worker_id),
    )
)
_OF_ITEM = Prepared(select(*_COLUMNS).select_from(_JOINED).where(first_pass.c.item_id == bindparam("item_id")))


def of_item(tx: Connection, item_id: int) -> FirstLabel | None:
    """The decision about an item; None if there is none yet."""
    row = _OF_ITEM.first(tx, item_id=item_id)
    return None if row is None else FirstLabel._make(row)


def of_stage(tx: Connection, stage_id: int) -> dict[str, FirstLabel]:
    """The decisions about a stage's items, by key."""
    query = (
        select(item.c.key, *_COLUMNS)
        .select_from(_JOINED.join(item, item.c.id == first_pass.c.item_id))
        .where(first_pass.c.stage_id == stage_id)
    )
    return {str(row[0]): FirstLabel._make(row[1:]) for row in tx.execute(query)}


def groups(tx: Connection, stage_id: int, worker_id: int) -> list[str]:
    """The groups with items that a model answered first, in locking order."""
    query = (
        select(item.c.group_key)
        .join(first_pass, first_pass.c.item_id == item.c.id)
        .where(first_pass.c.stage_id == stage_id, first_pass.c.worker_id == worker_id)
        .group_by(item.c.group_key)
        .order_by(func.min(item.c.id))
    )
    return list(tx.execute(query).scalars())


class Undecided(NamedTuple):
    """An item waiting for the decision whether people are asked."""

    item_id: int
    key: str
    group_key: str
    task_id: int | None
    answer: str | None
    confidence: float | None
    """The confidence reported by the model."""


_WAITING = (
    select(*item.c["id", "key", "group_key"], *model_task.c["id", "answer", "confidence"])
    .where(
        item.c.stage_id == bindparam("stage_id"),
        item.c.state == literal_column(f"'{ItemState.WAITING}'"),
        ~exists().where(first_pass.c.item_id == item.c.id),
    )
    .order_by(item.c.id)
    .limit(bindparam("most"))
)
_OF_MODEL = and_(model_task.c.item_id == item.c.id, model_task.c.worker_id == bindparam("worker_id"))


def undecided(
    tx: Connection, stage_id: int, worker_id: int, most: int, *, unanswered: bool, among: Collection[int] | None = None
) -> list[Undecided]:
    """Waiting items that a model has finished; with `unanswered`, also items that the model never got.

    With `among`, only these items, without a search through all waiting ones.
    """
    query = _WAITING.select_from(item.join(model_task, _OF_MODEL, isouter=unanswered))
    if among is not None:
        query = query.where(item.c.id.in_(among))
    if not unanswered:
        query = query.where(model_task.c.state.in_((TaskState.ANSWERED.value, TaskState.SKIPPED.value)))
    rows = tx.execute(query, {"stage_id": stage_id, "worker_id": worker_id, "most": most})
    return [Undecided._make(row) for row in rows]


class NewPass(NamedTuple):
    """A decision about an item."""

    item_id: int
    stage_id: int
    worker_id: int
    task_id: int | None
    calibration_id: int | None
    at: int
    confidence: float | None
    probability: float
    asked: bool
    why: str


def add(tx: Connection, decided: NewPass) -> None:
    """Store a decision; the database refuses a second one about the same item."""
    _INSERT(tx, **decided._asdict())


# Calibration


class CalibrationRow(NamedTuple):
    """How a model's confidence was calibrated."""

    id: int
    stage: str
    worker: str
    worker_id: int
    stage_id: int
    at: int
    slope: float
    offset: float
    answers: int
    last_grade: int


def calibrations(tx: Connection, stage_id: int | None = None, worker_id: int | None = None) -> list[CalibrationRow]:
    """All calibrations, or those of one stage or model, oldest first."""
    query = (
        select(
            model_calibration.c.id,
            stage.c.name,
            worker.c.pseudonym,
            *model_calibration.c["worker_id", "stage_id", "at", "slope", "offset", "answers", "last_grade"],
        )
        .join(stage, stage.c.id == model_calibration.c.stage_id)
        .join(worker, worker.c.id == model_calibration.c.worker_id)
        .order_by(model_calibration.c.id)
    )
    if stage_id is not None:
        query = query.where(model_calibration.c.stage_id == stage_id)
    if worker_id is not None:
        query = query.where(model_calibration.c.worker_id == worker_id)
    return [CalibrationRow._make(row) for row in tx.execute(query)]


def add_calibration(
    tx: Connection,
    worker_id: int,
    stage_id: int,
    at: int,
    slope: float,
    offset: float,
    answers: int,
    last_grade: int,
) -> int:
    """Store a calibration; returns its number."""
    row = {"worker_id": worker_id, "stage_id": stage_id, "at": at, "slope": slope, "offset": offset}
    made = tx.execute(insert(model_calibration).values(**row, answers=answers, last_grade=last_grade))
    key = made.inserted_primary_key
    if key is None:
        raise RuntimeError("a calibration got no number")
    return int(key[0])


class GoldAnswered(NamedTuple):
    """A model's confidence in an answer to gold, and the answer's grade."""

    grade_id: int
    confidence: float
    score: float


def gold_answered(tx: Connection, stage_id: int, worker_id: int, upto: int | None = None) -> list[GoldAnswered]:
    """A model's answers to gold with a confidence and their latest grades: all, or those up to the grade `upto`."""
    query = (
        select(response.c.id, grade.c.id, model_task.c.confidence, grade.c.score)
        .select_from(model_task)
        .join(response, response.c.id == model_task.c.response_id)
        .join(grade, grade.c.response_id == response.c.id)
        .where(
            model_task.c.stage_id == stage_id,
            model_task.c.worker_id == worker_id,
            model_task.c.confidence.is_not(None),
            or_(grade.c.source == FIRST_GRADE, grade.c.source.like(f"{LATER_GRADES}%")),
        )
        .order_by(grade.c.id)
    )
    if upto is not None:
        query = query.where(grade.c.id <= upto)
    latest = {row[0]: GoldAnswered(*row[1:]) for row in tx.execute(query)}
    return [latest[number] for number in sorted(latest)]


class PassRow(NamedTuple):
    """A decision about an item, with its evidence."""

    stage: str
    item: str
    worker: str
    calibration_id: int | None
    at: int
    raw: float | None
    """The confidence reported by the model."""
    answer: str | None
    task_state: str | None
    confidence: float | None
    probability: float
    asked: bool
    why: str


def all_passes(tx: Connection) -> Iterator[PassRow]:
    """All decisions, streamed."""
    query = (
        select(
            stage.c.name,
            item.c.key,
            worker.c.pseudonym,
            *first_pass.c["calibration_id", "at"],
            *model_task.c["confidence", "answer", "state"],
            *first_pass.c["confidence", "probability", "asked", "why"],
        )
        .select_from(_JOINED.join(item, item.c.id == first_pass.c.item_id))
        .join(stage, stage.c.id == first_pass.c.stage_id)
        .order_by(first_pass.c.item_id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield PassRow._make(row)
