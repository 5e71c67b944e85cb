"""Corrected gold: its earlier answers, and the decisions that used them."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, ScalarSelect, func, or_, select, update

from chorale.model import EntryKind, Standing
from chorale.store.codec import from_text, frozen_from_text
from chorale.store.events import record
from chorale.store.schema import entry, event, gold, grade, item, participation, response, stage, worker

KIND = "corrected gold"
FINISHED = "gold graded again"
FIRST_GRADE = "gold"
LATER_GRADES = "gold:"
"""Stage names have no colon, so no grade by people has this source."""


def latest_gold_grade() -> ScalarSelect[int]:
    """The grade of a response by current gold, as a subquery for statements with `response`."""
    newer = grade.alias("newer")
    return (
        select(func.max(newer.c.id))
        .where(
            newer.c.response_id == response.c.id,
            or_(newer.c.source == FIRST_GRADE, newer.c.source.like(f"{LATER_GRADES}%")),
        )
        .correlate(response)
        .scalar_subquery()
    )


def is_by_gold(source: str) -> bool:
    """Whether a grade's source is gold."""
    return source == FIRST_GRADE or source.startswith(LATER_GRADES)


@dataclass(frozen=True, slots=True)
class Correction:
    id: int
    at: int
    stage: str
    item_id: int
    key: str
    before: Any
    after: Any


def corrections(tx: Connection, stage_name: str | None = None) -> list[Correction]:
    """All corrections, oldest first."""
    query = (
        select(event.c.id, event.c.at, stage.c.name, event.c.item_id, item.c.key, event.c.evidence)
        .join(stage, stage.c.id == event.c.stage_id)
        .join(item, item.c.id == event.c.item_id)
        .where(event.c.kind == KIND)
        .order_by(event.c.id)
    )
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    rows = []
    for number, at, name, item_id, key, evidence in tx.execute(query):
        change = from_text(evidence)
        before, after = from_text(change["before"]), from_text(change["answer"])
        rows.append(Correction(number, at, name, item_id, key, before, after))
    return rows


def unfinished(tx: Connection) -> list[Correction]:
    """Corrections whose answers have not all been regraded yet, oldest first."""
    made = corrections(tx)
    if not made:
        return []
    known = tx.execute(select(event.c.evidence).where(event.c.kind == FINISHED)).scalars()
    finished = {int(from_text(evidence)["correction"]) for evidence in known}
    return [one for one in made if one.id not in finished]


def number_of(tx: Connection, correction: Correction) -> int:
    """The number of a correction among those of its item."""
    query = select(func.count()).select_from(event)
    same = query.where(event.c.kind == KIND, event.c.item_id == correction.item_id, event.c.id <= correction.id)
    return int(tx.execute(same).scalar_one())


def note_finished(tx: Connection, correction: Correction, now: int) -> None:
    """Record that all answers have been regraded."""
    stage_id = tx.execute(select(item.c.stage_id).where(item.c.id == correction.item_id)).scalar_one()
    finished = {"correction": correction.id}
    record(tx, now, FINISHED, finished, stage_id=stage_id, item_id=correction.item_id)


def met_by(tx: Connection, item_id: int) -> list[int]:
    """All workers who got an item as gold."""
    query = select(response.c.worker_id).distinct().where(response.c.item_id == item_id, _BY_GOLD, _IS_THERE)
    return list(tx.execute(query.order_by(response.c.worker_id)).scalars())


def met_so_far(tx: Connection, item_id: int) -> tuple[int, int]:
    """The number of answers to a gold item, and the time of the last answer or correction."""
    query = select(func.count(), func.coalesce(func.max(response.c.submitted_at), 0))
    count, answered_at = tx.execute(query.where(response.c.item_id == item_id, _BY_GOLD)).one()
    before = select(func.coalesce(func.max(event.c.at), 0)).where(event.c.kind == KIND, event.c.item_id == item_id)
    return int(count), max(int(answered_at), int(tx.execute(before).scalar_one()))


def not_graded_again(tx: Connection, correction: Correction, most: int) -> list[int]:
    """The first few workers whose answers have not been regraded after a correction, sorted by id."""
    again = grade.alias("again")
    graded = select(again.c.id).where(
        again.c.response_id == response.c.id,
        again.c.source.like(f"{LATER_GRADES}%"),
        again.c.graded_at >= correction.at,
    )
    query = (
        select(response.c.worker_id)
        .distinct()
        .where(response.c.item_id == correction.item_id, _BY_GOLD, _IS_THERE, response.c.submitted_at < correction.at)
        .where(~graded.exists())
    )
    return list(tx.execute(query.order_by(response.c.worker_id).limit(most)).scalars())


_BY_GOLD = response.c.kind != "production"
_IS_THERE = response.c.erased_at.is_(None)


def set_gold(tx: Connection, item_id: int, answer: str, explanation: str) -> None:
    tx.execute(update(gold).where(gold.c.item_id == item_id).values(answer=answer, explanation=explanation))


@dataclass(frozen=True, slots=True)
class GradedByGold:
    """An answer to gold, with the current gold answer."""

    response_id: int
    worker_id: int
    worker: str
    item_id: int
    kind: str
    answer: Any
    gold: Any
    submitted_at: int
    times: int
    """Number of grades by gold."""
    graded_at: int
    """Time of the latest grade by gold."""


def graded_by_gold(tx: Connection, stage_id: int, *, worker_id: int) -> list[GradedByGold]:
    """A worker's answers to gold in a stage, in the order of submission."""
    query = (
        select(
            response.c.id,
            response.c.worker_id,
            worker.c.pseudonym,
            *response.c["item_id", "kind", "answer"],
            gold.c.answer,
            response.c.submitted_at,
            func.count(grade.c.id),
            func.max(grade.c.graded_at),
        )
        .join(gold, gold.c.item_id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(grade, grade.c.response_id == response.c.id)
        .where(response.c.stage_id == stage_id, response.c.worker_id == worker_id, _BY_GOLD)
        .where(or_(grade.c.source == FIRST_GRADE, grade.c.source.like(f"{LATER_GRADES}%")))
        .group_by(response.c.id, worker.c.pseudonym, gold.c.answer)
        .order_by(response.c.id)
    )
    graded: list[GradedByGold] = []
    for number, worker_no, name, item_id, kind, answer, expected, at, times, graded_at in tx.execute(query):
        given, right = frozen_from_text(answer), frozen_from_text(expected)
        graded.append(GradedByGold(number, worker_no, name, item_id, kind, given, right, at, times, graded_at))
    return graded


def set_record(tx: Connection, stage_id: int, worker_id: int, right: int, recent: str, standing: Standing) -> None:
    """Store a worker's gold record after a correction, and mark their labels for an update."""
    tx.execute(
        update(participation)
        .where(participation.c.stage_id == stage_id, participation.c.worker_id == worker_id)
        .values(gold_right=right, gold_recent=recent, standing=standing.value, changes=participation.c.changes + 1)
    )


def paid_for_gold(tx: Connection, stage_id: int, worker_id: int) -> int:
    """A worker's gold bonuses in a stage, including those from corrections."""
    query = select(func.coalesce(func.sum(entry.c.amount), 0)).where(
        entry.c.worker_id == worker_id,
        entry.c.stage_id == stage_id,
        entry.c.kind == EntryKind.BONUS,
        or_(entry.c.cause.like("response:%:gold"), entry.c.cause.like("correction:%")),
    )
    return int(tx.execute(query).scalar_one())
