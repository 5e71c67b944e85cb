"""Bringing a study's stages, items and gold into its database."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, insert, literal_column, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from chorale.model import Answer, ItemState, NewItem, StageState
from chorale.model.frozen import frozen
from chorale.store.prepared import Prepared, prepared_insert, prepared_numbering
from chorale.store.schema import event, gold, item, item_source, participation, setting, stage

T = TypeVar("T")
BATCH, FEW = 2_000, 8
MOST_ANSWERS, SHORT_ANSWER = 4_000, 200
"""How many answers are remembered, and up to how many characters."""
# Any number will do, as long as every Chorale process takes the same one.
SETUP_LOCK = 7_205_011_963
BUDGET_LOCK = 7_205_011_965


@dataclass(frozen=True, slots=True)
class StageRow:
    id: int
    name: str
    position: int
    task: str
    task_version: int
    state: str


@dataclass(frozen=True, slots=True)
class NewGold:
    item: NewItem
    answer: Answer
    explanation: str
    origin: str


def lock_setup(tx: Connection) -> None:
    """Let one process at a time bring a study in. On SQLite, writing at all is that lock."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": SETUP_LOCK})


def lock_budget(tx: Connection) -> None:
    """Let one transaction at a time promise money out of a budget. On SQLite, writing at all is that lock."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": BUDGET_LOCK})


def is_untouched(tx: Connection) -> bool:
    """Whether nobody has come near the stages and items yet."""
    traces = (
        select(participation.c.stage_id).limit(1),
        select(event.c.id).where(or_(event.c.stage_id.is_not(None), event.c.item_id.is_not(None))).limit(1),
    )
    return all(tx.execute(query).first() is None for query in traces)


def clear(tx: Connection, keep: Collection[str]) -> None:
    """Forget items, gold, and stages of other names. Those that stay keep their ids: another server may use them."""
    for table in (gold, item_source, item):
        tx.execute(table.delete())
    tx.execute(stage.delete().where(stage.c.name.not_in(keep)))
    tx.execute(setting.delete().where(setting.c.key == "seed"))


_STAGES = Prepared(select(stage).order_by(stage.c.position))


def stages(tx: Connection) -> list[StageRow]:
    return [StageRow(*row) for row in _STAGES.all(tx, {})]


_PAUSED = Prepared(select(stage.c.id).where(stage.c.state == literal_column("'paused'")))


def paused_stages(tx: Connection) -> frozenset[int]:
    return frozenset(_PAUSED.column(tx, {}))


def add_stage(tx: Connection, name: str, position: int, task: str, task_version: int) -> int:
    return int(
        tx.execute(
            insert(stage)
            .values(name=name, position=position, task=task, task_version=task_version, state=StageState.OPEN)
            .returning(stage.c.id)
        ).scalar_one()
    )


def set_stage_state(tx: Connection, stage_id: int, state: StageState) -> bool:
    """Change the state; False if it already was so."""
    return bool(
        tx.execute(update(stage).where(stage.c.id == stage_id, stage.c.state != state).values(state=state)).rowcount
    )


_SETTING = Prepared(select(setting.c.value).where(setting.c.key == bindparam("key")))


def setting_value(tx: Connection, key: str) -> str | None:
    found: str | None = _SETTING.value(tx, {"key": key})
    return found


def set_setting(tx: Connection, key: str, value: str) -> None:
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    tx.execute(
        upsert(setting)
        .values(key=key, value=value)
        .on_conflict_do_update(index_elements=[setting.c.key], set_={"value": value})
    )


def shuffled_position(seed: int, stage_name: str, key: str) -> int:
    """Where an item stands in its stage: random, and the same whenever it is asked."""
    digest = blake2b(f"{seed}:{stage_name}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def drawn_share(seed: int, stage_name: str, key: str) -> float:
    """A number between 0 and 1 for an item, by chance and the same whenever it is asked: below a share, it is drawn."""
    return shuffled_position(seed, f"{stage_name}:sample", key) / 2**63


def known_items(tx: Connection, stage_id: int) -> dict[str, str]:
    """The payloads of a stage's items by key."""
    query = select(item.c.key, item.c.payload).where(item.c.stage_id == stage_id)
    return {row.key: row.payload for row in tx.execute(query)}


