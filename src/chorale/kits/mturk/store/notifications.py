"""Notifications to be sent or received, and those already processed."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from chorale.kits.mturk.store.schema import notification

QUEUE = "queue"
"""Transport of notifications that wait in a queue on this site."""


@dataclass(frozen=True, slots=True)
class NotificationRow:
    id: int
    transport: str
    destination: str
    body: str
    tries: int


def add(tx: Connection, transport: str, destination: str, body: str, now: int) -> None:
    tx.execute(
        insert(notification).values(
            at=now, transport=transport, destination=destination, body=body, tries=0, due_at=now
        )
    )


def due(tx: Connection, now: int, limit: int) -> list[NotificationRow]:
    columns = notification.c
    query = (
        select(columns.id, columns.transport, columns.destination, columns.body, columns.tries)
        .where(columns.due_at <= now, columns.transport != QUEUE)
        .order_by(columns.due_at, columns.id)
        .limit(limit)
    )
    return [NotificationRow(*row) for row in tx.execute(query)]


def note_sent(tx: Connection, notification_id: int, now: int) -> None:
    tx.execute(
        update(notification)
        .where(notification.c.id == notification_id)
        .values(sent_at=now, due_at=None, tries=notification.c.tries + 1)
    )


def note_failed(tx: Connection, notification_id: int, due_at: int | None) -> None:
    """Schedules a retry, or gives up."""
    tx.execute(
        update(notification)
        .where(notification.c.id == notification_id)
        .values(due_at=due_at, tries=notification.c.tries + 1)
    )


# Queues


def _in_queue(name: str) -> ColumnElement[bool]:
    return (notification.c.transport == QUEUE) & (notification.c.destination == name)


def waiting(tx: Connection, queue: str, now: int) -> int:
    """Number of notifications available."""
    query = select(func.count()).select_from(notification).where(_in_queue(queue), notification.c.due_at <= now)
    return int(tx.execute(query).scalar_one())


def receive(tx: Connection, queue: str, now: int, again_at: int, limit: int) -> list[NotificationRow]:
    """The oldest notifications of a queue. They become available again unless deleted."""
    columns = notification.c
    chosen = tx.execute(
        select(columns.id)
        .where(_in_queue(queue), columns.due_at <= now)
        .order_by(columns.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).scalars()
    taken = (
        update(notification)
        .where(columns.id.in_(chosen.all()))
        .values(due_at=again_at, tries=columns.tries + 1)
        .returning(columns.id, columns.transport, columns.destination, columns.body, columns.tries)
    )
    return sorted((NotificationRow(*row) for row in tx.execute(taken)), key=lambda row: row.id)


def take_out(tx: Connection, queue: str, now: int, numbers: Sequence[int] | None = None) -> None:
    """Deletes some or all notifications of a queue."""
    query = update(notification).where(_in_queue(queue), notification.c.due_at.is_not(None))
    if numbers is not None:
        query = query.where(notification.c.id.in_(numbers))
    tx.execute(query.values(due_at=None, sent_at=now))
