"""Actions of review policies."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from chorale.kits.mturk.store.schema import review_action


@dataclass(frozen=True, slots=True)
class ActionRow:
    id: int
    level: str
    """Level of the policy: Assignment or HIT."""
    name: str
    target: str
    failure: str | None
    """Reason why the action failed."""
    at: int


def add_action(tx: Connection, hit_id: int, level: str, name: str, target: str, failure: str | None, now: int) -> None:
    values = {"hit_id": hit_id, "level": level, "name": name, "target": target, "failure": failure, "at": now}
    tx.execute(insert(review_action).values(**values))


def actions(tx: Connection, hit_id: int) -> list[ActionRow]:
    columns = review_action.c
    query = select(columns.id, columns.level, columns.name, columns.target, columns.failure, columns.at)
    return [ActionRow(*row) for row in tx.execute(query.where(columns.hit_id == hit_id).order_by(columns.id))]
