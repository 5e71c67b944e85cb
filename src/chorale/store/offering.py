"""Finds the next item for a worker."""

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    bindparam,
    exists,
    literal_column,
    select,
    text,
    update,
)

from chorale.store.assignees import is_for_worker
from chorale.store.prepared import NONE, ONE, Prepared, PreparedSearch, Scope
from chorale.store.schema import WANTING, assignment, gold, item, item_source, stage
from chorale.store.suggestions import has_answer, was_shown

# A literal, not a bound parameter, so that the database can use the partial index.
OFFERED = text("item.state = 'open' AND item.taken < item.wanted")


class ItemContent(NamedTuple):
    id: int
    key: str
    group_key: str
    payload: str
    cursor: int
    """The start of the worker's next search: the worker has seen all earlier items, or they are taken."""


class Draw(NamedTuple):
    """The positions that a search considers: a random part, different in every search.

    They are those whose remainder by `modulus` is less than `below`.
    """

    modulus: int
    below: int


EVERYTHING = Draw(1, 1)


class Apart(NamedTuple):
    """Rules that exclude items for workers who worked on related items or are not assignees."""

    not_from_own: int = 0
    """Exclude items derived from items they answered, up to this many stages back."""
    not_seen_later: int = 0
    """Exclude items if they have seen items derived from them, up to this many stages later."""
    by_group: bool = False
    """Also exclude items derived from the group of an item they answered, one stage back."""
    later_by_group: bool = False
    """Also exclude items of a group if they have seen items derived from it, one stage later."""
    assigned: bool = False
    """Also exclude items assigned to others."""


NOTHING_APART = Apart()


def is_drawn(position: ColumnElement[int]) -> ColumnElement[bool]:
    # Positions are random 63-bit numbers, so their remainders by different divisors are independent.
    return position % bindparam("modulus") < bindparam("below")


UNSEEN = (
    select(ONE)
    .where(
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.stage_id == item.c.stage_id,
        assignment.c.group_key == item.c.group_key,
    )
    .correlate(item)
    # Not `NOT EXISTS`: PostgreSQL knows little about new tables, and would read all that the worker has seen for every
    # search. With a scalar subquery, it looks up each item, and assumes that few of them have been seen.
    .scalar_subquery()
    .is_distinct_from(ONE)
)


_NOT_RETURNED = assignment.c.state != literal_column("'returned'")


