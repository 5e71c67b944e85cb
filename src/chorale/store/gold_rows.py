"""Gold, and how workers did on it."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, select

from chorale.store.corrections import FIRST_GRADE, latest_gold_grade
from chorale.store.corrections import KIND as CORRECTED
from chorale.store.schema import event, gold, grade, item, response, stage


@dataclass(frozen=True, slots=True)
class GoldRow:
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


def gold_items(tx: Connection, stage_name: str, lowest_correct: float) -> list[GoldRow]:
    """A stage's gold and how workers did on it: gold that most get wrong may itself be wrong.

    `lowest_correct` is the lowest score of a correct answer.
    """
    query: Select[Any] = (
        select(
            item.c.id,
            stage.c.name,
            item.c.key,
            item.c.payload,
            gold.c.answer,
            gold.c.explanation,
            gold.c.origin,
            gold.c.active,
            func.count(grade.c.id),
            func.sum(case((grade.c.score >= lowest_correct, 1), else_=0)),
        )
        .select_from(gold)
        .join(item, item.c.id == gold.c.item_id)
        .join(stage, stage.c.id == gold.c.stage_id)
        .outerjoin(response, and_(response.c.item_id == gold.c.item_id, response.c.kind == "gold"))
        .outerjoin(grade, and_(grade.c.response_id == response.c.id, grade.c.source == FIRST_GRADE))
        .where(stage.c.name == stage_name)
        .group_by(item.c.id, stage.c.name, gold.c.item_id)
        .order_by(item.c.key)
    )
    again = _right_after_corrections(tx, lowest_correct)
    return [
        GoldRow(
            item_id=row[0],
            stage=row[1],
            key=row[2],
            payload=json.loads(row[3]),
            answer=json.loads(row[4]),
            explanation=row[5],
            origin=row[6],
            active=bool(row[7]),
            answered=row[8],
            right=again.get(row[0], int(row[9] or 0)),
        )
        for row in tx.execute(query)
    ]


def _right_after_corrections(tx: Connection, lowest_correct: float) -> dict[int, int]:
    """How many answers to gold that was corrected are right by now. Few gold is, so others are not looked at twice."""
    corrected = select(event.c.item_id).where(event.c.kind == CORRECTED)
    query = (
        select(response.c.item_id, func.sum(case((grade.c.score >= lowest_correct, 1), else_=0)))
        .select_from(response)
        .join(grade, grade.c.id == latest_gold_grade())
        .where(response.c.item_id.in_(corrected), response.c.kind == "gold")
        .group_by(response.c.item_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}
