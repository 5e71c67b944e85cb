"""The hot path: leasing items to workers and taking their answers.

Locks are always taken in the same order (a worker's participation, their assignment, items by id), which is what keeps
concurrent transactions on PostgreSQL from deadlocking. They are FOR NO KEY UPDATE: inserting a response takes a share
lock on its item through the foreign key, which a plain FOR UPDATE would wait for. On SQLite there is one writer and the
locks are no-ops.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

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
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from chorale.model import AssignmentKind, AssignmentState, EntryKind, GoldRecord, GoldSettings, Judgment, Standing
from chorale.protocol import trust
from chorale.store.prepared import Prepared, prepared_insert
from chorale.store.schema import (
    assignment,
    entry,
    gold,
    grade,
    item,
    item_source,
    participation,
    response,
    stage,
    worker,
)

# Written out, not bound: only then can the database see that the partial index applies.
_LIVE: ColumnElement[str] = literal_column("'live'")
_PRODUCTION: ColumnElement[str] = literal_column("'production'")
_OFFERED = text("item.state = 'open' AND item.taken < item.wanted")


@dataclass(frozen=True, slots=True)
class ParticipationRow:
    stage_id: int
    worker_id: int
    standing: str
    seed: int
    served: int
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    fees: int
    exact_fees: int
    item_cursor: int
    gold_cursor: int

    @property
    def gold(self) -> GoldRecord:
        return GoldRecord(self.gold_right, self.gold_answered, self.gold_recent)


@dataclass(frozen=True, slots=True)
class OfferedItem:
    id: int
    key: str
    group_key: str
    payload: str
    position: int


@dataclass(frozen=True, slots=True)
class Lease:
    """An assignment as its worker has it."""

    token: str
    item_key: str
    payload: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    id: int
    token: str
    stage_id: int
    item_id: int
    worker_id: int
    group_key: str
    kind: str
    state: str
    leased_at: int
    expires_at: int


_PARTICIPATIONS: Select[Any] = select(
    participation.c.stage_id,
    participation.c.worker_id,
    participation.c.standing,
    participation.c.seed,
    participation.c.served,
    participation.c.answered,
    participation.c.gold_answered,
    participation.c.gold_right,
    participation.c.gold_recent,
    participation.c.earned,
    participation.c.fees,
    participation.c.exact_fees,
    participation.c.item_cursor,
    participation.c.gold_cursor,
).where(participation.c.worker_id == bindparam("worker_id"))
_OWN_PARTICIPATIONS = Prepared(_PARTICIPATIONS)
_OWN_PARTICIPATION = _PARTICIPATIONS.where(participation.c.stage_id == bindparam("stage_id"))
_PARTICIPATION = Prepared(_OWN_PARTICIPATION)
_PARTICIPATION_LOCKED = Prepared(_OWN_PARTICIPATION.with_for_update(key_share=True))


def participation_of(tx: Connection, stage_id: int, worker_id: int, *, lock: bool = False) -> ParticipationRow | None:
    query = _PARTICIPATION_LOCKED if lock else _PARTICIPATION
    row = query(tx, {"stage_id": stage_id, "worker_id": worker_id}).first()
    return None if row is None else ParticipationRow(*row)


def participations_of(tx: Connection, worker_id: int) -> dict[int, ParticipationRow]:
    """All of a worker's, by stage."""
    return {row[0]: ParticipationRow(*row) for row in _OWN_PARTICIPATIONS(tx, {"worker_id": worker_id})}


