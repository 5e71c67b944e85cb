"""Assignments of HITs, and the bonuses on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, insert, literal_column, or_, select, update

from chorale.kits.mturk.store.schema import assignment, bonus, hit
from chorale.store.schema import worker


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    id: int
    name: str
    hit_id: int
    worker_id: int
    state: str
    accepted_at: int
    deadline: int
    submitted_at: int | None
    approve_at: int | None
    approved_at: int | None
    rejected_at: int | None
    answer: str | None
    feedback: str | None
    reward: int
    worked_ms: int | None
    hit: str
    pseudonym: str


_QUERY: Select[Any] = (
    select(*assignment.c, hit.c.name.label("hit"), worker.c.pseudonym)
    .join(hit, hit.c.id == assignment.c.hit_id)
    .join(worker, worker.c.id == assignment.c.worker_id)
)


def add_assignment(
    tx: Connection, name: str, hit_id: int, worker_id: int, now: int, deadline: int, reward: int
) -> None:
    tx.execute(
        insert(assignment).values(
            name=name,
            hit_id=hit_id,
            worker_id=worker_id,
            state="accepted",
            accepted_at=now,
            deadline=deadline,
            reward=reward,
        )
    )


def assignment_called(tx: Connection, name: str, *, lock: bool = False) -> AssignmentRow | None:
    query = _QUERY.where(assignment.c.name == name)
    row = tx.execute(query.with_for_update(of=assignment, key_share=True) if lock else query).first()
    return None if row is None else AssignmentRow(*row)


def held_by(tx: Connection, worker_id: int) -> list[AssignmentRow]:
    """Accepted assignments of a worker that are not finished."""
    query = _QUERY.where(assignment.c.worker_id == worker_id, assignment.c.state == "accepted")
    return [AssignmentRow(*row) for row in tx.execute(query.order_by(assignment.c.id))]


def of_worker(tx: Connection, hit_id: int, worker_id: int) -> AssignmentRow | None:
    """A worker's assignment of a HIT, unless returned or abandoned."""
    query = _QUERY.where(
        assignment.c.hit_id == hit_id,
        assignment.c.worker_id == worker_id,
        assignment.c.state.not_in(("returned", "abandoned")),
    )
    row = tx.execute(query).first()
    return None if row is None else AssignmentRow(*row)


def of_hit(
    tx: Connection, hit_id: int, states: Sequence[str], limit: int, after: int | None = None
) -> list[AssignmentRow]:
    query = _QUERY.where(assignment.c.hit_id == hit_id, assignment.c.state.in_(states))
    if after is not None:
        query = query.where(assignment.c.id > after)
    return [AssignmentRow(*row) for row in tx.execute(query.order_by(assignment.c.id).limit(limit))]


def waiting(tx: Connection, limit: int, after: int | None = None, *, hit_id: int | None = None) -> list[AssignmentRow]:
    """Submitted assignments that are not reviewed, of one HIT or all, oldest first."""
    query = _QUERY.where(assignment.c.state == "submitted").order_by(assignment.c.id).limit(limit)
    if after is not None:
        query = query.where(assignment.c.id > after)
    if hit_id is not None:
        query = query.where(assignment.c.hit_id == hit_id)
    return [AssignmentRow(*row) for row in tx.execute(query)]


def count_waiting(tx: Connection) -> int:
    query = select(func.count()).select_from(assignment).where(assignment.c.state == "submitted")
    return int(tx.execute(query).scalar_one())


