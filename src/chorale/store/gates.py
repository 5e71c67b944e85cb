"""What gates decide by and what they leave behind: grades, verdicts, qualifications, arms and messages."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, bindparam, func, literal_column, select, text, update

from chorale.model import MessageState
from chorale.store.prepared import Prepared, prepared_if_new, prepared_insert
from chorale.store.schema import (
    gate,
    gold,
    grade,
    item,
    message,
    participation,
    qualification,
    response,
    stage,
    verdict,
    worker,
)

# Any number will do, as long as every Chorale process takes the same one.
ARMS_LOCK = 7_205_011_964
_GOLD: ColumnElement[str] = literal_column("'gold'")

_HELD = Prepared(select(qualification.c.name).where(qualification.c.worker_id == bindparam("worker_id")))


def held(tx: Connection, worker_id: int) -> frozenset[str]:
    """A worker's qualifications."""
    return frozenset(_HELD(tx, {"worker_id": worker_id}).scalars())


_GRANT = prepared_if_new(qualification, "worker_id", "name", "granted_at")


def grant(tx: Connection, worker_id: int, name: str, now: int) -> bool:
    """Give a qualification; False if they had it."""
    return bool(_GRANT(tx, {"worker_id": worker_id, "name": name, "granted_at": now}).rowcount)


@dataclass(frozen=True, slots=True)
class QualificationRow:
    worker: str
    name: str
    granted_at: int


def qualifications(tx: Connection) -> list[QualificationRow]:
    """Everybody's qualifications, in the order they got them."""
    query = (
        select(worker.c.pseudonym, qualification.c.name, qualification.c.granted_at)
        .join(worker, worker.c.id == qualification.c.worker_id)
        .order_by(qualification.c.granted_at, worker.c.pseudonym, qualification.c.name)
    )
    return [QualificationRow(*row) for row in tx.execute(query)]


# Grades


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer and its latest grade."""

    worker_id: int
    worker: str
    response_id: int
    stage_id: int
    score: float
    reasons: tuple[str, ...]
    answer: Any
    payload: Any
    criteria: Mapping[str, float]
    """The score of each criterion, where it was graded by several."""
    grade_id: int = 0
    expert: Any = None
    """The answer it was graded by, if an expert's was known."""


@cache
def _graded_answers(stages: int, of_one: bool) -> Prepared:
    """For so many stages: a gate mostly looks at one."""
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
    """All graded answers of some stages, by one worker or by all, each with its latest grade.

    Those to gold in production are not among them: what follows from these grades is told, and would give gold away.
    """
    query = _graded_answers(len(stage_ids), worker_id is not None)
    return [
        GradedAnswer(
            worker_id=row[0],
            worker=row[1],
            response_id=row[2],
            stage_id=row[3],
            score=row[4],
            reasons=tuple(json.loads(row[5])),
            answer=json.loads(row[6]),
            payload=json.loads(row[7]),
            criteria=json.loads(row[8] or "{}"),
            grade_id=row[9],
            expert=None if row[10] is None else json.loads(row[10]),
        )
        for row in query(tx, _named(stage_ids, worker_id))
    ]


@dataclass(frozen=True, slots=True)
class GradeRow:
    id: int
    response_id: int
    worker: str
    stage: str
    kind: str
    """Of the response."""
    source: str
    score: float
    reasons: tuple[str, ...]
    criteria: Mapping[str, float] | None
    graded_at: int


def all_grades(tx: Connection) -> list[GradeRow]:
    """Every grade there ever was, the oldest first."""
    query: Select[Any] = (
        select(
            grade.c.id,
            grade.c.response_id,
            worker.c.pseudonym,
            stage.c.name,
            response.c.kind,
            grade.c.source,
            grade.c.score,
            grade.c.reasons,
            grade.c.criteria,
            grade.c.graded_at,
        )
        .join(response, response.c.id == grade.c.response_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(stage, stage.c.id == response.c.stage_id)
        .order_by(grade.c.id)
    )
    return [
        GradeRow(
            id=row.id,
            response_id=row.response_id,
            worker=row.pseudonym,
            stage=row.name,
            kind=row.kind,
            source=row.source,
            score=row.score,
            reasons=tuple(json.loads(row.reasons)),
            criteria=None if row.criteria is None else json.loads(row.criteria),
            graded_at=row.graded_at,
        )
        for row in tx.execute(query)
    ]


@dataclass(frozen=True, slots=True)
class Graded:
    """A response as its grades stand."""

    worker_id: int
    stage_id: int
    times: int
    """How often it was graded."""
    score: float | None
    """By its latest grade."""


_GRADED = Prepared(
    select(
        response.c.worker_id,
        response.c.stage_id,
        select(func.count()).select_from(grade).where(grade.c.response_id == response.c.id).scalar_subquery(),
        select(grade.c.score)
        .where(grade.c.response_id == response.c.id)
        .order_by(grade.c.id.desc())
        .limit(literal_column("1"))
        .scalar_subquery(),
    ).where(response.c.id == bindparam("response_id"))
)


def grades_of(tx: Connection, response_id: int) -> Graded:
    row = _GRADED(tx, {"response_id": response_id}).first()
    if row is None:
        raise RuntimeError(f"there is no response {response_id}")
    return Graded(*row)


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
    """How many answers workers gave who were not dropped, by worker and stage; those to gold in production apart."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    query = _answered_by(len(stage_ids), worker_id is not None)
    for each, stage_id, answered in query(tx, _named(stage_ids, worker_id)):
        found[each][stage_id] = answered
    return found


def active_in(tx: Connection, stage_id: int, answered: int) -> dict[str, int]:
    """Who gave so many answers in a stage, or more, and was not dropped: ids by pseudonym."""
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


# Verdicts


@dataclass(frozen=True, slots=True)
class VerdictRow:
    gate: str
    worker_id: int
    worker: str
    at: int
    score: float
    passed: bool
    evidence: Mapping[str, Any]


def verdicts(tx: Connection, name: str | None = None) -> list[VerdictRow]:
    """What a gate, or all of them, decided, the best first."""
    query: Select[Any] = (
        select(
            verdict.c.gate,
            verdict.c.worker_id,
            worker.c.pseudonym,
            verdict.c.at,
            verdict.c.score,
            verdict.c.passed,
            verdict.c.evidence,
        )
        .join(worker, worker.c.id == verdict.c.worker_id)
        .order_by(verdict.c.gate, verdict.c.score.desc(), worker.c.pseudonym)
    )
    if name is not None:
        query = query.where(verdict.c.gate == name)
    return [
        VerdictRow(
            gate=row.gate,
            worker_id=row.worker_id,
            worker=row.pseudonym,
            at=row.at,
            score=row.score,
            passed=bool(row.passed),
            evidence=json.loads(row.evidence),
        )
        for row in tx.execute(query)
    ]


_DECIDED = Prepared(select(verdict.c.worker_id).where(verdict.c.gate == bindparam("gate")))
_TIMES_DECIDED = Prepared(select(verdict.c.worker_id, func.count()).group_by(verdict.c.worker_id))
_VERDICTS_SO_FAR = Prepared(select(func.count()).select_from(verdict))
_SCORES_GIVEN = Prepared(select(verdict.c.score).where(verdict.c.gate == bindparam("gate")))


def decided_about(tx: Connection, name: str) -> frozenset[int]:
    """The workers a gate has decided about."""
    return frozenset(_DECIDED(tx, {"gate": name}).scalars())


def scores_given(tx: Connection, name: str) -> list[float]:
    """The scores of those a gate has decided about."""
    return list(_SCORES_GIVEN(tx, {"gate": name}).scalars())


def verdicts_so_far(tx: Connection) -> int:
    return int(_VERDICTS_SO_FAR(tx, {}).scalar_one())


def times_decided(tx: Connection) -> dict[int, int]:
    """How many gates have decided about a worker, by worker."""
    return {int(each): int(times) for each, times in _TIMES_DECIDED(tx, {})}


_INSERT_VERDICT = prepared_insert(verdict, "gate", "worker_id", "at", "score", "passed", "evidence")


def add_verdict(
    tx: Connection, name: str, worker_id: int, now: int, score: float, passed: bool, evidence: Mapping[str, Any]
) -> None:
    _INSERT_VERDICT(
        tx,
        {
            "gate": name,
            "worker_id": worker_id,
            "at": now,
            "score": score,
            "passed": passed,
            "evidence": json.dumps(dict(evidence), ensure_ascii=False),
        },
    )


_CLOSED = Prepared(select(gate.c.name))


def closed_gates(tx: Connection) -> frozenset[str]:
    return frozenset(_CLOSED(tx, {}).scalars())


def closing_times(tx: Connection) -> dict[str, int]:
    """When gates were closed, by name."""
    return {str(row[0]): int(row[1]) for row in tx.execute(select(gate.c.name, gate.c.closed_at))}


_CLOSE = prepared_if_new(gate, "name", "closed_at")


def close(tx: Connection, name: str, now: int) -> bool:
    """Close a gate; False if it was closed before."""
    return bool(_CLOSE(tx, {"name": name, "closed_at": now}).rowcount)


# Arms


def lock_arms(tx: Connection) -> None:
    """Let one at a time be put in an arm: the order they come in decides. On SQLite, writing at all is that lock."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": ARMS_LOCK})


_ARM = Prepared(select(worker.c.arm).where(worker.c.id == bindparam("worker_id")))


