"""Assignments: items that workers hold for a limited time, until they are answered, returned or expired.

Rows need no locks: only one transaction writes at a time, also on PostgreSQL (`locks.Alone`).
"""

from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    select,
    update,
)

from chorale.model import Assignment, AssignmentKind, AssignmentState, ItemState, Participation
from chorale.store.offering import ItemContent
from chorale.store.participations import COLUMNS
from chorale.store.prepared import NONE, ONE, Prepared, PreparedInsert, Scope, tolerate_judgments
from chorale.store.schema import assignment, gold, item, participation
from chorale.store.sessions import SessionClaim, holds

# A literal, not a bound parameter, so that the database can use the partial index.
_LIVE: ColumnElement[str] = literal_column("'live'")
# As a plain string: for other types, the driver looks for adapters first.
_IS_LIVE = AssignmentState.LIVE.value


class Lease(NamedTuple):
    """A worker's current assignment."""

    token: str
    item_key: str
    payload: str
    expires_at: int


_LIVE_LEASE = Prepared(
    select(assignment.c.token, item.c.key, item.c.payload, assignment.c.expires_at)
    .join(item, item.c.id == assignment.c.item_id)
    .where(
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.stage_id == bindparam("stage_id"),
        assignment.c.state == _LIVE,
    ),
    Scope(worker="worker_id"),
)


def live_lease(tx: Connection, stage_id: int, worker_id: int) -> Lease | None:
    """The item a worker holds in a stage."""
    row = _LIVE_LEASE.first(tx, stage_id=stage_id, worker_id=worker_id)
    return None if row is None else Lease._make(row)


_TOKENS_HELD = Prepared(
    select(assignment.c.stage_id, assignment.c.token)
    .where(assignment.c.worker_id == bindparam("worker_id"), assignment.c.state == _LIVE)
    .order_by(assignment.c.stage_id),
    Scope(worker="worker_id"),
)


def tokens_held(tx: Connection, worker_id: int) -> list[tuple[int, str]]:
    """Stage and token of all items a worker holds, in the order of the stages."""
    return [(int(stage_id), str(token)) for stage_id, token in _TOKENS_HELD.all(tx, worker_id=worker_id)]


_TAKE = Prepared(
    update(item).where(item.c.id == bindparam("of_item"), item.c.taken < item.c.wanted).values(taken=item.c.taken + ONE)
)
# For an offered item with a free place. Without one, a constraint of the table would refuse it.
_TAKE_OFFERED = Prepared(
    update(item).where(item.c.id == bindparam("of_item")).values(taken=item.c.taken + ONE), Scope(place="of_item")
)
_INSERT_ASSIGNMENT = PreparedInsert(
    assignment,
    *("token", "stage_id", "item_id", "worker_id", "group_key", "kind", "state", "leased_at", "expires_at"),
    scope=Scope(worker="worker_id"),
)
_SERVE = Prepared(
    update(participation)
    .where(participation.c.stage_id == bindparam("of_stage"), participation.c.worker_id == bindparam("of_worker"))
    .values(served=participation.c.served + ONE, item_cursor=bindparam("cursor")),
    Scope(worker="of_worker"),
)


def lease(
    tx: Connection,
    token: str,
    stage_id: int,
    worker_id: int,
    offered: ItemContent,
    kind: AssignmentKind,
    now: int,
    expires_at: int,
) -> Lease:
    if kind is AssignmentKind.PRODUCTION:
        _TAKE_OFFERED(tx, of_item=offered.id)
    _INSERT_ASSIGNMENT(
        tx,
        token=token,
        stage_id=stage_id,
        item_id=offered.id,
        worker_id=worker_id,
        group_key=offered.group_key,
        kind=kind.value,
        state=_IS_LIVE,
        leased_at=now,
        expires_at=expires_at,
    )
    _SERVE(tx, of_stage=stage_id, of_worker=worker_id, cursor=offered.cursor)
    return Lease(token, offered.key, offered.payload, expires_at)


class Unanswered(NamedTuple):
    """An assignment that its worker returned or let expire."""

    id: int
    token: str
    kind: str
    item_id: int
    item_key: str
    payload: str
    is_open: bool
    """Whether it expired, and its item still needs judgments or is gold in use."""


def unanswered(tx: Connection, stage_id: int, worker_id: int) -> list[Unanswered]:
    """The items of a stage that a worker returned or let expire, the oldest first."""
    ended = (AssignmentState.RETURNED, AssignmentState.EXPIRED)
    is_gold = exists().where(gold.c.item_id == assignment.c.item_id, gold.c.active)
    is_wanted = case((assignment.c.kind == AssignmentKind.GOLD, is_gold), else_=item.c.state == ItemState.OPEN)
    is_open = and_(assignment.c.state == AssignmentState.EXPIRED, is_wanted)
    query = (
        select(*assignment.c["id", "token", "kind", "item_id"], item.c.key, item.c.payload, is_open)
        .join(item, item.c.id == assignment.c.item_id)
        .where(assignment.c.worker_id == worker_id, assignment.c.stage_id == stage_id, assignment.c.state.in_(ended))
        .order_by(assignment.c.id)
    )
    return [Unanswered._make(row) for row in tx.execute(query)]


def renew(tx: Connection, row: Unanswered, now: int, expires_at: int) -> Lease:
    """Assign an item again to the worker who had it. Take a place of the item first."""
    live = {"state": AssignmentState.LIVE, "leased_at": now, "expires_at": expires_at, "ended_at": None}
    tx.execute(update(assignment).where(assignment.c.id == row.id).values(**live))
    return Lease(row.token, row.item_key, row.payload, expires_at)


