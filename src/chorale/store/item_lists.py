"""Items found by what is special about them, a page at a time; and what was made from one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, func, literal, literal_column, or_, select

from chorale.model import Standing
from chorale.store.schema import gold, item, item_source, participation, response, stage, worker


@dataclass(frozen=True, slots=True)
class ItemsWanted:
    """Which items of a stage to show, and from where on."""

    stage_id: int
    order: str = "key"
    state: str = ""
    released: bool | None = None
    disagreement: str = ""
    """split, unanimous, or not unanimous."""
    below: float | None = None
    """The highest confidence shown."""
    under: float | None = None
    """All shown are less confident than this."""
    not_gold: bool = False
    arm: str = ""
    worker: str = ""
    after: tuple[float | None, str] | None = None
    """What the last item shown was ordered by, and its key."""


ITEM_ORDERS: Mapping[str, tuple[Any, bool]] = {
    "key": (None, True),
    "least confident": (item.c.confidence, True),
    "most confident": (item.c.confidence, False),
    "most divided": (item.c.confidence, True),
    "most judged": (item.c.counted, False),
}
"""What items are ordered by before their key, and whether upwards.

Those are the most divided whose result the least of everybody's trust stands behind, among those that were not answered
alike by all.
"""


class _ListedItem(NamedTuple):
    id: int
    by: float | None
    """What it was ordered by besides its key."""
    key: str


def item_ids(tx: Connection, wanted: ItemsWanted, limit: int) -> list[tuple[int, float | None]]:
    """The ids of the next items, and what each was ordered by besides its key."""
    if wanted.order == "most divided" and not wanted.disagreement:
        wanted = replace(wanted, disagreement="split")
    listed: list[_ListedItem] = []
    size = limit
    while len(listed) < limit:
        some = _next_items(tx, wanted, size)
        listed += _by_disagreement(tx, wanted.disagreement, some)
        if len(some) < size:
            break
        # How answers differ is looked up for a few items at a time: as a part of the query, it may be asked of all.
        wanted = replace(wanted, after=(some[-1].by, some[-1].key))
        size = min(2 * size, _MOST_AT_ONCE)
    return [(one.id, one.by) for one in listed[:limit]]


_MOST_AT_ONCE = 5_000


def _next_items(tx: Connection, wanted: ItemsWanted, limit: int) -> list[_ListedItem]:
    """The next items by all that an index knows of them."""
    by, upwards = ITEM_ORDERS[wanted.order]
    query = select(item.c.id, literal(None) if by is None else by, item.c.key).where(
        item.c.stage_id == wanted.stage_id, or_(item.c.wanted > 0, item.c.counted > 0), *_item_filters(wanted)
    )
    if by is None:
        if wanted.after is not None:
            query = query.where(item.c.key > wanted.after[1])
        query = query.order_by(item.c.key)
    else:
        query = query.where(by.is_not(None))
        if wanted.after is not None and wanted.after[0] is not None:
            value, key = wanted.after
            beyond = by > value if upwards else by < value
            reached = by >= value if upwards else by <= value
            passed = item.c.key > key if upwards else item.c.key < key
            query = query.where(reached, or_(beyond, passed))
        query = query.order_by(by, item.c.key) if upwards else query.order_by(by.desc(), item.c.key.desc())
    return [_ListedItem(*row) for row in tx.execute(query.limit(limit))]


def _item_filters(wanted: ItemsWanted) -> list[Any]:
    filters: list[Any] = []
    if wanted.state:
        filters.append(item.c.state == wanted.state)
    if wanted.released is not None:
        filters.append(item.c.released == wanted.released)
    if wanted.below is not None:
        filters.append(item.c.confidence <= wanted.below)
    if wanted.disagreement == "split":
        # Where all answers are the same, the result is certain. By keys items are walked through in that order; the
        # sum keeps SQLite from sorting all that are not certain.
        filters.append((item.c.confidence + 0 if wanted.order == "key" else item.c.confidence) < 1)
    elif wanted.disagreement == "unanimous":
        filters.append(item.c.counted > 1)
    if wanted.under is not None:
        filters.append(item.c.confidence < wanted.under)
    if wanted.not_gold:
        filters.append(~select(gold.c.item_id).where(gold.c.item_id == item.c.id, gold.c.active).exists())
    if wanted.arm:
        in_arm = select(response.c.id).join(worker, worker.c.id == response.c.worker_id)
        filters.append(in_arm.where(response.c.item_id == item.c.id, worker.c.arm == wanted.arm).exists())
    if wanted.worker:
        who = select(worker.c.id).where(worker.c.pseudonym == wanted.worker).scalar_subquery()
        answered = select(response.c.item_id).where(response.c.worker_id == who, response.c.stage_id == wanted.stage_id)
        filters.append(item.c.id.in_(answered))
    return filters


def _by_disagreement(tx: Connection, wanted: str, some: list[_ListedItem]) -> list[_ListedItem]:
    """Those of some items whose answers that count are all the same, or are not."""
    if not wanted or not some:
        return some
    query = (
        select(response.c.item_id, func.count(response.c.answer.distinct()), func.count())
        .join(
            participation,
            and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id),
        )
        .where(
            response.c.item_id.in_([one.id for one in some]),
            response.c.kind == literal_column("'production'"),
            participation.c.standing == Standing.ACTIVE,
        )
        .group_by(response.c.item_id)
    )
    split: set[int] = set()
    alike: set[int] = set()
    for item_id, different, given in tx.execute(query):
        if different > 1:
            split.add(item_id)
        elif given > 1:
            alike.add(item_id)
    if wanted == "split":
        return [one for one in some if one.id in split]
    return [one for one in some if (one.id in alike) == (wanted == "unanimous")]


def made_from(tx: Connection, item_id: int, most: int) -> list[tuple[str, str, str]]:
    """Stage, key and state of the items that were derived from one."""
    query = (
        select(stage.c.name, item.c.key, item.c.state)
        .join(item_source, item_source.c.item_id == item.c.id)
        .join(stage, stage.c.id == item.c.stage_id)
        .where(item_source.c.source_id == item_id)
        .order_by(item.c.id)
        .limit(most)
    )
    return [(str(name), str(key), str(state)) for name, key, state in tx.execute(query)]