def bonuses_on(tx: Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Bonuses by assignment number."""
    query = select(bonus.c.assignment_id, func.sum(bonus.c.amount)).where(bonus.c.assignment_id.in_(numbers))
    return {int(number): int(paid) for number, paid in tx.execute(query.group_by(bonus.c.assignment_id))}


def all_finished(tx: Connection) -> list[AssignmentRow]:
    """All submitted assignments, ordered by time of acceptance."""
    query = _QUERY.where(assignment.c.state.in_(("submitted", "approved", "rejected"))).order_by(assignment.c.id)
    return [AssignmentRow(*row) for row in tx.execute(query)]


def time_by_worker(tx: Connection) -> list[tuple[str, int]]:
    """Total time of reviewed assignments, by pseudonym."""
    query = (
        select(worker.c.pseudonym, func.sum(assignment.c.worked_ms))
        .join(worker, worker.c.id == assignment.c.worker_id)
        .where(assignment.c.state.in_(("approved", "rejected")), assignment.c.worked_ms.is_not(None))
        .group_by(worker.c.pseudonym)
    )
    return [(str(name), int(worked)) for name, worked in tx.execute(query)]


def impossible_times(tx: Connection) -> list[tuple[str, int, int]]:
    """Assignments with a negative time, or a longer time than they were held: name, time worked, time held, in ms."""
    held = assignment.c.submitted_at - assignment.c.accepted_at
    wrong = or_(assignment.c.worked_ms < 0, and_(held >= 0, assignment.c.worked_ms > held))
    query = select(assignment.c.name, assignment.c.worked_ms, held).where(wrong).order_by(assignment.c.id)
    return [(str(name), int(worked), int(longest)) for name, worked, longest in tx.execute(query)]


def last_submission(tx: Connection, worker_id: int) -> int:
    """Time of a worker's last submission; 0 if never."""
    query = select(func.max(assignment.c.submitted_at)).where(assignment.c.worker_id == worker_id)
    return int(tx.execute(query).scalar() or 0)


def paid_and_worked(tx: Connection, types: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Earnings (including bonuses) and time of reviewed assignments: a pair per worker, by type."""
    reviewed = and_(assignment.c.state.in_(("approved", "rejected")), hit.c.type_id.in_(types))
    grouped = (hit.c.type_id, assignment.c.worker_id)
    earned = func.sum(case((assignment.c.state == "approved", assignment.c.reward), else_=0))
    work = select(*grouped, earned, func.sum(func.coalesce(assignment.c.worked_ms, 0)))
    more = select(*grouped, func.sum(bonus.c.amount), literal_column("0")).join(
        bonus, bonus.c.assignment_id == assignment.c.id
    )
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for query in (work, more):
        totals = query.join(hit, hit.c.id == assignment.c.hit_id).where(reviewed).group_by(*grouped)
        for kind, worker_id, paid, worked in tx.execute(totals):
            before = sums.get((kind, worker_id), (0, 0))
            sums[kind, worker_id] = before[0] + int(paid), before[1] + int(worked)
    pairs: dict[int, list[tuple[int, int]]] = {}
    for (kind, _), pair in sums.items():
        pairs.setdefault(kind, []).append(pair)
    return pairs


def change(tx: Connection, assignment_id: int, **values: Any) -> None:
    tx.execute(update(assignment).where(assignment.c.id == assignment_id).values(values))


def overdue(tx: Connection, now: int, limit: int) -> list[AssignmentRow]:
    """Accepted assignments past their time limit."""
    query = _QUERY.where(assignment.c.state == "accepted", assignment.c.deadline <= now).limit(limit)
    return [AssignmentRow(*row) for row in tx.execute(query.with_for_update(of=assignment, skip_locked=True))]


def to_approve(tx: Connection, now: int, limit: int) -> list[AssignmentRow]:
    """Submitted assignments that are due for automatic approval."""
    query = _QUERY.where(assignment.c.state == "submitted", assignment.c.approve_at <= now).limit(limit)
    return [AssignmentRow(*row) for row in tx.execute(query.with_for_update(of=assignment, skip_locked=True))]


def done_since(tx: Connection, worker_id: int, since: int) -> int:
    """Number of assignments a worker has submitted since a time, without rejected ones."""
    query = select(func.count()).where(
        assignment.c.worker_id == worker_id,
        assignment.c.state.in_(("submitted", "approved")),
        assignment.c.submitted_at >= since,
    )
    return int(tx.execute(query).scalar_one())


def track_record(tx: Connection, worker_id: int) -> tuple[int, int]:
    """Number of approved and rejected assignments of a worker."""
    query = select(assignment.c.state, func.count()).where(assignment.c.worker_id == worker_id)
    counts = {row[0]: int(row[1]) for row in tx.execute(query.group_by(assignment.c.state))}
    return counts.get("approved", 0), counts.get("rejected", 0)


def approved_pay(tx: Connection) -> list[tuple[str, int, int]]:
    """All earnings from assignments and bonuses (pseudonym, time, amount), in booking order."""
    earned = (
        select(worker.c.pseudonym, assignment.c.approved_at, assignment.c.reward)
        .join(worker, worker.c.id == assignment.c.worker_id)
        .where(assignment.c.state == "approved", assignment.c.reward > 0)
    )
    given = select(worker.c.pseudonym, bonus.c.at, bonus.c.amount).join(worker, worker.c.id == bonus.c.worker_id)
    rows = [(str(row[0]), int(row[1]), int(row[2])) for query in (earned, given) for row in tx.execute(query)]
    return sorted(rows, key=lambda row: row[1])


@dataclass(frozen=True, slots=True)
class BonusRow:
    id: int
    pseudonym: str
    amount: int
    assignment: str
    reason: str
    at: int


def add_bonus(tx: Connection, assignment_id: int, worker_id: int, amount: int, reason: str, now: int) -> int:
    made = insert(bonus).values(assignment_id=assignment_id, worker_id=worker_id, amount=amount, reason=reason, at=now)
    return int(tx.execute(made.returning(bonus.c.id)).scalar_one())


def bonuses(
    tx: Connection, limit: int, after: int | None, *, hit_name: str | None, assignment_name: str | None
) -> list[BonusRow]:
    query = (
        select(bonus.c.id, worker.c.pseudonym, bonus.c.amount, assignment.c.name, bonus.c.reason, bonus.c.at)
        .join(assignment, assignment.c.id == bonus.c.assignment_id)
        .join(hit, hit.c.id == assignment.c.hit_id)
        .join(worker, worker.c.id == bonus.c.worker_id)
    )
    if hit_name is not None:
        query = query.where(hit.c.name == hit_name)
    if assignment_name is not None:
        query = query.where(assignment.c.name == assignment_name)
    if after is not None:
        query = query.where(bonus.c.id > after)
    return [BonusRow(*row) for row in tx.execute(query.order_by(bonus.c.id).limit(limit))]