def enter(tx: Connection, stage_id: int, worker_id: int, seed: int, gold_cursor: int, now: int) -> bool:
    """Let a worker into a stage; False if another tab of theirs was first."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    query = (
        upsert(participation)
        .values(
            stage_id=stage_id,
            worker_id=worker_id,
            standing=Standing.ACTIVE,
            entered_at=now,
            seed=seed,
            served=0,
            answered=0,
            gold_answered=0,
            gold_right=0,
            gold_recent="",
            earned=0,
            fees=0,
            exact_fees=0,
            worked_ms=0,
            item_cursor=-1,
            gold_cursor=gold_cursor,
            changes=0,
            settled=0,
        )
        .on_conflict_do_nothing()
    )
    return bool(tx.execute(query).rowcount)


_DROPPED_FROM = Prepared(
    select(stage.c.name)
    .join(participation, participation.c.stage_id == stage.c.id)
    .where(
        participation.c.worker_id == bindparam("worker_id"),
        participation.c.standing == literal_column("'dropped'"),
    )
)


def dropped_from(tx: Connection, worker_id: int) -> list[str]:
    """The stages a worker was dropped from."""
    return list(_DROPPED_FROM(tx, {"worker_id": worker_id}).scalars())


@dataclass(frozen=True, slots=True)
class Situation:
    """What stands between a worker and a stage."""

    stage_state: str
    pseudonym: str
    consented_at: int | None
    dropped_somewhere: bool


_SITUATION = Prepared(
    select(
        select(stage.c.state).where(stage.c.id == bindparam("stage_id")).scalar_subquery(),
        worker.c.pseudonym,
        worker.c.consented_at,
        exists().where(
            participation.c.worker_id == worker.c.id, participation.c.standing == literal_column("'dropped'")
        ),
    ).where(worker.c.id == bindparam("worker_id"))
)


def situation(tx: Connection, stage_id: int, worker_id: int) -> Situation | None:
    """How things are for a worker; None if there is no such worker."""
    row = _SITUATION(tx, {"stage_id": stage_id, "worker_id": worker_id}).first()
    return None if row is None else Situation(row[0], row[1], row[2], bool(row[3]))


_LIVE_LEASE = Prepared(
    select(assignment.c.token, item.c.key, item.c.payload, assignment.c.expires_at)
    .join(item, item.c.id == assignment.c.item_id)
    .where(
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.stage_id == bindparam("stage_id"),
        assignment.c.state == _LIVE,
    )
)


def live_lease(tx: Connection, stage_id: int, worker_id: int) -> Lease | None:
    row = _LIVE_LEASE(tx, {"stage_id": stage_id, "worker_id": worker_id}).first()
    return None if row is None else Lease(*row)


_SEEN = exists().where(
    assignment.c.worker_id == bindparam("worker_id"),
    assignment.c.stage_id == item.c.stage_id,
    assignment.c.group_key == item.c.group_key,
)


def _contributed(level: int) -> ColumnElement[bool]:
    """Whether the worker answered an item that the offered one came from, so many stages back, or still may."""
    steps = [item_source.alias(f"step_{number}") for number in range(level)]
    earlier = [later.c.source_id == step.c.item_id for later, step in pairwise(steps)]
    return exists().where(
        steps[0].c.item_id == item.c.id,
        *earlier,
        assignment.c.item_id == steps[-1].c.source_id,
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.state != literal_column("'returned'"),
    )


def _seen_later(level: int) -> ColumnElement[bool]:
    """Whether the worker has seen, so many stages on, what others made of the offered item."""
    steps = [item_source.alias(f"step_{number}") for number in range(level)]
    later = [earlier.c.item_id == step.c.source_id for earlier, step in pairwise(steps)]
    return exists().where(
        steps[0].c.source_id == item.c.id,
        *later,
        assignment.c.item_id == steps[-1].c.item_id,
        assignment.c.worker_id == bindparam("worker_id"),
    )


@cache
def _offered(back: int, ahead: int) -> Select[Any]:
    query = (
        select(item.c.id, item.c.key, item.c.group_key, item.c.payload, item.c.position)
        .where(item.c.stage_id == bindparam("stage_id"), _OFFERED, item.c.position > bindparam("after"), ~_SEEN)
        .order_by(item.c.position)
        .limit(1)
    )
    query = query.where(*(~_contributed(level) for level in range(1, back + 1)))
    return query.where(*(~_seen_later(level) for level in range(1, ahead + 1)))


@cache
def _next_offered(back: int, ahead: int) -> Prepared:
    return Prepared(_offered(back, ahead).with_for_update(skip_locked=True, of=item, key_share=True))


@cache
def _still_offered(back: int, ahead: int) -> Prepared:
    return Prepared(_offered(back, ahead))


def next_item(
    tx: Connection, stage_id: int, worker_id: int, cursor: int, *, not_from_own: int, not_seen_later: int = 0
) -> OfferedItem | None:
    """An item of the stage with room for this worker: the first after the cursor, or else the first of all.

    Not one that came from something they answered, `not_from_own` stages back or fewer; and not one of which they have
    seen what others made, up to `not_seen_later` stages on.
    """
    query = _next_offered(not_from_own, not_seen_later)
    for after in (cursor, -1) if cursor >= 0 else (-1,):
        found = query(tx, {"stage_id": stage_id, "worker_id": worker_id, "after": after}).first()
        if found is not None:
            return OfferedItem(*found)
    return None


def room_for(tx: Connection, stage_id: int, worker_id: int, *, not_from_own: int, not_seen_later: int = 0) -> bool:
    """Whether the stage has an item for this worker, without taking or locking it."""
    query = _still_offered(not_from_own, not_seen_later)
    return query(tx, {"stage_id": stage_id, "worker_id": worker_id, "after": -1}).first() is not None


_NEXT_GOLD = Prepared(
    select(item.c.id, item.c.key, item.c.group_key, item.c.payload, gold.c.position)
    .join(item, item.c.id == gold.c.item_id)
    .where(gold.c.stage_id == bindparam("stage_id"), gold.c.active, gold.c.position > bindparam("after"), ~_SEEN)
    .order_by(gold.c.position)
    .limit(1)
)


def next_gold(tx: Connection, stage_id: int, worker_id: int, cursor: int) -> OfferedItem | None:
    """A gold item the worker has not seen, starting from their own place in the ring."""
    for after in (cursor, -1):
        found = _NEXT_GOLD(tx, {"stage_id": stage_id, "worker_id": worker_id, "after": after}).first()
        if found is not None:
            return OfferedItem(*found)
    return None


_OPEN_ITEM = Prepared(
    select(item.c.id)
    .where(item.c.stage_id == bindparam("stage_id"), item.c.state == literal_column("'open'"))
    .limit(literal_column("1"))
)


def has_open_items(tx: Connection, stage_ids: Sequence[int]) -> bool:
    """Whether any of the stages still wants judgments, be they leased out or not."""
    return any(_OPEN_ITEM(tx, {"stage_id": stage_id}).first() is not None for stage_id in stage_ids)


_TAKE = Prepared(
    update(item).where(item.c.id == bindparam("of_item"), item.c.taken < item.c.wanted).values(taken=item.c.taken + 1)
)
_INSERT_ASSIGNMENT = prepared_insert(
    assignment,
    "token",
    "stage_id",
    "item_id",
    "worker_id",
    "group_key",
    "kind",
    "state",
    "leased_at",
    "expires_at",
)
_SERVE = {
    kind: Prepared(
        update(participation)
        .where(
            participation.c.stage_id == bindparam("of_stage"),
            participation.c.worker_id == bindparam("of_worker"),
        )
        .values({"served": participation.c.served + 1, cursor: bindparam("position")})
    )
    for kind, cursor in (
        (AssignmentKind.GOLD, "gold_cursor"),
        (AssignmentKind.TRAINING, "gold_cursor"),
        (AssignmentKind.QUALIFICATION, "gold_cursor"),
        (AssignmentKind.PRODUCTION, "item_cursor"),
    )
}


def lease(
    tx: Connection,
    token: str,
    stage_id: int,
    worker_id: int,
    offered: OfferedItem,
    kind: AssignmentKind,
    now: int,
    expires_at: int,
) -> Lease:
    if kind is AssignmentKind.PRODUCTION and not take_place(tx, offered.id):
        raise RuntimeError(f"item {offered.id} was offered with no place left")
    _INSERT_ASSIGNMENT(
        tx,
        {
            "token": token,
            "stage_id": stage_id,
            "item_id": offered.id,
            "worker_id": worker_id,
            "group_key": offered.group_key,
            "kind": kind,
            "state": AssignmentState.LIVE,
            "leased_at": now,
            "expires_at": expires_at,
        },
    )
    _SERVE[kind](tx, {"of_stage": stage_id, "of_worker": worker_id, "position": offered.position})
    return Lease(token, offered.key, offered.payload, expires_at)


def lease_again(tx: Connection, stage_id: int, worker_id: int, now: int, expires_at: int) -> Lease | None:
    """Give a worker back the first item of theirs that they returned or let expire; None if there is none."""
    ended = (AssignmentState.RETURNED, AssignmentState.EXPIRED)
    query = (
        select(assignment.c.id, assignment.c.token, item.c.key, item.c.payload)
        .join(item, item.c.id == assignment.c.item_id)
        .where(assignment.c.worker_id == worker_id, assignment.c.stage_id == stage_id, assignment.c.state.in_(ended))
        .order_by(assignment.c.id)
        .limit(1)
    )
    row = tx.execute(query).first()
    if row is None:
        return None
    tx.execute(
        update(assignment)
        .where(assignment.c.id == row.id)
        .values(state=AssignmentState.LIVE, leased_at=now, expires_at=expires_at, ended_at=None)
    )
    return Lease(row.token, row.key, row.payload, expires_at)


def take_place(tx: Connection, item_id: int) -> bool:
    """Take one of the judgments an item asks for; False if none is left."""
    return bool(_TAKE(tx, {"of_item": item_id}).rowcount)


_LEASED: Select[Any] = select(
    assignment.c.id,
    assignment.c.token,
    assignment.c.stage_id,
    assignment.c.item_id,
    assignment.c.worker_id,
    assignment.c.group_key,
    assignment.c.kind,
    assignment.c.state,
    assignment.c.leased_at,
    assignment.c.expires_at,
)
_ASSIGNMENT = Prepared(
    _LEASED.join(
        participation,
        and_(
            participation.c.stage_id == assignment.c.stage_id,
            participation.c.worker_id == assignment.c.worker_id,
        ),
    )
    .where(assignment.c.token == bindparam("token"))
    .with_for_update(of=[participation, assignment], key_share=True)
)


def assignment_by_token(tx: Connection, token: str) -> AssignmentRow | None:
    """The assignment, locked together with its worker's participation."""
    row = _ASSIGNMENT(tx, {"token": token}).first()
    return None if row is None else AssignmentRow(*row)


