"""Messages to workers, from draft to read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, literal_column, select, update

from chorale.model import Message, MessageState
from chorale.store.prepared import InsertIfNew, Prepared
from chorale.store.schema import message, worker

_MESSAGES: Select[Any] = select(
    message.c.id,
    message.c.worker_id,
    worker.c.pseudonym,
    *message.c["cause", "written_at", "title", "body", "state", "sent_at", "read_at"],
).join(worker, worker.c.id == message.c.worker_id)
_MESSAGES_TO = Prepared(
    _MESSAGES.where(
        message.c.worker_id == bindparam("worker_id"), message.c.state == literal_column(f"'{MessageState.SENT}'")
    ).order_by(message.c.id.desc())
)


_ADD_MESSAGE = InsertIfNew(message, "worker_id", "cause", "written_at", "title", "body", "state", "sent_at")


def add_message(
    tx: Connection, worker_id: int, cause: str, now: int, title: str, body: str, state: MessageState
) -> bool:
    """Add a message; False if the worker already has one with this cause."""
    written = {
        "worker_id": worker_id,
        "cause": cause,
        "written_at": now,
        "title": title,
        "body": body,
        "state": state,
        "sent_at": now if state is MessageState.SENT else None,
    }
    return bool(_ADD_MESSAGE.changed(tx, **written))


def messages_to(tx: Connection, worker_id: int) -> Sequence[Message]:
    """A worker's visible messages, newest first."""
    return [Message(*row) for row in _MESSAGES_TO.all(tx, worker_id=worker_id)]


_DRAFTS = Prepared(_MESSAGES.where(message.c.state == literal_column(f"'{MessageState.DRAFT}'")).order_by(message.c.id))


def drafts(tx: Connection) -> Sequence[Message]:
    """Messages waiting for an expert, oldest first."""
    return [Message(*row) for row in _DRAFTS.all(tx)]


_AWAITED = Prepared(
    select(message.c.title)
    .where(message.c.worker_id == bindparam("worker_id"), message.c.state == literal_column(f"'{MessageState.DRAFT}'"))
    .order_by(message.c.id)
)


def awaited_titles(tx: Connection, worker_id: int) -> tuple[str, ...]:
    """The titles of a worker's messages that are waiting for an expert."""
    return tuple(_AWAITED.column(tx, worker_id=worker_id))


def all_messages(tx: Connection) -> Sequence[Message]:
    """All messages, sent or not, oldest first."""
    return [Message(*row) for row in tx.execute(_MESSAGES.order_by(message.c.id))]


def message_by_id(tx: Connection, message_id: int) -> Message | None:
    row = tx.execute(_MESSAGES.where(message.c.id == message_id)).first()
    return None if row is None else Message(*row)


def send(tx: Connection, message_id: int, body: str, now: int) -> bool:
    """Send a draft with its current text; False if it was already sent."""
    query = (
        update(message)
        .where(message.c.id == message_id, message.c.state == MessageState.DRAFT)
        .values(body=body, state=MessageState.SENT, sent_at=now)
    )
    return bool(tx.execute(query).rowcount)


def correct(tx: Connection, worker_id: int, cause: str, title: str, body: str, now: int) -> None:
    """Replace the text of a message, and mark it as unread."""
    own = (message.c.worker_id == worker_id, message.c.cause == cause)
    tx.execute(update(message).where(*own).values(title=title, body=body, written_at=now, sent_at=now, read_at=None))


def note_read(tx: Connection, worker_id: int, now: int) -> None:
    tx.execute(
        update(message)
        .where(message.c.worker_id == worker_id, message.c.state == MessageState.SENT, message.c.read_at.is_(None))
        .values(read_at=now)
    )
