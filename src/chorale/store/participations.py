"""Workers in stages: their status, answers and earnings."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, exists, func, literal_column, select, update

from chorale.model import GoldRecord, Participation, Standing
from chorale.store.credentials import CREDENTIALS, Credentials, as_credentials
from chorale.store.gold_supply import replace_on_gold
from chorale.store.prepared import ONE, InsertIfNew, Prepared, Scope
from chorale.store.schema import assignment, participation, stage, worker
from chorale.store.sessions import SessionClaim, holds

COLUMNS = tuple(participation.c[name] for name in Participation._fields)

_BY_KEY: Select[Any] = select(*COLUMNS).where(
    participation.c.worker_id == bindparam("worker_id"), participation.c.stage_id == bindparam("stage_id")
)
_PARTICIPATION = Prepared(_BY_KEY)
_PARTICIPATION_LOCKED = Prepared(_BY_KEY.with_for_update(key_share=True))


def participation_of(tx: Connection, stage_id: int, worker_id: int, *, lock: bool = False) -> Participation | None:
    query = _PARTICIPATION_LOCKED if lock else _PARTICIPATION
    row = query.first(tx, stage_id=stage_id, worker_id=worker_id)
    return None if row is None else Participation._make(row)


class Attendance(NamedTuple):
    """A worker in a stage they have entered, with everything that decides whether they get an item."""

    standing: str
    seed: int
    served: int
    answered: int
    earned: int
    item_cursor: int
    skipped: int
    removed_after: int
    stage_state: str
    pseudonym: str
    consent_version: int | None
    holds_item: bool
    """Whether they hold an item."""
    credentials: Credentials


_HOLDS_ITEM = exists().where(
    assignment.c.worker_id == participation.c.worker_id,
    assignment.c.stage_id == participation.c.stage_id,
    assignment.c.state == literal_column("'live'"),
)
_ATTENDED: Select[Any] = (
    select(
        *participation.c["standing", "seed", "served", "answered", "earned", "item_cursor", "skipped", "removed_after"],
        stage.c.state,
        worker.c.pseudonym,
        worker.c.consent_version,
        _HOLDS_ITEM,
        *CREDENTIALS,
    )
    .select_from(participation)
    .join(worker, worker.c.id == participation.c.worker_id)
    .join(stage, stage.c.id == participation.c.stage_id)
    .where(participation.c.stage_id == bindparam("stage_id"), participation.c.worker_id == bindparam("worker_id"))
)
_OF_ONE = Scope(worker="worker_id")
_ATTENDANCE = Prepared(_ATTENDED, _OF_ONE)
_ATTENDANCE_BY_SESSION = Prepared(_ATTENDED.where(holds(participation.c.worker_id)), _OF_ONE)


def attendance(
    tx: Connection, stage_id: int, worker_id: int, *, session: SessionClaim | None = None
) -> Attendance | None:
    """A worker's attendance; None if they have not entered the stage, or the given session is invalid."""
    if session is None:
        row = _ATTENDANCE.first(tx, stage_id=stage_id, worker_id=worker_id)
    else:
        claimed = {"digest": session.digest, "pseudonym": session.pseudonym}
        row = _ATTENDANCE_BY_SESSION.first(tx, stage_id=stage_id, worker_id=worker_id, **claimed)
    if row is None:
        return None
    credentials = as_credentials(*row[-len(CREDENTIALS) :])
    return Attendance._make((*row[: -len(CREDENTIALS)], credentials))


_NOTHING_YET: dict[str, Any] = dict.fromkeys(
    (
        *("served", "answered", "gold_answered", "gold_right", "earned", "fees", "exact_fees"),
        *("worked_ms", "changes", "settled", "skipped"),
    ),
    0,
)
_ENTER = InsertIfNew(
    participation,
    *("stage_id", "worker_id", "seed", "entered_at"),
    standing=Standing.ACTIVE.value,
    gold_recent="",
    item_cursor=-1,
    **_NOTHING_YET,
)


