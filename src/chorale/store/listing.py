"""Pages of long tables for the console: filtered, sorted and counted by the database."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from chorale.model import Entry, Event
from chorale.store.codec import from_text
from chorale.store.items import ItemsWanted, matching_items
from chorale.store.participations import ParticipationSummary
from chorale.store.schema import entry, event, item, participation, stage, worker

MOST_COUNTED = 10_000
"""Maximum number of rows to count: counting more would take as long as reading them."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a table, newest rows first, by row number."""

    size: int
    before: int | None = None
    """Only rows older than this one."""
    after: int | None = None
    """Only the oldest rows among those newer than this one."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of matching rows, up to the limit."""

    rows: int
    has_more: bool = False


def _within(
    tx: Connection, query: Select[Any], number: ColumnElement[int], window: Window
) -> tuple[list[Any], bool, bool]:
    """The rows of a window, newest first, and whether there are newer and older ones."""
    # One more than shown, to detect another page.
    if window.after is not None:
        rows = list(tx.execute(query.where(number > window.after).order_by(number).limit(window.size + 1)))
        return rows[: window.size][::-1], len(rows) > window.size, True
    if window.before is not None:
        query = query.where(number < window.before)
    rows = list(tx.execute(query.order_by(number.desc()).limit(window.size + 1)))
    return rows[: window.size], window.before is not None, len(rows) > window.size


def _counted(tx: Connection, query: Select[Any]) -> Counted:
    some = query.limit(MOST_COUNTED + 1).subquery()
    rows = int(tx.execute(select(func.count()).select_from(some)).scalar_one())
    return Counted(min(rows, MOST_COUNTED), rows > MOST_COUNTED)


def _ids(tx: Connection, stage_name: str, pseudonym: str) -> tuple[int | None, int | None]:
    """The ids of a stage and a worker by name; -1 for unknown names, None if not given."""
    ids: list[int | None] = []
    for name, number, column in ((stage_name, stage.c.id, stage.c.name), (pseudonym, worker.c.id, worker.c.pseudonym)):
        ids.append(tx.execute(select(number).where(column == name)).scalar() or -1 if name else None)
    return ids[0], ids[1]


@dataclass(frozen=True, slots=True)
class LedgerPage:
    rows: list[Entry]
    has_newer: bool
    has_older: bool
    count: Counted


def ledger_page(
    tx: Connection, window: Window, *, kind: str = "", stage_name: str = "", pseudonym: str = ""
) -> LedgerPage:
    """Lines of the ledger, the newest first."""
    stage_id, worker_id = _ids(tx, stage_name, pseudonym)
    wanted = [
        *([entry.c.kind == kind] if kind else []),
        *([] if stage_id is None else [entry.c.stage_id == stage_id]),
        *([] if worker_id is None else [entry.c.worker_id == worker_id]),
    ]
    query: Select[Any] = (
        select(entry.c.id, entry.c.at, worker.c.pseudonym, stage.c.name, *entry.c["kind", "amount", "reason", "cause"])
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .where(*wanted)
    )
    rows, newer, older = _within(tx, query, entry.c.id, window)
    return LedgerPage([Entry(*row) for row in rows], newer, older, _counted(tx, select(entry.c.id).where(*wanted)))


@dataclass(frozen=True, slots=True)
class EventsPage:
    rows: list[Event]
    has_newer: bool
    has_older: bool
    count: Counted


def events_page(
    tx: Connection, window: Window, *, kind: str = "", stage_name: str = "", pseudonym: str = ""
) -> EventsPage:
    """Events, the newest first."""
    stage_id, worker_id = _ids(tx, stage_name, pseudonym)
    wanted = [
        *([event.c.kind == kind] if kind else []),
        *([] if stage_id is None else [event.c.stage_id == stage_id]),
        *([] if worker_id is None else [event.c.worker_id == worker_id]),
    ]
    query: Select[Any] = (
        select(event.c.id, event.c.at, event.c.kind, stage.c.name, worker.c.pseudonym, item.c.key, event.c.evidence)
        .outerjoin_from(event, stage, stage.c.id == event.c.stage_id)
        .outerjoin(worker, worker.c.id == event.c.worker_id)
        .outerjoin(item, item.c.id == event.c.item_id)
        .where(*wanted)
    )
    rows, newer, older = _within(tx, query, event.c.id, window)
    return EventsPage(
        [replace(Event(*row), evidence=from_text(row[-1])) for row in rows],
        newer,
        older,
        _counted(tx, select(event.c.id).where(*wanted)),
    )


def count_items(tx: Connection, wanted: ItemsWanted) -> Counted:
    """The number of matching items, ignoring differences between answers."""
    return _counted(tx, matching_items(wanted))


_JUDGED = participation.c.answered - participation.c.gold_answered
_WORKER_ORDERS: Mapping[str, ColumnElement[Any]] = {
    "worker": worker.c.pseudonym,
    "status": participation.c.standing,
    "gold": participation.c.gold_right * 1.0 / func.nullif(participation.c.gold_answered, 0),
    "gold by part": func.length(func.replace(participation.c.gold_recent, "0", ""))
    * 1.0
    / func.nullif(func.length(participation.c.gold_recent), 0),
    "judgments": _JUDGED,
    "answers": participation.c.answered,
    "earned": participation.c.earned,
    "time": participation.c.worked_ms,
    "wage": participation.c.earned * 1.0 / func.nullif(participation.c.worked_ms, 0),
    "entered": participation.c.entered_at,
}


@dataclass(frozen=True, slots=True)
class WorkersWanted:
    """A filter and order for the list of a stage's workers."""

    stage_id: int
    order: str = "entered"
    downwards: bool = False
    status: str = ""
    find: str = ""
    """A part of the workers' IDs."""
    gold_by_part: bool = False
    """Whether the stage counts each part of a gold answer."""
    size: int = 50
    page: int = 1


@dataclass(frozen=True, slots=True)
class WorkersPage:
    rows: list[ParticipationSummary]
    total: int
    """Number of matching workers."""
    active: int
    """Number of active workers in the stage."""


def workers_page(tx: Connection, wanted: WorkersWanted) -> WorkersPage:
    """Workers of a stage; those without a value to sort by come last."""
    of_stage = participation.c.stage_id == wanted.stage_id
    matching = [
        of_stage,
        *([participation.c.standing == wanted.status] if wanted.status else []),
        *([worker.c.pseudonym.contains(wanted.find, autoescape=True)] if wanted.find else []),
    ]
    by = _WORKER_ORDERS["gold by part" if wanted.order == "gold" and wanted.gold_by_part else wanted.order]
    query = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            *participation.c["standing", "answered", "gold_answered", "gold_right", "gold_recent"],
            *participation.c["earned", "fees", "worked_ms", "entered_at"],
        )
        .select_from(participation)
        .join(stage, stage.c.id == participation.c.stage_id)
        .join(worker, worker.c.id == participation.c.worker_id)
        .where(*matching)
        .order_by(case((by.is_(None), 1), else_=0), by.desc() if wanted.downwards else by, worker.c.pseudonym)
        .limit(wanted.size)
        .offset((wanted.page - 1) * wanted.size)
    )
    counted = select(func.count()).select_from(participation)
    if wanted.find:
        counted = counted.join(worker, worker.c.id == participation.c.worker_id)
    total = int(tx.execute(counted.where(*matching)).scalar_one())
    active = select(func.count()).select_from(participation).where(of_stage, participation.c.standing == "active")
    rows = [ParticipationSummary(*row) for row in tx.execute(query)]
    return WorkersPage(rows, total, int(tx.execute(active).scalar_one()))