def known_gold(tx: Connection, stage_id: int) -> dict[str, tuple[str, str]]:
    """The answers and explanations of a stage's gold by item key."""
    query = (
        select(item.c.key, gold.c.answer, gold.c.explanation)
        .join(item, item.c.id == gold.c.item_id)
        .where(gold.c.stage_id == stage_id)
    )
    return {key: (answer, explanation) for key, answer, explanation in tx.execute(query)}


def explain_gold(tx: Connection, stage_id: int, key: str, explanation: str) -> None:
    of_item = select(item.c.id).where(item.c.stage_id == stage_id, item.c.key == key).scalar_subquery()
    tx.execute(update(gold).where(gold.c.item_id == of_item).values(explanation=explanation))


_CANONICAL = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"))


def as_text(payload: object) -> str:
    """JSON with sorted keys: equal payloads are equal texts."""
    return _CANONICAL.encode(payload)


_DECODER = json.JSONDecoder()


def from_text(text: str) -> Any:
    """What `as_text` wrote, only to be read. `json.loads` would look for white space around it, at twice the cost."""
    return frozen(_DECODER.raw_decode(text)[0])


_remembered = lru_cache(maxsize=MOST_ANSWERS)(from_text)


class _Latest:
    """The long answer that was last read: while it is settled, it is asked for again and again."""

    answer_and_text: tuple[Any, str] = object(), ""


def answer_from_text(text: str) -> Any:
    """`from_text` of an answer. Of short ones there are few, and many give them, so they are remembered."""
    if len(text) <= SHORT_ANSWER:
        return _remembered(text)
    latest, its_text = _Latest.answer_and_text
    if text == its_text:
        return latest
    answer = from_text(text)
    _Latest.answer_and_text = answer, text
    return answer


def answer_as_text(answer: Any) -> str:
    """`as_text` of an answer that may be as it was read."""
    latest, its_text = _Latest.answer_and_text
    return its_text if answer is latest else as_text(answer)


def add_items(tx: Connection, stage_id: int, stage_name: str, seed: int, items: Iterable[NewItem], wanted: int) -> int:
    """Add items; `wanted` judgments each, 0 for items that are only gold."""
    added = 0
    for batch in _batches(items):
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
    "stage_id",
    "key",
    "group_key",
    "payload",
    "position",
    "state",
    "wanted",
    "taken",
    "label",
    "confidence",
    "counted",
    "released",
    "response_id",
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


def add_gold(tx: Connection, stage_id: int, stage_name: str, seed: int, rows: Sequence[NewGold]) -> None:
    """Add gold items that are not part of the stage's own items."""
    add_items(tx, stage_id, stage_name, seed, [row.item for row in rows], wanted=0)
    keys = [row.item.key for row in rows]
    ids: dict[str, int] = {}
    for batch in _batches(keys):
        query = select(item.c.key, item.c.id).where(item.c.stage_id == stage_id, item.c.key.in_(batch))
        ids.update({row.key: row.id for row in tx.execute(query)})
    for row in rows:
        put_gold(
            tx,
            ids[row.item.key],
            stage_id,
            stage_name,
            seed,
            row.item.key,
            row.answer,
            row.explanation,
            row.origin,
        )


def put_gold(
    tx: Connection,
    item_id: int,
    stage_id: int,
    stage_name: str,
    seed: int,
    key: str,
    answer: Answer,
    explanation: str,
    origin: str,
) -> None:
    """Make an item gold, or change its gold answer."""
    upsert = postgresql.insert if tx.dialect.name == "postgresql" else sqlite.insert
    values = {"answer": as_text(answer), "explanation": explanation, "origin": origin, "active": True}
    tx.execute(
        upsert(gold)
        .values(
            item_id=item_id,
            stage_id=stage_id,
            position=shuffled_position(seed, f"{stage_name}:gold", key),
            **values,
        )
        .on_conflict_do_update(index_elements=[gold.c.item_id], set_=values)
    )


def retire_gold(tx: Connection, item_id: int) -> bool:
    """Stop using an item as gold; answers given so far stay graded."""
    query = update(gold).where(gold.c.item_id == bindparam("of_item")).values(active=False)
    return bool(tx.execute(query, {"of_item": item_id}).rowcount)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch
