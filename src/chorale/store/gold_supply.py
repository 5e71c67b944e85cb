"""The remaining gold and work of a stage."""

from typing import NamedTuple

from sqlalchemy import Connection, Integer, bindparam, case, distinct, exists, func, literal_column, select, update

from chorale.protocol import GoldLeft
from chorale.store.offering import OFFERED
from chorale.store.prepared import NONE, Prepared, Scope
from chorale.store.schema import WANTING, assignment, gold, item

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
_GROUPS = Prepared(
    select(func.count(distinct(item.c.group_key))).where(item.c.stage_id == bindparam("stage_id")), Scope()
)
_GROUPS_WANTING = Prepared(
    select(func.count(distinct(item.c.group_key))).where(
        item.c.stage_id == bindparam("stage_id"), item.c.state.in_(WANTING)
    ),
    Scope(),
)
_GOLD_ONLY = Prepared(
    select(func.count())
    .select_from(gold)
    .join(item, item.c.id == gold.c.item_id)
    .where(gold.c.stage_id == bindparam("stage_id"), item.c.wanted == NONE, item.c.counted == NONE),
    Scope(),
)
# Gold made from annotated items was shown as often as items are when it became gold.
_GOLD = Prepared(
    select(func.count()).select_from(gold).where(*_IN_TURN, gold.c.origin == literal_column("'file'")), Scope()
)
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


_WANTED_NOW = gold.c.wanted + bindparam("more", type_=Integer)
_ASK_FOR_MORE = Prepared(
    update(gold)
    .where(
        gold.c.item_id.in_(
            select(assignment.c.item_id).where(
                assignment.c.stage_id == bindparam("of_stage"),
                assignment.c.worker_id == bindparam("of_worker"),
                assignment.c.kind == literal_column("'gold'"),
                assignment.c.state == literal_column("'submitted'"),
            )
        )
    )
    .values(wanted=case((gold.c.taken > _WANTED_NOW, gold.c.wanted), else_=_WANTED_NOW))
)


def replace_on_gold(tx: Connection, stage_id: int, worker_id: int, *, counts_again: bool = False) -> None:
    """Show the gold items that a removed worker answered to one more worker each.

    If the worker's answers count again, show these items to one worker fewer.
    """
    _ASK_FOR_MORE(tx, of_stage=stage_id, of_worker=worker_id, more=-1 if counts_again else 1)


class GroupProgress(NamedTuple):
    """The number of groups of items in a stage, without groups that contain only gold."""

    wanting: int
    """Number of groups with items that need judgments."""
    complete: int


def groups_by_progress(tx: Connection, stage_id: int) -> GroupProgress:
    """How many groups of items are complete, and how many are not. Slow, since it counts a whole stage."""
    [groups] = _GROUPS.first(tx, stage_id=stage_id) or (0,)
    [wanting] = _GROUPS_WANTING.first(tx, stage_id=stage_id) or (0,)
    [only_gold] = _GOLD_ONLY.first(tx, stage_id=stage_id) or (0,)
    return GroupProgress(int(wanting), int(groups) - int(wanting) - int(only_gold))
