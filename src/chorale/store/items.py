"""Items: adding and reading them, and their sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Select, Table, and_, bindparam, func, insert, literal, literal_column, or_, select
from sqlalchemy import text as sql_text

from chorale.model import Item, ItemState, NewItem, Payload
from chorale.store.codec import as_text, from_text, frozen_from_text
from chorale.store.database import STREAMED
from chorale.store.different_answers import different_answers
from chorale.store.positions import shuffled_position
from chorale.store.prepared import NumberingInsert, Prepared, PreparedInsert, Scope
from chorale.store.schema import assignment, gold, item, item_source, response, stage, worker

T = TypeVar("T")


CONTENT = Prepared(select(item.c.key, item.c.payload).where(item.c.id == bindparam("item_id")), Scope())


def content_of(tx: Connection, item_id: int) -> tuple[str, Payload]:
    """The key and content of an item."""
    key, payload = CONTENT.first(tx, item_id=item_id)
    return key, frozen_from_text(payload)


_ITEMS: Select[Any] = (
    select(
        item.c.id,
        stage.c.name,
        *item.c[
            "key", "group_key", "payload", "state", "wanted", "taken", "label", "confidence", "counted", "released"
        ],
        gold.c.item_id.is_not(None),
        item.c.sampled,
        item.c.response_id,
        item.c.decision,
    )
    .join(stage, stage.c.id == item.c.stage_id)
    .outerjoin(gold, and_(gold.c.item_id == item.c.id, gold.c.active))
)


def _item_row(row: Any) -> Item:
    label = None if row[8] is None else from_text(row[8])
    released, is_gold, sampled = map(bool, row[11:14])
    decision = None if row[15] is None else from_text(row[15])
    rest = (*row[9:11], released, is_gold, sampled, row[14], decision)
    return Item(*(*row[:4], from_text(row[4]), *row[5:8], label, *rest))


def find_item(tx: Connection, stage_name: str, key: str) -> Item | None:
    row = tx.execute(_ITEMS.where(stage.c.name == stage_name, item.c.key == key)).first()
    return None if row is None else _item_row(row)


def items_by_id(tx: Connection, ids: Sequence[int]) -> list[Item]:
    """Some items, in the order of their ids as given."""
    by_id = {row[0]: _item_row(row) for row in tx.execute(_ITEMS.where(item.c.id.in_(ids)))} if ids else {}
    return [by_id[item_id] for item_id in ids if item_id in by_id]


def all_items(tx: Connection, stage_name: str) -> Iterator[Item]:
    """All items of a stage to be judged, streamed by id."""
    query = _ITEMS.where(stage.c.name == stage_name, or_(item.c.wanted > 0, item.c.counted > 0)).order_by(item.c.id)
    for row in tx.execute(query, execution_options=STREAMED):
        yield _item_row(row)


def some_payloads(tx: Connection, stage_id: int, most: int) -> list[str]:
    """The content of a stage's first items, as text."""
    query = select(item.c.payload).where(item.c.stage_id == stage_id).order_by(item.c.id).limit(most)
    return list(tx.execute(query).scalars())


def live_leases(tx: Connection) -> dict[int, int]:
    """The number of workers who hold each item now, without gold."""
    query = (
        select(assignment.c.item_id, func.count())
        .where(assignment.c.state == literal_column("'live'"), assignment.c.kind == "production")
        .group_by(assignment.c.item_id)
    )
    return {item_id: count for item_id, count in tx.execute(query)}  # noqa: C416 - rows are not pairs to dict()


def lineage(tx: Connection, item_id: int) -> list[tuple[str, str]]:
    """(stage, key) of the items an item was derived from."""
    query = (
        select(stage.c.name, item.c.key)
        .join(item_source, item_source.c.source_id == item.c.id)
        .join(stage, stage.c.id == item.c.stage_id)
        .where(item_source.c.item_id == item_id)
        .order_by(item.c.id)
    )
    return [(name, key) for name, key in tx.execute(query)]


def made_from(tx: Connection, item_id: int, most: int) -> list[tuple[str, str, str]]:
    """Stage, key and state of the items that were derived from an item."""
    query = (
        select(stage.c.name, item.c.key, item.c.state)
        .join(item_source, item_source.c.item_id == item.c.id)
        .join(stage, stage.c.id == item.c.stage_id)
        .where(item_source.c.source_id == item_id)
        .order_by(item.c.id)
        .limit(most)
    )
    return [(str(name), str(key), str(state)) for name, key, state in tx.execute(query)]


