"""HITs in addition to a study's items: their tables, remaining cost, and submitters."""

from collections import Counter
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, text, update
from sqlalchemy.schema import CreateIndex, CreateTable

from chorale.engine.forgetting import UNSCRUBBED
from chorale.engine.parts import WorkPart
from chorale.kits.mturk.market.stage import TASK
from chorale.kits.mturk.market.working import give_back_all, work_beside
from chorale.kits.mturk.store import old_workers
from chorale.kits.mturk.store.hits import promised
from chorale.kits.mturk.store.schema import assignment, block, bonus, metadata, old_worker, qualification_request
from chorale.store import participations
from chorale.store.erased import ERASED_TEXT
from chorale.store.erasing import erase_reasons
from chorale.store.kit_tables import KitTables
from chorale.store.remaining import WorkLeft
from chorale.store.schema import entry, erasure, participation, stage
from chorale.store.settings import set_setting

# HITs are not items of their stage, and their answers are not responses.
_DID_HITS = and_(
    participation.c.stage_id.in_(select(stage.c.id).where(stage.c.task == TASK)),
    participation.c.worker_id.in_(select(assignment.c.worker_id).where(assignment.c.submitted_at.is_not(None))),
)


_WITH_REASON = ("assignment rejected", "rejection withdrawn", "blocked", "unblocked")
"""Events with a reason written by a requester."""
_TEXTS = (
    (assignment, "feedback", ""),
    (bonus, "reason", ERASED_TEXT),
    (block, "reason", ERASED_TEXT),
    (qualification_request, "reason", ""),
)


def _erase(tx: Connection, worker_id: int) -> int:
    tx.execute(update(qualification_request).where(qualification_request.c.worker_id == worker_id).values(answer=""))
    own = assignment.c.worker_id == worker_id
    return int(tx.execute(update(assignment).where(own).values(answer="")).rowcount)


def _erase_texts(tx: Connection, worker_id: int) -> int:
    """Erases texts of requesters about a worker, including those in the ledger and events."""
    changed = erase_reasons(tx, worker_id, _WITH_REASON)
    for table, column, new in _TEXTS:
        written = and_(table.c.worker_id == worker_id, table.c[column].not_in(("", ERASED_TEXT)))
        changed += int(tx.execute(update(table).where(written).values({column: new})).rowcount)
    own = and_(entry.c.worker_id == worker_id, entry.c.cause.like("mturk:bonus:%"))
    tx.execute(update(entry).where(own).values(reason=ERASED_TEXT))
    return changed


_HAS_ANSWER = func.coalesce(assignment.c.answer, "") != ""


def _work_left(tx: Connection) -> dict[int, WorkLeft]:
    query = select(
        assignment.c.worker_id,
        func.max(func.coalesce(assignment.c.submitted_at, assignment.c.accepted_at)),
        func.count().filter(_HAS_ANSWER),
    )
    return {number: WorkLeft(at, answers) for number, at, answers in tx.execute(query.group_by(assignment.c.worker_id))}


def _personal_data(tx: Connection, worker_id: int) -> dict[str, Any]:
    """HITs, qualification requests, bonuses and the worker's old ID, as stored."""
    tables = {
        "hits": (assignment, ("name", "state", "accepted_at", "submitted_at", "answer", "feedback", "reward")),
        "qualification_requests": (qualification_request, ("name", "state", "at", "answer", "reason")),
        "hit_bonuses": (bonus, ("amount", "reason", "at")),
        "blocks": (block, ("reason", "at")),
        "mturk_ids": (old_worker, ("old_id",)),
    }
    return {
        name: [
            dict(row) for row in tx.execute(select(*table.c[columns]).where(table.c.worker_id == worker_id)).mappings()
        ]
        for name, (table, columns) in tables.items()
    }


def _add_old_workers(tx: Connection) -> None:
    tx.execute(CreateTable(old_worker))
    for index in old_worker.indexes:
        tx.execute(CreateIndex(index))


def _erase_old_ids(tx: Connection) -> None:
    """Erases old IDs of workers who were erased with their answers kept. Earlier versions did not erase these IDs."""
    erased = select(erasure.c.worker_id).where(erasure.c.identity)
    if tx.execute(delete(old_worker).where(old_worker.c.worker_id.in_(erased))).rowcount:
        set_setting(tx, UNSCRUBBED, "yes")


def _measure_time(tx: Connection) -> None:
    """Computes the time of assignments from stored times, and adds it to the workers' records."""
    tx.execute(text("ALTER TABLE mturk_assignment ADD COLUMN worked_ms BIGINT"))
    tx.execute(text("CREATE INDEX ix_mturk_assignment_submitted ON mturk_assignment (worker_id, submitted_at)"))
    first = tx.execute(select(stage.c.id).where(stage.c.task == TASK).order_by(stage.c.position).limit(1)).scalar()
    query = select(*assignment.c["id", "worker_id", "state", "accepted_at", "submitted_at"])
    last: dict[int, int] = {}
    reviewed: Counter[int] = Counter()
    for row in tx.execute(query.where(assignment.c.submitted_at.is_not(None)).order_by("submitted_at", "id")).all():
        worked = max(0, row.submitted_at - max(row.accepted_at, last.get(row.worker_id, 0)))
        last[row.worker_id] = row.submitted_at
        tx.execute(update(assignment).where(assignment.c.id == row.id).values(worked_ms=worked))
        if row.state != "submitted":
            reviewed[row.worker_id] += worked
    for worker_id, worked in reviewed.items():
        if first is not None:
            participations.add_time(tx, first, worker_id, worked)


WORK = WorkPart(
    KitTables(metadata, (_add_old_workers, _measure_time, _erase_old_ids), (old_worker,)),
    promised,
    (_DID_HITS,),
    work_beside,
    _erase,
    old_workers.forget,
    _erase_texts,
    give_back_all,
    _work_left,
    _personal_data,
)
