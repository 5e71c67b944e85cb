"""HITs and their types."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, ScalarSelect, and_, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from chorale.kits.mturk.store.schema import assignment, hit, hit_type
from chorale.store.codec import as_ordered_text, from_text


@dataclass(frozen=True, slots=True)
class HitTypeRow:
    id: int
    name: str
    title: str
    description: str
    keywords: str
    reward: int
    assignment_seconds: int
    approval_seconds: int
    requirements: list[dict[str, Any]]
    notification: dict[str, Any] | None
    notifying: bool


@dataclass(frozen=True, slots=True)
class HitRow:
    """A HIT with its type and the counts of its assignments."""

    id: int
    name: str
    question: str
    annotation: str
    layout: str | None
    most: int
    taken: int
    created_at: int
    expires_at: int
    reviewing: bool
    disposed_at: int | None
    told: str
    policies: str | None
    reviewed_at: int | None
    type: HitTypeRow
    pending: int
    """Accepted but not submitted."""
    unreviewed: int
    """Submitted but not reviewed."""
    completed: int
    """Approved or rejected."""

    @property
    def available(self) -> int:
        return self.most - self.taken

    def status(self, now: int) -> str:
        if self.disposed_at is not None:
            return "Disposed"
        if self.available and self.expires_at > now:
            return "Assignable"
        if self.pending:
            return "Unassignable"
        return "Reviewing" if self.reviewing else "Reviewable"


def _type_row(row: Sequence[Any]) -> HitTypeRow:
    *plain, requirements, notification, notifying = row
    notified = None if notification is None else from_text(notification)
    own: Any = (*plain, from_text(requirements), notified, notifying)
    return HitTypeRow(*own)


def add_type(tx: Connection, name: str, values: dict[str, Any]) -> None:
    """Adds a HIT type unless the name exists."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    tx.execute(upsert(hit_type).values(name=name, notifying=False, **values).on_conflict_do_nothing())


def type_called(tx: Connection, name: str) -> HitTypeRow | None:
    row = tx.execute(select(hit_type).where(hit_type.c.name == name)).first()
    return None if row is None else _type_row(row)


def set_notification(tx: Connection, type_id: int, notification: dict[str, Any] | None, *, active: bool) -> None:
    text = None if notification is None else as_ordered_text(notification)
    tx.execute(update(hit_type).where(hit_type.c.id == type_id).values(notification=text, notifying=active))


def add_hit(tx: Connection, values: dict[str, Any]) -> None:
    tx.execute(insert(hit).values(taken=0, reviewing=False, told="", **values))


_OWN = tuple(column for column in hit.c if column.name != "type_id")


def _counted(*states: str) -> ScalarSelect[int]:
    """A subquery: the number of assignments in these states, for each HIT of the query."""
    return (
        select(func.count())
        .select_from(assignment)
        .where(assignment.c.hit_id == hit.c.id, assignment.c.state.in_(states))
        .correlate(hit)
        .scalar_subquery()
    )


_QUERY = select(*_OWN, *hit_type.c, _counted("accepted"), _counted("submitted"), _counted("approved", "rejected")).join(
    hit_type, hit_type.c.id == hit.c.type_id
)


def _hit_row(row: Sequence[Any]) -> HitRow:
    own, counts = len(_OWN), 3
    whole: Any = (*row[:own], _type_row(row[own:-counts]), *(int(count) for count in row[-counts:]))
    return HitRow(*whole)


def hit_called(tx: Connection, name: str, *, lock: bool = False) -> HitRow | None:
    if lock:
        # Separate from the query with the counts, which would also lock the counted rows.
        tx.execute(select(hit.c.id).where(hit.c.name == name).with_for_update(key_share=True))
    row = tx.execute(_QUERY.where(hit.c.name == name)).first()
    return None if row is None else _hit_row(row)


def hit_numbered(tx: Connection, hit_id: int) -> HitRow:
    return _hit_row(tx.execute(_QUERY.where(hit.c.id == hit_id)).one())


def hits_numbered(tx: Connection, numbers: Sequence[int]) -> dict[int, HitRow]:
    """Several HITs by number."""
    return {row.id: row for row in map(_hit_row, tx.execute(_QUERY.where(hit.c.id.in_(numbers))))}