def take_place(tx: Connection, item_id: int) -> bool:
    """Take one of an item's places; False if none is left."""
    return bool(_TAKE.changed(tx, of_item=item_id))


class _Counted(NamedTuple):
    """The values that show whether an item needs more judgments before it can be decided."""

    counted: int
    sampled: bool
    state: str


_LEASED: Select[Any] = select(*(assignment.c[name] for name in Assignment._fields))
# The last two columns of an assignment equal the first two of a participation. They are selected once, since the driver
# converts every column of every row.
_WIDTH, _SHARED, _ABOUT = len(Assignment._fields), 2, len(_Counted._fields)
_BY_TOKEN = (
    _LEASED.add_columns(*COLUMNS[_SHARED:], *(item.c[name] for name in _Counted._fields))
    .join(
        participation,
        and_(participation.c.stage_id == assignment.c.stage_id, participation.c.worker_id == assignment.c.worker_id),
    )
    .join(item, item.c.id == assignment.c.item_id)
    .where(assignment.c.token == bindparam("token"))
)
# The statement reads the number of counted judgments of the item, and columns that settling it may change.
_ITEM_ID = Assignment._fields.index("item_id")
_OF_ONE = Scope(worker=Assignment._fields.index("worker_id"), counted=_ITEM_ID, wanting=_ITEM_ID)
_ASSIGNED = Prepared(_BY_TOKEN, _OF_ONE)
_ASSIGNED_BY_SESSION = Prepared(_BY_TOKEN.where(holds(assignment.c.worker_id)), _OF_ONE)


class Assigned(NamedTuple):
    """An assignment with its worker's participation and its item."""

    assignment: Assignment
    record: Participation
    item: _Counted


def needs_more(tx: Connection, held: Assigned, enough: int, enough_if_sampled: int) -> bool:
    """Whether an item stays undecided with one more judgment."""
    counted, sampled, state = held.item
    missing = (enough_if_sampled if sampled else enough) - counted - 1
    if missing <= 0 or state == ItemState.WITHDRAWN:
        return False
    tolerate_judgments(tx, held.assignment.item_id, missing - 1)
    return True


def assigned(tx: Connection, token: str, session: SessionClaim | None = None) -> Assigned | None:
    """The assignment with a token, with its worker's participation and its item.

    The session, if given, must be valid.
    """
    if session is None:
        row = _ASSIGNED.first(tx, token=token)
    else:
        row = _ASSIGNED_BY_SESSION.first(tx, token=token, digest=session.digest, pseudonym=session.pseudonym)
    if row is None:
        return None
    return Assigned(
        Assignment._make(row[:_WIDTH]),
        Participation._make(row[_WIDTH - _SHARED : -_ABOUT]),
        _Counted._make(row[-_ABOUT:]),
    )


_ENDED = (
    update(assignment)
    .where(assignment.c.id == bindparam("of_assignment"))
    .values(state=bindparam("new_state"), ended_at=bindparam("now"))
)
_END = Prepared(_ENDED)
# The stored response identifies the worker.
_END_SUBMITTED = Prepared(_ENDED, Scope())
_GIVE_PLACE = {
    AssignmentKind.PRODUCTION: Prepared(
        update(item).where(item.c.id == bindparam("of_item")).values(taken=item.c.taken - 1)
    ),
    AssignmentKind.GOLD: Prepared(
        update(gold).where(gold.c.item_id == bindparam("of_item")).values(taken=gold.c.taken - 1)
    ),
}


def end_assignment(tx: Connection, row: Assignment, state: AssignmentState, now: int) -> None:
    """End an assignment; unless it was submitted, its place on the item is free again."""
    end = _END_SUBMITTED if state is AssignmentState.SUBMITTED else _END
    end(tx, of_assignment=row.id, new_state=state.value, now=now)
    if state is not AssignmentState.SUBMITTED and row.state == AssignmentState.LIVE and row.kind in _GIVE_PLACE:
        # Gold as well: a skipped item or gold is shown to one more worker.
        _GIVE_PLACE[AssignmentKind(row.kind)](tx, of_item=row.item_id)


def set_expiry(tx: Connection, assignment_id: int, expires_at: int) -> None:
    tx.execute(update(assignment).where(assignment.c.id == assignment_id).values(expires_at=expires_at))


EXPIRED_AT_ONCE = 500
_EXPIRED = Prepared(
    _LEASED.where(assignment.c.state == _LIVE, assignment.c.expires_at <= bindparam("now"))
    # Sorted by an expression: with the plain column, SQLite would scan all assignments in order instead of using the
    # small index of expiring ones.
    .order_by(assignment.c.item_id + literal_column("0"))
    .limit(literal_column(str(EXPIRED_AT_ONCE)))
    .offset(NONE)
)


_NEXT_EXPIRY = Prepared(select(func.min(assignment.c.expires_at)).where(assignment.c.state == _LIVE))


def expired_assignments(tx: Connection, now: int) -> list[Assignment]:
    """Live assignments past their time limit, up to a maximum number, by item."""
    first = _NEXT_EXPIRY.value(tx)
    if first is None or first > now:
        # The usual case: sorting an empty result takes several times as long as this check.
        return []
    return [Assignment._make(row) for row in _EXPIRED.all(tx, now=now)]


_LIVE_BY_STAGE = Prepared(
    select(assignment.c.stage_id, func.count()).where(assignment.c.state == _LIVE).group_by(assignment.c.stage_id)
)


def live_by_stage(tx: Connection) -> dict[int, int]:
    """Number of held items, by stage."""
    return {int(row[0]): int(row[1]) for row in _LIVE_BY_STAGE.all(tx)}