_PAYLOAD = Prepared(select(item.c.payload).where(item.c.id == bindparam("item_id")))


def payload_of(tx: Connection, item_id: int) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(_PAYLOAD(tx, {"item_id": item_id}).scalar_one())
    return payload


_END = Prepared(
    update(assignment)
    .where(assignment.c.id == bindparam("of_assignment"))
    .values(state=bindparam("new_state"), ended_at=bindparam("now"))
)
_GIVE_PLACE = Prepared(update(item).where(item.c.id == bindparam("of_item")).values(taken=item.c.taken - 1))


def end_assignment(tx: Connection, row: AssignmentRow, state: AssignmentState, now: int) -> None:
    """End an assignment; unless it was submitted, its place on the item is free again."""
    _END(tx, {"of_assignment": row.id, "new_state": state, "now": now})
    holds_place = row.kind == AssignmentKind.PRODUCTION and row.state == AssignmentState.LIVE
    if holds_place and state is not AssignmentState.SUBMITTED:
        _GIVE_PLACE(tx, {"of_item": row.item_id})


def set_expiry(tx: Connection, assignment_id: int, expires_at: int) -> None:
    tx.execute(update(assignment).where(assignment.c.id == assignment_id).values(expires_at=expires_at))


_EXPIRED = Prepared(
    _LEASED.where(assignment.c.state == _LIVE, assignment.c.expires_at <= bindparam("now"))
    # Sorted by a sum: by the column itself, SQLite would go through all assignments there ever were in their order,
    # instead of asking the small index of those that expire.
    .order_by(assignment.c.item_id + literal_column("0"))
    .limit(bindparam("most", type_=Integer))
    .with_for_update(skip_locked=True, key_share=True)
)