def _worked_on(item_id: ColumnElement[int], *more: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(assignment.c.item_id == item_id, assignment.c.worker_id == bindparam("worker_id"), *more)


def _contributed(level: int) -> ColumnElement[bool]:
    """A condition: the worker answered or holds a source of the offered item, this many stages back."""
    steps = [item_source.alias(f"step_{number}") for number in range(level)]
    earlier = [later.c.source_id == step.c.item_id for later, step in pairwise(steps)]
    # Nested, so that the search starts at the item: a worker has many assignments, an item few sources. With a join,
    # SQLite would scan all of the worker's assignments for every item.
    return exists().where(steps[0].c.item_id == item.c.id, *earlier, _worked_on(steps[-1].c.source_id, _NOT_RETURNED))


def _seen_later(level: int) -> ColumnElement[bool]:
    """A condition: the worker has seen an item derived from the offered one, this many stages later."""
    steps = [item_source.alias(f"step_{number}") for number in range(level)]
    later = [earlier.c.item_id == step.c.source_id for earlier, step in pairwise(steps)]
    return exists().where(steps[0].c.source_id == item.c.id, *later, _worked_on(steps[-1].c.item_id))


_source = item.alias("source")


def _contributed_to_group() -> ColumnElement[bool]:
    """A condition: the worker answered or holds an item of the offered item's source group."""
    worked = exists().where(
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.stage_id == _source.c.stage_id,
        assignment.c.group_key == _source.c.group_key,
        _NOT_RETURNED,
    )
    return exists().where(item_source.c.item_id == item.c.id, _source.c.id == item_source.c.source_id, worked)


def _seen_of_group() -> ColumnElement[bool]:
    """A condition: the worker has seen an item derived from the offered item's group, one stage later."""
    same_group = _source.c.stage_id == item.c.stage_id, _source.c.group_key == item.c.group_key
    return exists().where(*same_group, item_source.c.source_id == _source.c.id, _worked_on(item_source.c.item_id))


@cache
def _offered(apart: Apart) -> Select[Any]:
    query = (
        select(
            *item.c["id", "key", "group_key", "payload", "position"],
            item.c.wanted - item.c.taken,
        )
        .where(
            item.c.stage_id == bindparam("stage_id"),
            OFFERED,
            item.c.position > bindparam("after"),
            is_drawn(item.c.position),
            UNSEEN,
        )
        .order_by(item.c.position)
    )
    query = query.where(*(~_contributed(level) for level in range(1, apart.not_from_own + 1)))
    query = query.where(*(~_seen_later(level) for level in range(1, apart.not_seen_later + 1)))
    if apart.by_group:
        query = query.where(~_contributed_to_group())
    if apart.assigned:
        query = query.where(is_for_worker(item.c.id))
    return query.where(~_seen_of_group()) if apart.later_by_group else query


@cache
def _first_offered(apart: Apart) -> PreparedSearch:
    return PreparedSearch(_offered(apart), Scope(worker="worker_id", wanting=0, place=0, places_left=5))


@cache
def _shuffled(apart: Apart) -> Prepared:
    front = _offered(apart).limit(literal_column("200")).subquery()
    query = select(front).order_by(front.c.position % bindparam("shuffle", type_=BigInteger)).limit(ONE).offset(NONE)
    return Prepared(query, Scope(worker="worker_id", wanting=0, place=0, places_left=5))


def next_item(
    tx: Connection,
    stage_id: int,
    worker_id: int,
    cursor: int,
    draw: Draw = EVERYTHING,
    apart: Apart = NOTHING_APART,
    shuffle: int | None = None,
) -> ItemContent | None:
    """An item of the stage that this worker may get and that has a free place.

    It is the first item after the cursor at a position of `draw`; if there is none, the first item at any position.
    Only a search over all positions moves the cursor. With `shuffle`, a random number, the search over all positions
    takes any of the first 200 items: if few items are left, all workers would otherwise get the same item.
    """
    for after, drawn in tries(cursor, draw):
        at = {"stage_id": stage_id, "worker_id": worker_id, "after": after, **drawn._asdict()}
        if shuffle is not None and drawn is not draw:
            row = _shuffled(apart).first(tx, shuffle=shuffle, **at)
            return None if row is None else ItemContent(*row[:-1])._replace(cursor=cursor)
        row = first_row(tx, apart, drawn, at)
        if row is not None:
            return content_of(row, drawn, cursor)
    return None


def tries(cursor: int, draw: Draw) -> list[tuple[int, Draw]]:
    """The searches to try in turn: each a position to start after, and the items to look for."""
    everywhere = [(-1, EVERYTHING)] if cursor >= 0 or draw is not EVERYTHING else []
    return [(cursor, draw), *everywhere]


def first_row(tx: Connection, apart: Apart, drawn: Draw, at: Mapping[str, Any]) -> Any:
    query = _first_offered(apart)
    # A search of all items ends at the first one, so workers who search at the same time compete for it.
    return query.first_free(tx, **at) if drawn is EVERYTHING else query.first(tx, **at)


def content_of(row: Any, drawn: Draw, cursor: int) -> ItemContent:
    content = ItemContent(*row[:-1])
    return content if drawn is EVERYTHING else content._replace(cursor=cursor)


def room_for(tx: Connection, stage_id: int, worker_id: int, apart: Apart) -> bool:
    """Whether the stage has an item for this worker, without taking it."""
    query = _first_offered(apart)
    return query.first(tx, stage_id=stage_id, worker_id=worker_id, after=-1, modulus=1, below=1) is not None


_UNSEEN_GOLD = (
    select(item.c.id, item.c.key, item.c.group_key, item.c.payload, gold.c.taken, gold.c.wanted)
    .join(item, item.c.id == gold.c.item_id)
    .where(gold.c.stage_id == bindparam("stage_id"), gold.c.active, UNSEEN)
    .limit(ONE)
    .offset(NONE)
)
_GOLD_IN_TURN = _UNSEEN_GOLD.where(gold.c.taken < gold.c.wanted, is_drawn(gold.c.position)).order_by(gold.c.position)
_BEGUN_GOLD = _GOLD_IN_TURN.where(gold.c.taken > NONE)
_other_gold = gold.alias("other_gold")
_SETS_SEEN = (
    select(_other_gold.c.item_id // bindparam("set_size"))
    .join(assignment, assignment.c.item_id == _other_gold.c.item_id)
    .where(_other_gold.c.stage_id == bindparam("stage_id"), assignment.c.worker_id == bindparam("worker_id"))
)
# Gold of a file is numbered in the order of the file, and served in another: each set is as spread out as a group is.
OF_OTHER_SETS = (gold.c.item_id // bindparam("set_size")).not_in(_SETS_SEEN)


def _gold_query(query: Select[Any]) -> Prepared:
    return Prepared(query, Scope(worker="worker_id", place=0))


_NEXT_GOLD = {True: _gold_query(_GOLD_IN_TURN), False: _gold_query(_BEGUN_GOLD)}
_NEXT_GOLD_APART = {
    True: _gold_query(_GOLD_IN_TURN.where(OF_OTHER_SETS)),
    False: _gold_query(_BEGUN_GOLD.where(OF_OTHER_SETS)),
}
_NEXT_GOLD_ALIKE = {
    True: _gold_query(_GOLD_IN_TURN.where(has_answer(gold.c.item_id))),
    False: _gold_query(_GOLD_IN_TURN.where(~was_shown(gold.c.item_id))),
}
_ANY_GOLD = Prepared(_UNSEEN_GOLD.order_by(gold.c.position % bindparam("modulus")), Scope(worker="worker_id"))


class GoldPlaces(NamedTuple):
    """The number of workers who got a gold item in its current turn, and the wanted number."""

    taken: int
    wanted: int


class GoldContent(NamedTuple):
    item: ItemContent
    places: GoldPlaces


class Suggested(NamedTuple):
    """Whether an item is shown with a model's suggestion."""

    model: str
    """The pseudonym of the model."""
    is_shown: bool


def next_gold(
    tx: Connection,
    stage_id: int,
    worker_id: int,
    cursor: int,
    draw: Draw,
    like: Suggested | None = None,
    *,
    opens: bool = True,
    set_size: int = 1,
) -> GoldContent | None:
    """A gold item in its turn that the worker has not seen: the first at a position of `draw`, or else the first.

    `cursor` is the start of the worker's next search for an item; gold does not change it. Without `opens`, only gold
    that somebody has seen is considered. If gold is in sets of `set_size`, sets that are new to the worker come first,
    as with items of a group.

    `like` describes the item that the gold replaces, so that suggestions do not reveal gold. If the item has a
    suggestion, the gold must have an answer of the same model. Otherwise, nobody may have seen the gold with a
    suggestion. With `like`, `opens` and `set_size` have no effect.
    """
    query = _NEXT_GOLD[opens] if like is None else _NEXT_GOLD_ALIKE[like.is_shown]
    more: dict[str, Any] = {} if like is None or not like.is_shown else {"model": like.model}
    searches = [(query, drawn, more) for drawn in (draw, EVERYTHING)]
    if like is None and set_size > 1:
        searches = [(_NEXT_GOLD_APART[opens], drawn, {"set_size": set_size}) for drawn in (draw, EVERYTHING)] + searches
    for statement, drawn, parameters in searches:
        row = statement.first(
            tx, stage_id=stage_id, worker_id=worker_id, modulus=drawn.modulus, below=drawn.below, **parameters
        )
        if row is not None:
            item_id, key, group_key, payload, taken, wanted = row
            return GoldContent(ItemContent(item_id, key, group_key, payload, cursor), GoldPlaces(taken, wanted))
    return None


def any_gold(tx: Connection, stage_id: int, worker_id: int, cursor: int, modulus: int) -> ItemContent | None:
    """A random item of a round that the worker has not seen, all equally likely."""
    row = _ANY_GOLD.first(tx, stage_id=stage_id, worker_id=worker_id, modulus=modulus)
    if row is None:
        return None
    item_id, key, group_key, payload, _, _ = row
    return ItemContent(item_id, key, group_key, payload, cursor)


_USED_UP = (
    select(gold.c.item_id)
    .join(item, item.c.id == gold.c.item_id)
    .where(gold.c.stage_id == bindparam("stage_id"), gold.c.active, gold.c.taken >= gold.c.wanted, UNSEEN)
)
_NEXT_TURN = Prepared(
    update(gold)
    .where(gold.c.item_id.in_(_USED_UP))
    .values(taken=NONE, wanted=bindparam("fewest", type_=Integer), turns=gold.c.turns + ONE)
)


def next_turn(tx: Connection, stage_id: int, worker_id: int, fewest: int) -> bool:
    """Start another turn, for a minimum number of workers, for used gold that a worker has not seen."""
    return bool(_NEXT_TURN.changed(tx, stage_id=stage_id, worker_id=worker_id, fewest=fewest))


def places_of_gold(tx: Connection, item_id: int) -> GoldPlaces:
    return GoldPlaces._make(tx.execute(select(gold.c.taken, gold.c.wanted).where(gold.c.item_id == item_id)).one())


_TAKE_GOLD = Prepared(
    update(gold)
    .where(gold.c.item_id == bindparam("of_item"))
    .values(taken=gold.c.taken + ONE, wanted=gold.c.wanted + bindparam("more", type_=Integer)),
    Scope(place="of_item"),
)


def take_gold(tx: Connection, item_id: int, more: int = 0) -> None:
    """Count a worker who gets a gold item in its turn; the number of workers in the turn may increase."""
    _TAKE_GOLD(tx, of_item=item_id, more=more)


_OPEN_STAGES = Prepared(
    select(stage.c.id).where(exists().where(item.c.stage_id == stage.c.id, item.c.state.in_(WANTING)))
)


def stages_with_open_items(tx: Connection) -> frozenset[int]:
    """The stages that still need judgments, assigned or not."""
    return frozenset(_OPEN_STAGES.column(tx))