def all_sources(tx: Connection) -> dict[int, list[str]]:
    """The sources of derived items as "stage/key", by id."""
    query = (
        select(item_source.c.item_id, stage.c.name, item.c.key)
        .join(item, item.c.id == item_source.c.source_id)
        .join(stage, stage.c.id == item.c.stage_id)
        .order_by(item_source.c.item_id, item.c.id)
    )
    sources: dict[int, list[str]] = {}
    for item_id, name, key in tx.execute(query, execution_options=STREAMED):
        sources.setdefault(item_id, []).append(f"{name}/{key}")
    return sources


BATCH, FEW, MANY = 2_000, 8, 500


def add_items(
    tx: Connection,
    stage_id: int,
    stage_name: str,
    seed: int,
    items: Iterable[NewItem],
    wanted: int,
    state: ItemState = ItemState.OPEN,
) -> int:
    """Add items; `wanted` judgments each, 0 for items that are only gold."""
    state = state if wanted else ItemState.COMPLETE
    added = 0
    for batch in batches(items):
        rows = [_new_row(stage_id, stage_name, seed, new, wanted, state) for new in batch]
        if len(rows) <= FEW:
            for row, new in zip(rows, batch, strict=True):
                _add_one(tx, row, new.sources)
        else:
            tx.execute(insert(item), rows)
            if any(new.sources for new in batch):
                _add_sources(tx, stage_id, batch)
        added += len(batch)
    learn_sizes(tx, item, added)
    return added


def learn_sizes(tx: Connection, table: Table, added: int) -> None:
    """Run ANALYZE on a table after many rows were added: until then, PostgreSQL plans as if it were empty.

    PostgreSQL's automatic ANALYZE runs a minute later, when people are already working.
    """
    if added >= MANY and tx.dialect.name == "postgresql":
        tx.execute(sql_text(f"ANALYZE {table.name}"))


def _new_row(stage_id: int, stage_name: str, seed: int, new: NewItem, wanted: int, state: ItemState) -> dict[str, Any]:
    return {
        "stage_id": stage_id,
        "key": new.key,
        "group_key": new.group,
        "payload": as_text(new.payload),
        "position": shuffled_position(seed, stage_name, new.key),
        "state": state.value,
        "wanted": wanted,
        "taken": 0,
        "label": None,
        "confidence": None,
        "counted": 0,
        "released": False,
        "response_id": new.response,
    }


_INSERT_ITEM = NumberingInsert(
    item,
    *("stage_id", "key", "group_key", "payload", "position", "state", "wanted", "taken", "label", "confidence"),
    *("counted", "released", "response_id"),
    scope=Scope(),
)
_INSERT_SOURCE = PreparedInsert(item_source, "item_id", "source_id", scope=Scope(item="source_id"))


def _add_one(tx: Connection, row: Mapping[str, Any], sources: Sequence[int]) -> None:
    """Add one item: the usual case while people work, when every answer makes an item."""
    item_id = _INSERT_ITEM.number(tx, **row)
    for source in sources:
        _INSERT_SOURCE(tx, item_id=item_id, source_id=source)


def _add_sources(tx: Connection, stage_id: int, batch: Sequence[NewItem]) -> None:
    ids = {
        key: item_id
        for item_id, key in tx.execute(
            select(item.c.id, item.c.key).where(item.c.stage_id == stage_id, item.c.key.in_([new.key for new in batch]))
        )
    }
    tx.execute(
        insert(item_source), [{"item_id": ids[new.key], "source_id": source} for new in batch for source in new.sources]
    )


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Split rows into batches that fit into one statement."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


@dataclass(frozen=True, slots=True)
class ItemsWanted:
    """A filter and position in the list of a stage's items."""

    stage_id: int
    order: str = "key"
    state: str = ""
    released: bool | None = None
    disagreement: str = ""
    """split, unanimous, or not unanimous."""
    written: tuple[str, ...] = ()
    """Free-text fields, which are ignored when answers are compared."""
    below: float | None = None
    """The highest confidence shown."""
    undecided: bool = False
    """Only items without a reviewer's decision."""
    under: float | None = None
    """Only items below this confidence."""
    not_gold: bool = False
    arm: str = ""
    worker: str = ""
    find: str = ""
    """Text to search for in the key or the content."""
    after: tuple[float | None, str] | None = None
    """The sort value and key of the last item shown."""
    backwards: bool = False
    """Whether to list the items before it instead, nearest first."""