def enter(tx: Connection, stage_id: int, worker_id: int, seed: int, now: int) -> bool:
    """Enter a worker into a stage; False if another of their tabs was first."""
    return bool(_ENTER.changed(tx, stage_id=stage_id, worker_id=worker_id, seed=seed, entered_at=now))


_OF_WORKER = and_(
    participation.c.stage_id == bindparam("of_stage"), participation.c.worker_id == bindparam("of_worker")
)
_COUNT_ANSWER = Prepared(
    update(participation)
    .where(_OF_WORKER)
    .values(
        answered=participation.c.answered + ONE,
        earned=participation.c.earned + bindparam("more_earned"),
        fees=participation.c.fees + bindparam("more_fees"),
        exact_fees=participation.c.exact_fees + bindparam("more_exact_fees"),
        worked_ms=participation.c.worked_ms + bindparam("more_ms"),
    ),
    Scope(worker="of_worker"),
)


def count_answer(
    tx: Connection, stage_id: int, worker_id: int, *, earned: int, fees: int, exact_fees: int, worked_ms: int
) -> None:
    """Add an answer to a worker's record."""
    _COUNT_ANSWER(
        tx,
        of_stage=stage_id,
        of_worker=worker_id,
        more_earned=earned,
        more_fees=fees,
        more_exact_fees=exact_fees,
        more_ms=worked_ms,
    )


_COUNT_SKIP = Prepared(update(participation).where(_OF_WORKER).values(skipped=participation.c.skipped + ONE))


def count_skip(tx: Connection, stage_id: int, worker_id: int) -> None:
    """Add an item that a worker skipped or let expire to their record."""
    _COUNT_SKIP(tx, of_stage=stage_id, of_worker=worker_id)


_UNCOUNT_SKIP = Prepared(
    update(participation)
    .where(_OF_WORKER, participation.c.skipped > literal_column("0"))
    .values(skipped=participation.c.skipped - ONE)
)


def uncount_skip(tx: Connection, stage_id: int, worker_id: int) -> None:
    """Remove a skip from a worker's record, because they have the item again."""
    _UNCOUNT_SKIP(tx, of_stage=stage_id, of_worker=worker_id)


_NOTE_GOLD = Prepared(
    update(participation)
    .where(_OF_WORKER)
    .values(
        gold_answered=bindparam("new_answered"),
        gold_right=bindparam("new_right"),
        gold_recent=bindparam("new_recent"),
        standing=bindparam("new_standing"),
        removed_after=bindparam("new_removed_after"),
        changes=participation.c.changes + bindparam("more_changes"),
    ),
    Scope(worker="of_worker", trust="of_worker"),
)


def note_gold(
    tx: Connection,
    stage_id: int,
    worker_id: int,
    gold: GoldRecord,
    standing: Standing,
    removed_after: int,
    *,
    trust_changed: bool,
) -> None:
    """Store a worker's record and status after an answer to gold.

    If their trust changed, mark their labels for an update.
    """
    _NOTE_GOLD(
        tx,
        of_stage=stage_id,
        of_worker=worker_id,
        new_answered=gold.answered,
        new_right=gold.right,
        new_recent=gold.recent,
        new_standing=standing.value,
        new_removed_after=removed_after,
        more_changes=1 if trust_changed else 0,
    )


def end_grace(tx: Connection, before: int) -> int:
    """End the grace period of removed workers who have not requested an item since; returns how many."""
    waits = and_(
        participation.c.standing == literal_column("'dropped'"),
        participation.c.answered < participation.c.removed_after,
    )
    asked = exists().where(
        assignment.c.worker_id == participation.c.worker_id,
        assignment.c.stage_id == participation.c.stage_id,
        assignment.c.leased_at >= before,
    )
    return int(tx.execute(update(participation).where(waits, ~asked).values(removed_after=0)).rowcount)


def active_workers(tx: Connection, stage_id: int) -> set[int]:
    """Workers whose answers count."""
    query = select(participation.c.worker_id).where(
        participation.c.stage_id == stage_id, participation.c.standing == Standing.ACTIVE
    )
    return set(tx.execute(query).scalars())