def expired_assignments(tx: Connection, now: int, limit: int) -> list[AssignmentRow]:
    """Live assignments past their time, locked, by item."""
    return [AssignmentRow(*row) for row in _EXPIRED(tx, {"now": now, "most": limit})]


_INSERT_RESPONSE = prepared_insert(
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
    returning=response.c.id,
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
    return int(
        _INSERT_RESPONSE(
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
        ).scalar_one()
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
        .outerjoin(grade, and_(grade.c.response_id == response.c.id, grade.c.source == "gold"))
        .outerjoin(gold, gold.c.item_id == response.c.item_id)
        .where(response.c.assignment_id == assignment_id)
    ).first()
    return None if row is None else GivenResponse(*row)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    answer: str
    explanation: str


_GOLD_ANSWER = Prepared(select(gold.c.answer, gold.c.explanation).where(gold.c.item_id == bindparam("item_id")))


def gold_answer(tx: Connection, item_id: int) -> GoldAnswer | None:
    row = _GOLD_ANSWER(tx, {"item_id": item_id}).first()
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
            "reasons": json.dumps(list(reasons), ensure_ascii=False),
            "criteria": None if criteria is None else json.dumps(dict(criteria), ensure_ascii=False),
            "graded_at": now,
        },
    )


_COUNT_ANSWER = Prepared(
    update(participation)
    .where(
        participation.c.stage_id == bindparam("of_stage"),
        participation.c.worker_id == bindparam("of_worker"),
    )
    .values(
        answered=participation.c.answered + 1,
        gold_answered=participation.c.gold_answered + bindparam("more_gold"),
        gold_right=participation.c.gold_right + bindparam("more_right"),
        gold_recent=bindparam("new_recent"),
        earned=participation.c.earned + bindparam("more_earned"),
        fees=participation.c.fees + bindparam("more_fees"),
        exact_fees=participation.c.exact_fees + bindparam("more_exact_fees"),
        worked_ms=participation.c.worked_ms + bindparam("more_ms"),
        standing=bindparam("new_standing"),
        changes=participation.c.changes + bindparam("more_changes"),
    )
)


