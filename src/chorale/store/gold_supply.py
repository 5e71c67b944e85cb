"""The remaining gold and work of a stage."""

from sqlalchemy import Connection, bindparam, case, exists, func, select

from chorale.protocol import GoldLeft
from chorale.store.offering import OFFERED
from chorale.store.prepared import NONE, Prepared, Scope
from chorale.store.schema import gold, item

# Estimates: they need not be read again if another worker takes an item, so their scope is empty.
_IN_TURN = gold.c.stage_id == bindparam("stage_id"), gold.c.active
_LEFT = case((gold.c.taken < gold.c.wanted, gold.c.wanted - gold.c.taken), else_=NONE)
_GOLD_LEFT = Prepared(
    select(
        func.coalesce(func.sum(case((gold.c.taken > NONE, _LEFT), else_=NONE)), NONE),
        func.coalesce(func.sum(case((gold.c.taken == NONE, _LEFT), else_=NONE)), NONE),
    ).where(*_IN_TURN),
    Scope(),
)
_ITEMS_LEFT = Prepared(
    select(func.coalesce(func.sum(item.c.wanted - item.c.taken), NONE)).where(
        item.c.stage_id == bindparam("stage_id"), OFFERED
    ),
    Scope(),
)
_GOLD = Prepared(select(func.count()).select_from(gold).where(*_IN_TURN), Scope())
_ITEMS = Prepared(
    select(func.count())
    .select_from(item)
    .where(item.c.stage_id == bindparam("stage_id"), ~exists().where(gold.c.item_id == item.c.id, gold.c.active)),
    Scope(),
)


def gold_left(tx: Connection, stage_id: int) -> GoldLeft:
    """The remaining numbers of times that gold and items of a stage are to be shown."""
    begun, fresh = _GOLD_LEFT.first(tx, stage_id=stage_id) or (0, 0)
    [items] = _ITEMS_LEFT.first(tx, stage_id=stage_id) or (0,)
    return GoldLeft(int(begun), int(fresh), int(items))


def gold_and_items(tx: Connection, stage_id: int) -> tuple[int, int]:
    """The number of gold items in use, and of other items. Slow, since it counts a whole stage."""
    [gold_items] = _GOLD.first(tx, stage_id=stage_id) or (0,)
    [items] = _ITEMS.first(tx, stage_id=stage_id) or (0,)
    return int(gold_items), int(items)
