"""Gold: adding, changing and retiring it, and workers' results on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, func, select, update

from chorale.model import Answer, NewItem
from chorale.store.codec import as_text, from_text
from chorale.store.corrections import FIRST_GRADE, latest_gold_grade
from chorale.store.corrections import KIND as CORRECTED
from chorale.store.items import add_items, batches, learn_sizes
from chorale.store.positions import shuffled_position
from chorale.store.prepared import Prepared, Scope, upsert
from chorale.store.schema import event, gold, grade, item, response, stage


@dataclass(frozen=True, slots=True)
class GoldItem:
    item_id: int
    stage: str
    key: str
    payload: dict[str, Any]
    answer: Any
    explanation: str
    origin: str
    active: bool
    answered: int
    right: int


def gold_items(tx: Connection, stage_name: str, lowest_correct: float) -> list[GoldItem]:
    """A stage's gold with workers' results: gold that most workers get wrong may itself be wrong.

    `lowest_correct` is the minimum score of a correct answer.
    """
    query: Select[Any] = (
        select(
            item.c.id,
            stage.c.name,
            item.c.key,
            item.c.payload,
            *gold.c["answer", "explanation", "origin", "active"],
            func.count(grade.c.id),
            func.sum(case((grade.c.score >= lowest_correct, 1), else_=0)),
        )
        .select_from(gold)
        .join(item, item.c.id == gold.c.item_id)
        .join(stage, stage.c.id == gold.c.stage_id)
        .outerjoin(response, and_(response.c.item_id == gold.c.item_id, response.c.kind != "production"))
        .outerjoin(grade, and_(grade.c.response_id == response.c.id, grade.c.source == FIRST_GRADE))
        .where(stage.c.name == stage_name)
        .group_by(item.c.id, stage.c.name, gold.c.item_id)
        .order_by(item.c.key)
    )
    again = _right_after_corrections(tx, lowest_correct)
    return [
        GoldItem(
            item_id=row[0],
            stage=row[1],
            key=row[2],
            payload=from_text(row[3]),
            answer=from_text(row[4]),
            explanation=row[5],
            origin=row[6],
            active=bool(row[7]),
            answered=row[8],
            right=again.get(row[0], int(row[9] or 0)),
        )
        for row in tx.execute(query)
    ]


def _right_after_corrections(tx: Connection, lowest_correct: float) -> dict[int, int]:
    """The number of answers to corrected gold that are correct now. Computed only for corrected gold, which is rare."""
    corrected = select(event.c.item_id).where(event.c.kind == CORRECTED)
    query = (
        select(response.c.item_id, func.sum(case((grade.c.score >= lowest_correct, 1), else_=0)))
        .select_from(response)
        .join(grade, grade.c.id == latest_gold_grade())
        .where(response.c.item_id.in_(corrected), response.c.kind != "production")
        .group_by(response.c.item_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}


@dataclass(frozen=True, slots=True)
class NewGold:
    item: NewItem
    answer: Answer
    explanation: str
    origin: str


def gold_by_key(tx: Connection, stage_id: int) -> dict[str, tuple[str, str]]:
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


def add_gold(tx: Connection, stage_id: int, stage_name: str, seed: int, rows: Sequence[NewGold], wanted: int) -> None:
    """Add gold that is not among the stage's own items. `wanted` workers get each item in its first turn."""
    add_items(tx, stage_id, stage_name, seed, [row.item for row in rows], wanted=0)
    keys = [row.item.key for row in rows]
    ids: dict[str, int] = {}
    for batch in batches(keys):
        query = select(item.c.key, item.c.id).where(item.c.stage_id == stage_id, item.c.key.in_(batch))
        ids.update({row.key: row.id for row in tx.execute(query)})
    for row in rows:
        key = row.item.key
        put_gold(tx, ids[key], stage_id, stage_name, seed, key, row.answer, row.explanation, row.origin, wanted)
    learn_sizes(tx, gold, len(rows))


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
    wanted: int,
) -> None:
    """Turn an item into gold, shown to `wanted` workers in its first turn, or change its gold answer."""
    values = {"answer": as_text(answer), "explanation": explanation, "origin": origin, "active": True}
    tx.execute(
        upsert(tx, gold)
        .values(
            item_id=item_id,
            stage_id=stage_id,
            position=shuffled_position(seed, f"{stage_name}:gold", key),
            wanted=wanted,
            **values,
        )
        .on_conflict_do_update(index_elements=[gold.c.item_id], set_=values)
    )


def retire_gold(tx: Connection, item_id: int) -> bool:
    """Stop using an item as gold; answers given so far stay graded."""
    query = update(gold).where(gold.c.item_id == bindparam("of_item")).values(active=False)
    return bool(tx.execute(query, {"of_item": item_id}).rowcount)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    answer: str
    explanation: str


_GOLD_ANSWER = Prepared(
    select(gold.c.answer, gold.c.explanation).where(gold.c.item_id == bindparam("item_id")), Scope()
)


def gold_answer(tx: Connection, item_id: int) -> GoldAnswer | None:
    row = _GOLD_ANSWER.first(tx, item_id=item_id)
    return None if row is None else GoldAnswer(*row)