def newest_hits(
    tx: Connection,
    limit: int,
    before: int | None,
    *,
    now: int,
    reviewing: bool | None = None,
    type_name: str | None = None,
    requiring: str | None = None,
) -> list[HitRow]:
    """HITs that are not deleted, newest first: all, those to review, or those that require a qualification."""
    query = _QUERY.where(hit.c.disposed_at.is_(None)).order_by(hit.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(hit.c.id < before)
    if reviewing is not None:
        over = or_(hit.c.taken >= hit.c.most, hit.c.expires_at <= now)
        query = query.where(over, hit.c.reviewing.is_(reviewing), _counted("accepted") == 0)
    if type_name is not None:
        query = query.where(hit_type.c.name == type_name)
    if requiring is not None:
        query = query.where(_requires(requiring))
    return [_hit_row(row) for row in tx.execute(query)]


def _requires(qualification: str) -> ColumnElement[bool]:
    """Whether any HIT type requires a qualification type, given by ID."""
    return hit_type.c.requirements.contains(f'"{qualification}"', autoescape=True)


def is_required(tx: Connection, qualification: str) -> bool:
    return tx.execute(select(hit_type.c.id).where(_requires(qualification)).limit(1)).first() is not None


def expire_requiring(tx: Connection, qualification: str, now: int) -> int:
    """Expires available HITs that require a qualification, and returns their number."""
    kinds = select(hit_type.c.id).where(_requires(qualification))
    on_offer = and_(hit.c.type_id.in_(kinds), hit.c.disposed_at.is_(None), hit.c.taken < hit.c.most)
    return int(tx.execute(update(hit).where(on_offer, hit.c.expires_at > now).values(expires_at=now)).rowcount)


def type_names(tx: Connection) -> Sequence[str]:
    """Names of all types, newest first."""
    return tx.execute(select(hit_type.c.name).order_by(hit_type.c.id.desc())).scalars().all()


@dataclass(frozen=True, slots=True)
class Offered:
    """Available HITs of one type."""

    type: HitTypeRow
    count: int
    first: str
    """Name of the oldest HIT."""
    question: str
    """Question of the oldest HIT."""


def _open_to(worker_id: int, now: int) -> ColumnElement[bool]:
    theirs = (
        select(assignment.c.id)
        .where(
            assignment.c.hit_id == hit.c.id,
            assignment.c.worker_id == worker_id,
            assignment.c.state.not_in(("returned", "abandoned")),
        )
        .exists()
    )
    return and_(hit.c.disposed_at.is_(None), hit.c.taken < hit.c.most, hit.c.expires_at > now, ~theirs)


def offered_to(tx: Connection, worker_id: int, now: int) -> list[Offered]:
    """Available HITs for a worker by type, highest reward first. Qualifications are not checked."""
    query = (
        select(*hit_type.c, func.count(), func.min(hit.c.id))
        .join(hit, hit.c.type_id == hit_type.c.id)
        .where(_open_to(worker_id, now))
        .group_by(hit_type.c.id)
        .order_by(hit_type.c.reward.desc(), hit_type.c.id)
    )
    offered = [(_type_row(row[:-2]), int(row[-2]), int(row[-1])) for row in tx.execute(query)]
    first_ones = select(hit.c.id, hit.c.name, hit.c.question).where(hit.c.id.in_([first for *_, first in offered]))
    oldest = {int(number): (str(name), str(question)) for number, name, question in tx.execute(first_ones)}
    return [Offered(kind, count, *oldest[first]) for kind, count, first in offered]


def next_of_type(tx: Connection, type_name: str, worker_id: int, now: int) -> str | None:
    """The oldest HIT of a type that is available to a worker."""
    query = (
        select(hit.c.name)
        .join(hit_type, hit_type.c.id == hit.c.type_id)
        .where(hit_type.c.name == type_name, _open_to(worker_id, now))
        .order_by(hit.c.id)
        .limit(1)
    )
    return tx.execute(query).scalar()


def change_hit(tx: Connection, hit_id: int, **values: Any) -> None:
    tx.execute(update(hit).where(hit.c.id == hit_id).values(values))


def take_place(tx: Connection, hit_id: int, now: int) -> bool:
    """Takes a place of a HIT. False if none is free."""
    free = and_(hit.c.taken < hit.c.most, hit.c.expires_at > now, hit.c.disposed_at.is_(None))
    return bool(tx.execute(update(hit).where(hit.c.id == hit_id, free).values(taken=hit.c.taken + 1)).rowcount)


def give_place(tx: Connection, hit_id: int) -> None:
    tx.execute(update(hit).where(hit.c.id == hit_id).values(taken=hit.c.taken - 1))


def promised(tx: Connection, now: int) -> tuple[int, int]:
    """Maximum remaining cost of HITs before fees, with the number of payments, from free and unreviewed places."""
    open_places = (
        select(
            func.coalesce(func.sum((hit.c.most - hit.c.taken) * hit_type.c.reward), 0),
            func.coalesce(func.sum(hit.c.most - hit.c.taken), 0),
        )
        .join(hit_type, hit_type.c.id == hit.c.type_id)
        .where(hit.c.disposed_at.is_(None), hit.c.expires_at > now)
    )
    in_work = select(func.coalesce(func.sum(assignment.c.reward), 0), func.count()).where(
        assignment.c.state.in_(("accepted", "submitted"))
    )
    sums = [tx.execute(query).one() for query in (open_places, in_work)]
    return sum(int(row[0]) for row in sums), sum(int(row[1]) for row in sums)


def to_review(tx: Connection, now: int, limit: int) -> list[HitRow]:
    """Completed HITs whose review policies have not run yet."""
    over = or_(hit.c.taken >= hit.c.most, hit.c.expires_at <= now)
    query = _QUERY.where(
        hit.c.policies.is_not(None), hit.c.reviewed_at.is_(None), hit.c.disposed_at.is_(None), over
    ).where(_counted("accepted") == 0)
    return [_hit_row(row) for row in tx.execute(query.order_by(hit.c.id).limit(limit))]


def untold(tx: Connection, now: int) -> list[HitRow]:
    """Ended HITs without a notification."""
    kinds = tx.execute(select(hit_type.c.id).where(hit_type.c.notifying)).scalars().all()
    if not kinds:
        return []
    query = (
        _QUERY.where(hit.c.type_id.in_(kinds), hit.c.disposed_at.is_(None), hit.c.told != "expired,reviewable")
        .where(or_(hit.c.expires_at <= now, hit.c.taken >= hit.c.most))
        .limit(200)
    )
    return [_hit_row(row) for row in tx.execute(query)]


def miscounted(tx: Connection) -> list[tuple[str, int, int]]:
    """HITs whose number of taken places differs from their assignments: name, places, assignments."""
    holding = _counted("accepted", "submitted", "approved", "rejected")
    query = select(hit.c.name, hit.c.taken, holding).where(holding != hit.c.taken).order_by(hit.c.id)
    return [(str(name), int(taken), int(counted)) for name, taken, counted in tx.execute(query)]
