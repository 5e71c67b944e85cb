"""Notifications that wait to be sent, and those that were."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from chorale.store.mturk_schema import notification


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
        .where(columns.due_at <= now)
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
    """Try again later, or never."""
    tx.execute(
        update(notification)
        .where(notification.c.id == notification_id)
        .values(due_at=due_at, tries=notification.c.tries + 1)
    )