def arm_of(tx: Connection, worker_id: int) -> str | None:
    return _ARM(tx, {"worker_id": worker_id}).scalar()


_PUT_IN_ARM = Prepared(update(worker).where(worker.c.id == bindparam("of_worker")).values(arm=bindparam("drawn_arm")))


def put_in_arm(tx: Connection, worker_id: int, arm: str) -> None:
    _PUT_IN_ARM(tx, {"of_worker": worker_id, "drawn_arm": arm})


def without_arm(tx: Connection, after: str | None) -> list[int]:
    """Who has agreed to take part and is in no arm, in the order they came to where arms are drawn.

    That is when they agreed; or when they got the qualification `after`, which they need first.
    """
    query: Select[Any] = select(worker.c.id).where(worker.c.arm.is_(None), worker.c.consented_at.is_not(None))
    if after is None:
        return list(tx.execute(query.order_by(worker.c.consented_at, worker.c.id)).scalars())
    got = query.join(qualification, qualification.c.worker_id == worker.c.id).where(qualification.c.name == after)
    return list(tx.execute(got.order_by(qualification.c.granted_at, worker.c.id)).scalars())


def arms(tx: Connection) -> dict[str, str]:
    """The arm of everybody who is in one, by pseudonym."""
    query = select(worker.c.pseudonym, worker.c.arm).where(worker.c.arm.is_not(None))
    return {str(row[0]): str(row[1]) for row in tx.execute(query)}


def arm_counts(tx: Connection) -> dict[str, int]:
    query = select(worker.c.arm, func.count()).where(worker.c.arm.is_not(None)).group_by(worker.c.arm)
    return {str(row[0]): int(row[1]) for row in tx.execute(query)}


# Messages


@dataclass(frozen=True, slots=True)
class MessageRow:
    id: int
    worker_id: int
    worker: str
    cause: str
    written_at: int
    title: str
    body: str
    state: str
    sent_at: int | None
    read_at: int | None


_MESSAGES: Select[Any] = select(
    message.c.id,
    message.c.worker_id,
    worker.c.pseudonym,
    message.c.cause,
    message.c.written_at,
    message.c.title,
    message.c.body,
    message.c.state,
    message.c.sent_at,
    message.c.read_at,
).join(worker, worker.c.id == message.c.worker_id)
_MESSAGES_TO = Prepared(
    _MESSAGES.where(
        message.c.worker_id == bindparam("worker_id"), message.c.state == literal_column(f"'{MessageState.SENT}'")
    ).order_by(message.c.id.desc())
)


_ADD_MESSAGE = prepared_if_new(message, "worker_id", "cause", "written_at", "title", "body", "state", "sent_at")


def add_message(
    tx: Connection, worker_id: int, cause: str, now: int, title: str, body: str, state: MessageState
) -> bool:
    """Write a message; False if they have one of the same cause."""
    written = {
        "worker_id": worker_id,
        "cause": cause,
        "written_at": now,
        "title": title,
        "body": body,
        "state": state,
        "sent_at": now if state is MessageState.SENT else None,
    }
    return bool(_ADD_MESSAGE(tx, written).rowcount)


def messages_to(tx: Connection, worker_id: int) -> Sequence[MessageRow]:
    """What a worker may read, the newest first."""
    return [MessageRow(*row) for row in _MESSAGES_TO(tx, {"worker_id": worker_id})]


_DRAFTS = Prepared(_MESSAGES.where(message.c.state == literal_column(f"'{MessageState.DRAFT}'")).order_by(message.c.id))


def drafts(tx: Connection) -> Sequence[MessageRow]:
    """Messages that wait for an expert, the oldest first."""
    return [MessageRow(*row) for row in _DRAFTS(tx, {})]


def all_messages(tx: Connection) -> Sequence[MessageRow]:
    """Every message, sent or not, the oldest first."""
    return [MessageRow(*row) for row in tx.execute(_MESSAGES.order_by(message.c.id))]


def message_by_id(tx: Connection, message_id: int) -> MessageRow | None:
    row = tx.execute(_MESSAGES.where(message.c.id == message_id)).first()
    return None if row is None else MessageRow(*row)


def send(tx: Connection, message_id: int, body: str, now: int) -> bool:
    """Send a draft as it reads now; False if it was sent before."""
    query = (
        update(message)
        .where(message.c.id == message_id, message.c.state == MessageState.DRAFT)
        .values(body=body, state=MessageState.SENT, sent_at=now)
    )
    return bool(tx.execute(query).rowcount)


def note_read(tx: Connection, worker_id: int, now: int) -> None:
    tx.execute(
        update(message)
        .where(message.c.worker_id == worker_id, message.c.state == MessageState.SENT, message.c.read_at.is_(None))
        .values(read_at=now)
    )