class Unfinished(NamedTuple):
    worker_id: int
    pseudonym: str
    answered: int


def in_the_middle(tx: Connection, stage_id: int, size: int, *, lock: bool = False) -> list[Unfinished]:
    """Workers who have entered a round of this length but not finished it, with or without answers; locked."""
    query = (
        select(participation.c.worker_id, worker.c.pseudonym, participation.c.answered)
        .join(worker, worker.c.id == participation.c.worker_id)
        .where(participation.c.stage_id == stage_id, participation.c.answered < size)
        .order_by(participation.c.worker_id)
    )
    if lock:
        query = query.with_for_update(of=participation, key_share=True)
    return [Unfinished._make(row) for row in tx.execute(query)]


def drop(tx: Connection, stage_id: int, worker_id: int, removed_after: int = 0) -> bool:
    """Remove a worker from a stage, and mark their labels for an update. False if they were already removed.

    Gold that they answered is shown to somebody else. `removed_after`: see `Participation`.
    """
    changed = tx.execute(
        update(participation)
        .where(
            participation.c.stage_id == stage_id,
            participation.c.worker_id == worker_id,
            participation.c.standing == Standing.ACTIVE,
        )
        .values(standing=Standing.DROPPED.value, removed_after=removed_after, changes=participation.c.changes + 1)
    )
    if changed.rowcount:
        replace_on_gold(tx, stage_id, worker_id)
    return bool(changed.rowcount)


_ADD_EARNINGS = Prepared(
    update(participation)
    .where(_OF_WORKER)
    .values(
        earned=participation.c.earned + bindparam("more_earned"),
        fees=participation.c.fees + bindparam("more_fees"),
        exact_fees=participation.c.exact_fees + bindparam("more_exact_fees"),
    )
)


def add_earnings(tx: Connection, stage_id: int, worker_id: int, earned: int, fees: int, exact_fees: int) -> None:
    """Add earnings other than for an answer to a worker's record."""
    _ADD_EARNINGS(
        tx, of_stage=stage_id, of_worker=worker_id, more_earned=earned, more_fees=fees, more_exact_fees=exact_fees
    )


_ADD_TIME = Prepared(
    update(participation).where(_OF_WORKER).values(worked_ms=participation.c.worked_ms + bindparam("more_ms"))
)


def add_time(tx: Connection, stage_id: int, worker_id: int, worked_ms: int) -> None:
    """Add time other than for an answer to a worker's record."""
    _ADD_TIME(tx, of_stage=stage_id, of_worker=worker_id, more_ms=worked_ms)


_SPENT = Prepared(select(func.coalesce(func.sum(participation.c.earned + participation.c.fees), 0)))


def spent(tx: Connection) -> int:
    """The cost of the study so far, including fees."""
    return int(_SPENT.value(tx))


_ANSWERS = Prepared(select(func.coalesce(func.sum(participation.c.answered), 0)))


def answers(tx: Connection) -> int:
    """The number of answers so far, of all kinds."""
    return int(_ANSWERS.value(tx))


@dataclass(frozen=True, slots=True)
class ParticipationSummary:
    """A worker in a stage."""

    stage: str
    worker: str
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    fees: int
    worked_ms: int
    entered_at: int


def participation_summaries(
    tx: Connection, *, stage_name: str | None = None, pseudonym: str | None = None
) -> list[ParticipationSummary]:
    query: Select[Any] = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            *participation.c[
                "standing",
                "answered",
                "gold_answered",
                "gold_right",
                "gold_recent",
                "earned",
                "fees",
                "worked_ms",
                "entered_at",
            ],
        )
        .join(stage, stage.c.id == participation.c.stage_id)
        .join(worker, worker.c.id == participation.c.worker_id)
        .order_by(stage.c.position, participation.c.entered_at, worker.c.pseudonym)
    )
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    return [ParticipationSummary(*row) for row in tx.execute(query)]
