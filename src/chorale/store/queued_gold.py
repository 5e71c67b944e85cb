"""Gold in the queue of the items of its stage: once somebody has seen it, it is chosen as if it were an item."""

from typing import Any

from sqlalchemy import Connection, bindparam, select

from chorale.store.offering import (
    NOTHING_APART,
    OF_OTHER_SETS,
    UNSEEN,
    Apart,
    Draw,
    GoldContent,
    GoldPlaces,
    ItemContent,
    content_of,
    first_row,
    is_drawn,
    room_for,
    tries,
)
from chorale.store.prepared import NONE, ONE, Prepared, Scope
from chorale.store.schema import gold, item

_COLUMNS = (*item.c["id", "key", "group_key", "payload", "position"], gold.c.taken, gold.c.wanted)

# Gold that somebody has seen, in the queue of the items of its stage: by its position as an item.
_QUEUED_GOLD = Prepared(
    select(*_COLUMNS)
    .join(item, item.c.id == gold.c.item_id)
    .where(
        gold.c.stage_id == bindparam("stage_id"),
        gold.c.active,
        gold.c.taken > NONE,
        gold.c.taken < gold.c.wanted,
        item.c.position > bindparam("after"),
        is_drawn(item.c.position),
        UNSEEN,
        OF_OTHER_SETS,
    )
    .order_by(item.c.position)
    .limit(ONE)
    .offset(NONE),
    Scope(worker="worker_id", place=0),
)

# Gold that nobody has seen, from the position of the item it replaces: elsewhere, it would be complete at other times.
_FRESH_FROM = Prepared(
    select(*_COLUMNS)
    .join(item, item.c.id == gold.c.item_id)
    .where(
        gold.c.stage_id == bindparam("stage_id"),
        gold.c.active,
        gold.c.taken == NONE,
        gold.c.wanted > NONE,
        item.c.position >= bindparam("position"),
        UNSEEN,
    )
    .order_by(item.c.position)
    .limit(ONE)
    .offset(NONE),
    Scope(worker="worker_id", place=0),
)


def open_queued(
    tx: Connection, stage_id: int, worker_id: int, cursor: int, draw: Draw, apart: Apart = NOTHING_APART
) -> ItemContent | GoldContent | None:
    """Gold that nobody has seen, in place of an item chosen as `next_item` does; the item if no gold is left."""
    for after, drawn in tries(cursor, draw):
        at = {"stage_id": stage_id, "worker_id": worker_id, "after": after, **drawn._asdict()}
        row = first_row(tx, apart, drawn, at)
        if row is not None:
            for position in (row[4], -1):
                fresh = _FRESH_FROM.first(tx, stage_id=stage_id, worker_id=worker_id, position=position)
                if fresh is not None:
                    return _gold_of(fresh, cursor)
            return content_of(row, drawn, cursor)
    return None


def next_queued(
    tx: Connection,
    stage_id: int,
    worker_id: int,
    cursor: int,
    draw: Draw,
    apart: Apart = NOTHING_APART,
    *,
    set_size: int = 1,
) -> ItemContent | GoldContent | None:
    """An item of the stage, chosen as `next_item` does, or gold that somebody has seen, chosen as if it were an item.

    None if there is no item: answers to gold alone would produce no labels.
    """
    for after, drawn in tries(cursor, draw):
        at = {"stage_id": stage_id, "worker_id": worker_id, "after": after, **drawn._asdict()}
        row = first_row(tx, apart, drawn, at)
        gold_row = _QUEUED_GOLD.first(tx, set_size=set_size, **at)
        if gold_row is not None and (row is None or gold_row[4] < row[4]):
            if row is None and not room_for(tx, stage_id, worker_id, apart):
                return None
            return _gold_of(gold_row, cursor)
        if row is not None:
            return content_of(row, drawn, cursor)
    return None


def _gold_of(row: Any, cursor: int) -> GoldContent:
    item_id, key, group_key, payload, _, taken, wanted = row
    return GoldContent(ItemContent(item_id, key, group_key, payload, cursor), GoldPlaces(taken, wanted))