ITEM_ORDERS: Mapping[str, tuple[Any, bool]] = {
    "key": (func.length(item.c.key), True),
    "least confident": (item.c.confidence, True),
    "most confident": (item.c.confidence, False),
    "most divided": (item.c.confidence, True),
    "most judged": (item.c.counted, False),
}
"""The sort column before the key, and whether it is ascending. Keys are in natural order: c2 before c10. The most
divided items are those whose label has the smallest share of trust, among items with different answers.
"""
_MOST_BY_LENGTH = 50_000
"""Stages with more items are listed in alphabetical order, for which there is an index."""


class _ListedItem(NamedTuple):
    id: int
    by: float | None
    """Its sort value besides the key."""
    key: str


def item_ids(tx: Connection, wanted: ItemsWanted, limit: int) -> list[tuple[int, float | None]]:
    """The ids of the next items, with their sort values."""
    if wanted.order == "most divided" and not wanted.disagreement:
        wanted = replace(wanted, disagreement="split")
    listed: list[_ListedItem] = []
    size = limit
    while len(listed) < limit:
        some = _next_items(tx, wanted, size)
        listed += _by_disagreement(tx, wanted, some)
        if len(some) < size:
            break
        # Differences between answers are read for a few items at a time: within the query, they could be computed for
        # all.
        wanted = replace(wanted, after=(some[-1].by, some[-1].key))
        size = min(2 * size, _MOST_AT_ONCE)
    return [(one.id, one.by) for one in listed[:limit]]


_MOST_AT_ONCE = 5_000


def item_keys(tx: Connection, wanted: ItemsWanted) -> Iterator[tuple[int, str]]:
    """The ids and keys of all matching items, unordered."""
    yield from map(tuple, tx.execute(matching_items(wanted).with_only_columns(item.c.id, item.c.key)))


def _next_items(tx: Connection, wanted: ItemsWanted, limit: int) -> list[_ListedItem]:
    """The next items, using only indexed columns."""
    by, upwards = ITEM_ORDERS[wanted.order]
    if wanted.order == "key":
        by = by if _is_small(tx, wanted.stage_id) else None
        wanted = replace(wanted, after=wanted.after and (len(wanted.after[1]), wanted.after[1]))
    upwards = upwards != wanted.backwards
    query = matching_items(wanted).with_only_columns(item.c.id, literal(None) if by is None else by, item.c.key)
    if by is None:
        if wanted.after is not None:
            query = query.where(item.c.key > wanted.after[1] if upwards else item.c.key < wanted.after[1])
        query = query.order_by(item.c.key if upwards else item.c.key.desc())
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


def _is_small(tx: Connection, stage_id: int) -> bool:
    some = select(item.c.id).where(item.c.stage_id == stage_id).limit(_MOST_BY_LENGTH + 1)
    return (tx.scalar(select(func.count()).select_from(some.subquery())) or 0) <= _MOST_BY_LENGTH


def matching_items(wanted: ItemsWanted) -> Select[Any]:
    """The ids of all matching items, using only indexed columns; unordered."""
    shown = or_(item.c.wanted > 0, item.c.counted > 0)
    return select(item.c.id).where(item.c.stage_id == wanted.stage_id, shown, *_item_filters(wanted))


def _item_filters(wanted: ItemsWanted) -> list[Any]:
    filters: list[Any] = []
    if wanted.find:
        filters.append(or_(*(one.icontains(wanted.find, autoescape=True) for one in item.c["key", "payload"])))
    if wanted.state:
        filters.append(item.c.state == wanted.state)
    if wanted.released is not None:
        filters.append(item.c.released == wanted.released)
    if wanted.below is not None:
        filters.append(item.c.confidence <= wanted.below)
    if wanted.disagreement == "split":
        # If all answers are equal, the label is certain. Items sorted by key are scanned in that order; the expression
        # keeps SQLite from sorting all uncertain items.
        filters.append((item.c.confidence + 0 if wanted.order == "key" else item.c.confidence) < 1)
    elif wanted.disagreement == "unanimous":
        filters.append(item.c.counted > 1)
    if wanted.undecided:
        filters.append(item.c.decision.is_(None))
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


def _by_disagreement(tx: Connection, wanted: ItemsWanted, some: list[_ListedItem]) -> list[_ListedItem]:
    """Filter items by whether their counted answers are all equal."""
    if not wanted.disagreement or not some:
        return some
    split: set[int] = set()
    alike: set[int] = set()
    for item_id, different, given in different_answers(tx, [one.id for one in some], wanted.written):
        if different > 1:
            split.add(item_id)
        elif given > 1:
            alike.add(item_id)
    if wanted.disagreement == "split":
        return [one for one in some if one.id in split]
    return [one for one in some if (one.id in alike) == (wanted.disagreement == "unanimous")]