def count_answer(
    tx: Connection,
    stage_id: int,
    worker_id: int,
    *,
    gold_answered: int,
    gold_right: int,
    gold_recent: str,
    earned: int,
    fees: int,
    exact_fees: int,
    worked_ms: int,
    standing: Standing,
    trust_changed: bool,
) -> None:
    """Add an answer to a worker's record. If their trust changed, their labels are to be looked at again."""
    _COUNT_ANSWER(
        tx,
        {
            "of_stage": stage_id,
            "of_worker": worker_id,
            "more_gold": gold_answered,
            "more_right": gold_right,
            "new_recent": gold_recent,
            "more_earned": earned,
            "more_fees": fees,
            "more_exact_fees": exact_fees,
            "more_ms": worked_ms,
            "new_standing": standing,
            "more_changes": 1 if trust_changed else 0,
        },
    )


def add_earnings(tx: Connection, stage_id: int, worker_id: int, earned: int, fees: int, exact_fees: int) -> None:
    """Add to a worker's record what was booked apart from an answer."""
    tx.execute(
        update(participation)
        .where(participation.c.stage_id == stage_id, participation.c.worker_id == worker_id)
        .values(
            earned=participation.c.earned + earned,
            fees=participation.c.fees + fees,
            exact_fees=participation.c.exact_fees + exact_fees,
        )
    )


_SPENT = Prepared(select(func.coalesce(func.sum(participation.c.earned + participation.c.fees), 0)))
_LIVE_BY_STAGE = Prepared(
    select(assignment.c.stage_id, func.count()).where(assignment.c.state == _LIVE).group_by(assignment.c.stage_id)
)


def spent(tx: Connection) -> int:
    """What the study has cost so far, fees included."""
    return int(_SPENT(tx, {}).scalar_one())


def live_by_stage(tx: Connection) -> dict[int, int]:
    """How many items of each stage are being worked on."""
    return {int(row[0]): int(row[1]) for row in _LIVE_BY_STAGE(tx, {})}


_INSERT_ENTRY = prepared_insert(entry, "cause", "at", "worker_id", "stage_id", "kind", "amount", "reason")


def add_entry(
    tx: Connection,
    cause: str,
    now: int,
    worker_id: int,
    stage_id: int,
    kind: EntryKind,
    amount: int,
    reason: str,
) -> None:
    _INSERT_ENTRY(
        tx,
        {
            "cause": cause,
            "at": now,
            "worker_id": worker_id,
            "stage_id": stage_id,
            "kind": kind,
            "amount": amount,
            "reason": reason,
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


def judgments_of(tx: Connection, item_id: int, rule: GoldSettings | None) -> list[Judgment]:
    """The counted judgments of an item, each with its worker's present trust by the stage's rule."""
    return [
        Judgment(name, json.loads(answer), trust(GoldRecord(right, answered, recent), rule), response_id)
        for name, answer, right, answered, recent, response_id in _JUDGMENTS(tx, {"item_id": item_id})
    ]
