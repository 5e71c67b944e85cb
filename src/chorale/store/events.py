"""The append-only log of decisions and their evidence."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import to_json
from sqlalchemy import Connection, bindparam, func, select

from chorale.model import Event
from chorale.store.codec import from_text
from chorale.store.prepared import PreparedInsert, Scope
from chorale.store.schema import event, item, response, stage, worker

_INSERT = PreparedInsert(event, "at", "kind", "stage_id", "worker_id", "item_id", "evidence", scope=Scope())


def _as_text(evidence: dict[str, Any]) -> str:
    # Most answers write one event; the standard library's encoder takes three times as long.
    return to_json(evidence).decode()


def record(
    tx: Connection,
    at: int,
    kind: str,
    evidence: dict[str, Any],
    *,
    stage_id: int | None = None,
    worker_id: int | None = None,
    item_id: int | None = None,
) -> None:
    _INSERT(tx, at=at, kind=kind, stage_id=stage_id, worker_id=worker_id, item_id=item_id, evidence=_as_text(evidence))


def record_many(
    tx: Connection, at: int, happened: Iterable[tuple[str, dict[str, Any], int | None, int | None]]
) -> None:
    """Record many events at once: the kind of each, its evidence, its stage and its item."""
    rows = ((at, kind, stage_id, None, item_id, _as_text(evidence)) for kind, evidence, stage_id, item_id in happened)
    _INSERT.rows(tx, rows)


def latest(tx: Connection) -> int:
    """The number of the newest event; 0 if there is none."""
    return tx.execute(select(func.max(event.c.id))).scalar() or 0


def latest_moment(tx: Connection) -> int:
    """The latest time among recent events; 0 if there are none."""
    newest = [
        select(func.max(select(moment).order_by(number.desc()).limit(1_000).subquery().c[moment.name]))
        for number, moment in ((event.c.id, event.c.at), (response.c.id, response.c.submitted_at))
    ]
    return max(tx.execute(query).scalar() or 0 for query in newest)


def earliest_since(tx: Connection, event_id: int) -> int:
    """The earliest time among an event and all later ones; before the event's own time if the clock was set back."""
    return int(tx.execute(select(func.min(event.c.at)).where(event.c.id >= event_id)).scalar_one())


_SELECT = (
    select(
        *event.c["id", "at", "kind"],
        stage.c.name.label("stage"),
        worker.c.pseudonym.label("worker"),
        item.c.key.label("item"),
        event.c.evidence,
    )
    .outerjoin_from(event, stage, stage.c.id == event.c.stage_id)
    .outerjoin(worker, worker.c.id == event.c.worker_id)
    .outerjoin(item, item.c.id == event.c.item_id)
)


def recent(
    tx: Connection,
    limit: int = 100,
    *,
    before: int | None = None,
    kinds: Sequence[str] = (),
    pseudonym: str | None = None,
    item_id: int | None = None,
) -> list[Event]:
    """Recent events, newest first: all, or those of one worker or item."""
    query = _SELECT.order_by(event.c.id.desc()).limit(bindparam("limit", limit))
    if before is not None:
        query = query.where(event.c.id < before)
    if kinds:
        query = query.where(event.c.kind.in_(kinds))
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    if item_id is not None:
        query = query.where(event.c.item_id == item_id)
    return [
        Event(row.id, row.at, row.kind, row.stage, row.worker, row.item, from_text(row.evidence))
        for row in tx.execute(query)
    ]
