"""Items: adding them, and reading one, some or all of a stage, and what they were made from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, and_, bindparam, func, insert, literal_column, or_, select

from chorale.model import Item, ItemState, NewItem, Payload
from chorale.store.codec import as_text, from_text, frozen_from_text
from chorale.store.database import STREAMED
from chorale.store.positions import shuffled_position
from chorale.store.prepared import Prepared, prepared_insert, prepared_numbering
from chorale.store.schema import assignment, gold, item, item_source, response, stage, worker

T = TypeVar("T")


_CONTENT = Prepared(select(item.c.key, item.c.payload).where(item.c.id == bindparam("item_id")))


def content_of(tx: Connection, item_id: int) -> tuple[str, Payload]:
    """What an item is called, and what it is about."""
    key, payload = _CONTENT.first(tx, {"item_id": item_id})
    return key, frozen_from_text(payload)


_ITEMS: Select[Any] = (
    select(
        item.c.id,
        stage.c.name,
        item.c.key,
        item.c.group_key,
        item.c.payload,
        item.c.state,
        item.c.wanted,
        item.c.taken,
        item.c.label,
        item.c.confidence,
        item.c.counted,
        item.c.released,
        gold.c.item_id.is_not(None),
        item.c.sampled,
        item.c.response_id,
    )
    .join(stage, stage.c.id == item.c.stage_id)
    .outerjoin(gold, and_(gold.c.item_id == item.c.id, gold.c.active))
)


def _item_row(row: Any) -> Item:
    label = None if row[8] is None else from_text(row[8])
    released, is_gold, sampled = map(bool, row[11:14])
    return Item(*(*row[:4], from_text(row[4]), *row[5:8], label, *row[9:11], released, is_gold, sampled, row[14]))


def find_item(tx: Connection, stage_name: str, key: str) -> Item | None:
    row = tx.execute(_ITEMS.where(stage.c.name == stage_name, item.c.key == key)).first()
    return None if row is None else _item_row(row)


def items_by_id(tx: Connection, ids: Sequence[int]) -> list[Item]:
    """Some items, in the order of their ids as given."""
    by_id = {row[0]: _item_row(row) for row in tx.execute(_ITEMS.where(item.c.id.in_(ids)))} if ids else {}
    return [by_id[item_id] for item_id in ids if item_id in by_id]


def all_items(tx: Connection, stage_name: str) -> Iterator[Item]:
    """Every item of a stage that was there to be judged, streamed by id."""
    query = _ITEMS.where(stage.c.name == stage_name, or_(item.c.wanted > 0, item.c.counted > 0)).order_by(item.c.id)
    for row in tx.execute(query, execution_options=STREAMED):
        yield _item_row(row)


def live_leases(tx: Connection) -> dict[int, int]:
    """How many workers hold each item at the moment; gold is not counted."""
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


def all_sources(tx: Connection) -> dict[int, list[str]]:
    """The items, as "stage/key", that derived item came from, by its id."""
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


@dataclass(frozen=True, slots=True)
class OriginRow:
    """Whose answer an item was made from."""

    item_id: int
    worker: str
    arm: str | None
    stage: str
    item: str


def origins(tx: Connection, stage_name: str) -> Iterator[OriginRow]:
    """Of every item of a stage that was made from a single answer: who gave it, where, and to what."""
    made, its_stage = item.alias("made"), stage.alias("its_stage")
    query = (
        select(made.c.id, worker.c.pseudonym, worker.c.arm, stage.c.name, item.c.key)
        .select_from(made)
        .join(its_stage, its_stage.c.id == made.c.stage_id)
        .join(response, response.c.id == made.c.response_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(item, item.c.id == response.c.item_id)
        .join(stage, stage.c.id == response.c.stage_id)
        .where(its_stage.c.name == stage_name)
        .order_by(made.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield OriginRow(*row)


def known_items(tx: Connection, stage_id: int) -> dict[str, str]:
    """The payloads of a stage's items by key."""
    query = select(item.c.key, item.c.payload).where(item.c.stage_id == stage_id)
    return {row.key: row.payload for row in tx.execute(query)}


BATCH, FEW = 2_000, 8


def add_items(tx: Connection, stage_id: int, stage_name: str, seed: int, items: Iterable[NewItem], wanted: int) -> int:
    """Add items; `wanted` judgments each, 0 for items that are only gold."""
    added = 0
    for batch in batches(items):
        rows = [_new_row(stage_id, stage_name, seed, new, wanted) for new in batch]
        if len(rows) <= FEW:
            for row, new in zip(rows, batch, strict=True):
                _add_one(tx, row, new.sources)
        else:
            tx.execute(insert(item), rows)
            if any(new.sources for new in batch):
                _add_sources(tx, stage_id, batch)
        added += len(batch)
    return added


def _new_row(stage_id: int, stage_name: str, seed: int, new: NewItem, wanted: int) -> dict[str, Any]:
    return {
        "stage_id": stage_id,
        "key": new.key,
        "group_key": new.group,
        "payload": as_text(new.payload),
        "position": shuffled_position(seed, stage_name, new.key),
        "state": (ItemState.OPEN if wanted else ItemState.COMPLETE).value,
        "wanted": wanted,
        "taken": 0,
        "label": None,
        "confidence": None,
        "counted": 0,
        "released": False,
        "response_id": new.response,
    }


_INSERT_ITEM = prepared_numbering(
    item,
    *("stage_id", "key", "group_key", "payload", "position", "state", "wanted", "taken", "label", "confidence"),
    *("counted", "released", "response_id"),
)
_INSERT_SOURCE = prepared_insert(item_source, "item_id", "source_id")


def _add_one(tx: Connection, row: Mapping[str, Any], sources: Sequence[int]) -> None:
    """The usual case while people work: every answer makes an item."""
    item_id = _INSERT_ITEM.number(tx, row)
    for source in sources:
        _INSERT_SOURCE(tx, {"item_id": item_id, "source_id": source})


def _add_sources(tx: Connection, stage_id: int, batch: Sequence[NewItem]) -> None:
    ids = {
        key: item_id
        for item_id, key in tx.execute(
            select(item.c.id, item.c.key).where(item.c.stage_id == stage_id, item.c.key.in_([new.key for new in batch]))
        )
    }
    tx.execute(
        insert(item_source),
        [{"item_id": ids[new.key], "source_id": source} for new in batch for source in new.sources],
    )


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Parts that are small enough for one statement."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch
