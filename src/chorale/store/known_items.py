"""A stage's items as imported, to compare with a study's files."""

from typing import NamedTuple

from sqlalchemy import Connection, select, update

from chorale.model import Payload
from chorale.store.codec import as_text
from chorale.store.schema import item


class KnownItem(NamedTuple):
    payload: str
    group_key: str


def known_items(tx: Connection, stage_id: int) -> dict[str, KnownItem]:
    """The payloads and groups of a stage's items by key."""
    query = select(item.c.key, item.c.payload, item.c.group_key).where(item.c.stage_id == stage_id)
    return {key: KnownItem(payload, group_key) for key, payload, group_key in tx.execute(query)}


def replace_payload(tx: Connection, stage_id: int, key: str, payload: Payload) -> None:
    tx.execute(update(item).where(item.c.stage_id == stage_id, item.c.key == key).values(payload=as_text(payload)))
