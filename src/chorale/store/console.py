"""What the console asks for: few rows at a time, found by an index, however large the study is."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, case, delete, func, literal_column, or_, select

from chorale.model import ItemState, Standing
from chorale.store.results import StageCounts
from chorale.store.schema import (
    assignment,
    entry,
    event,
    gold,
    grade,
    item,
    item_source,
    participation,
    qualification,
    response,
    stage,
    verdict,
    worker,
)


def has_entry(tx: Connection, cause: str) -> bool:
    return tx.execute(select(entry.c.id).where(entry.c.cause == cause)).first() is not None


def take_qualification(tx: Connection, worker_id: int, name: str) -> int | None:
    """Take a qualification away; since when they had it, or None if they had none of that name."""
    query = delete(qualification).where(qualification.c.worker_id == worker_id, qualification.c.name == name)
    return tx.execute(query.returning(qualification.c.granted_at)).scalar()


def qualifications_of(tx: Connection, worker_id: int) -> list[tuple[str, int]]:
    """Names and since when, in the order they were given."""
    query = select(qualification.c.name, qualification.c.granted_at).where(qualification.c.worker_id == worker_id)
    rows = tx.execute(query.order_by(qualification.c.granted_at, qualification.c.name))
    return [(str(name), int(at)) for name, at in rows]


def answered_since(tx: Connection, worker_id: int, most: int) -> int:
    """The number of the response before the last so many of a worker's; 0 if they gave fewer."""
    query = select(response.c.id).where(response.c.worker_id == worker_id).order_by(response.c.id.desc())
    return int(tx.execute(query.offset(most).limit(1)).scalar() or 0)


# Items


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
    "most judged": (item.c.counted, False),
}
"""What items are ordered by before their key, and whether upwards."""


def item_ids(tx: Connection, wanted: ItemsWanted, limit: int) -> list[tuple[int, float | None]]:
    """The ids of the next items, and what each was ordered by besides its key."""
    by, upwards = ITEM_ORDERS[wanted.order]
    query = select(item.c.id, by if by is not None else item.c.id).where(
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
    return [(row[0], row[1] if by is not None else None) for row in tx.execute(query.limit(limit))]


def _item_filters(wanted: ItemsWanted) -> list[Any]:
    found: list[Any] = []
    if wanted.state:
        found.append(item.c.state == wanted.state)
    if wanted.released is not None:
        found.append(item.c.released == wanted.released)
    if wanted.below is not None:
        found.append(item.c.confidence <= wanted.below)
    if wanted.disagreement == "split":
        # Where all said the same, the result is certain: the index leaves those out before anything is counted.
        # By keys they are walked through in that order; the sum keeps SQLite from sorting all that are not certain.
        confidence = item.c.confidence + 0 if wanted.order == "key" else item.c.confidence
        found += [confidence < 1, _different_answers() > 1]
    elif wanted.disagreement == "unanimous":
        found += [item.c.counted > 1, _different_answers() == 1]
    elif wanted.disagreement == "not unanimous":
        found.append(or_(item.c.counted <= 1, _different_answers() > 1))
    if wanted.under is not None:
        found.append(item.c.confidence < wanted.under)
    if wanted.not_gold:
        found.append(~select(gold.c.item_id).where(gold.c.item_id == item.c.id, gold.c.active).exists())
    if wanted.arm:
        in_arm = select(response.c.id).join(worker, worker.c.id == response.c.worker_id)
        found.append(in_arm.where(response.c.item_id == item.c.id, worker.c.arm == wanted.arm).exists())
    if wanted.worker:
        who = select(worker.c.id).where(worker.c.pseudonym == wanted.worker).scalar_subquery()
        answered = select(response.c.item_id).where(response.c.worker_id == who, response.c.stage_id == wanted.stage_id)
        found.append(item.c.id.in_(answered))
    return found


def _different_answers() -> Any:
    """How many different answers to an item count."""
    return (
        select(func.count(response.c.answer.distinct()))
        .join(
            participation,
            and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id),
        )
        .where(
            response.c.item_id == item.c.id,
            response.c.kind == "production",
            participation.c.standing == Standing.ACTIVE,
        )
        .correlate(item)
        .scalar_subquery()
    )


@dataclass(frozen=True, slots=True)
class GradeOfItem:
    """A grade of an answer to an item."""

    response_id: int
    worker: str
    source: str
    score: float
    reasons: tuple[str, ...]
    criteria: Mapping[str, float]
    graded_at: int


def grades_of_item(tx: Connection, item_id: int) -> list[GradeOfItem]:
    """Every grade of every answer to an item, the oldest first."""
    query = (
        select(
            grade.c.response_id,
            worker.c.pseudonym,
            grade.c.source,
            grade.c.score,
            grade.c.reasons,
            grade.c.criteria,
            grade.c.graded_at,
        )
        .join(response, response.c.id == grade.c.response_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .where(response.c.item_id == item_id)
        .order_by(grade.c.id)
    )
    return [
        GradeOfItem(row[0], row[1], row[2], row[3], tuple(json.loads(row[4])), json.loads(row[5] or "{}"), row[6])
        for row in tx.execute(query)
    ]


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


def usual_durations(tx: Connection, worker_id: int) -> dict[str, int]:
    """What an answer takes others than this worker on average, by the stages they worked in; milliseconds."""
    mine = select(participation.c.stage_id).where(participation.c.worker_id == worker_id)
    query = (
        select(stage.c.name, func.sum(participation.c.worked_ms), func.sum(participation.c.answered))
        .join(stage, stage.c.id == participation.c.stage_id)
        .where(participation.c.worker_id != worker_id, participation.c.stage_id.in_(mine))
        .group_by(stage.c.name)
    )
    return {str(name): round(int(worked) / int(answered)) for name, worked, answered in tx.execute(query) if answered}


# The overview


def stage_tallies(tx: Connection, rounds: Collection[int]) -> list[StageCounts]:
    """The same as `results.stage_counts`, from what is counted while people work: no answer is looked at.

    `rounds` are the ids of the stages that are rounds: all their answers are to gold, and none of them in production.
    """
    states: dict[int, dict[tuple[str, bool], int]] = defaultdict(dict)
    by_state = select(item.c.stage_id, item.c.state, item.c.released, func.count())
    for stage_id, state, released, count in tx.execute(
        by_state.group_by(item.c.stage_id, item.c.state, item.c.released)
    ):
        states[stage_id][str(state), bool(released)] = count
    # Gold that is nothing else asks for no judgments, and is not among the items.
    bare = _of_stages(
        tx,
        select(gold.c.stage_id, func.count())
        .join(item, item.c.id == gold.c.item_id)
        .where(item.c.wanted == 0, item.c.counted == 0)
        .group_by(gold.c.stage_id),
    )
    golds = _of_stages(tx, select(gold.c.stage_id, func.count()).where(gold.c.active).group_by(gold.c.stage_id))
    live = _of_stages(
        tx,
        select(assignment.c.stage_id, func.count())
        .where(assignment.c.state == literal_column("'live'"))
        .group_by(assignment.c.stage_id),
    )
    withdrawn_judgments = _of_stages(
        tx,
        select(item.c.stage_id, func.sum(item.c.counted))
        .where(item.c.state == ItemState.WITHDRAWN)
        .group_by(item.c.stage_id),
    )
    people = {row.stage_id: row for row in tx.execute(_PEOPLE)}
    found = []
    for row in tx.execute(select(stage).order_by(stage.c.position)):
        counts, who = states[row.id], people.get(row.id)
        produced = int(who.produced) if who else 0
        judgments = (int(who.counted) if who else 0) - withdrawn_judgments.get(row.id, 0)
        complete = sum(count for (state, _), count in counts.items() if state == ItemState.COMPLETE)
        withdrawn = sum(count for (state, _), count in counts.items() if state == ItemState.WITHDRAWN)
        found.append(
            StageCounts(
                stage_id=row.id,
                name=row.name,
                state=row.state,
                items=sum(counts.values()) - withdrawn - bare.get(row.id, 0),
                complete=complete - bare.get(row.id, 0),
                released=counts.get((ItemState.COMPLETE, True), 0),
                withdrawn=withdrawn,
                judgments=judgments,
                discarded=produced - judgments,
                gold_items=golds.get(row.id, 0),
                gold_answers=0 if who is None or row.id in rounds else int(who.gold),
                live=live.get(row.id, 0),
                workers=int(who.workers) if who else 0,
                dropped=int(who.dropped) if who else 0,
                paid=int(who.paid) if who else 0,
                fees=int(who.fees) if who else 0,
            )
        )
    return found


_PRODUCED = participation.c.answered - participation.c.gold_answered
_PEOPLE = select(
    participation.c.stage_id,
    func.sum(_PRODUCED).label("produced"),
    func.sum(case((participation.c.standing == Standing.ACTIVE, _PRODUCED), else_=0)).label("counted"),
    func.sum(participation.c.gold_answered).label("gold"),
    func.sum(case((participation.c.answered > 0, 1), else_=0)).label("workers"),
    func.sum(case((participation.c.standing == Standing.DROPPED, 1), else_=0)).label("dropped"),
    func.sum(participation.c.earned).label("paid"),
    func.sum(participation.c.fees).label("fees"),
).group_by(participation.c.stage_id)


def _of_stages(tx: Connection, query: Select[Any]) -> dict[int, int]:
    return {int(row[0]): int(row[1] or 0) for row in tx.execute(query)}


def bonuses(tx: Connection) -> int:
    """The sum of all bonuses."""
    query = select(func.coalesce(func.sum(entry.c.amount), 0)).where(entry.c.kind == literal_column("'bonus'"))
    return int(tx.execute(query).scalar_one())


@dataclass(frozen=True, slots=True)
class WorkedRow:
    """What one worker did in one stage, in few columns: there are many of these."""

    stage_id: int
    worker_id: int
    worker: str
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    worked_ms: int


_WORKED: Select[Any] = select(
    participation.c.stage_id,
    participation.c.worker_id,
    worker.c.pseudonym,
    participation.c.standing,
    participation.c.answered,
    participation.c.gold_answered,
    participation.c.gold_right,
    participation.c.gold_recent,
    participation.c.earned,
    participation.c.worked_ms,
).join(worker, worker.c.id == participation.c.worker_id)


def worked(tx: Connection) -> list[WorkedRow]:
    """Everybody who has answered something, in every stage."""
    return [WorkedRow(*row) for row in tx.execute(_WORKED.where(participation.c.answered > 0))]


def last_answer_at(tx: Connection, stage_id: int) -> int | None:
    """When the latest answer of a stage came."""
    query = select(response.c.submitted_at).where(response.c.stage_id == stage_id)
    return tx.execute(query.order_by(response.c.id.desc()).limit(1)).scalar()


def labels_over_time(tx: Connection, parts: int, each: int) -> list[list[tuple[int, int, dict[str, Any]]]]:
    """A few labels from each part of the record: moment, stage and evidence. All of them would be too many to read."""
    ends = select(func.min(event.c.id), func.max(event.c.id)).where(event.c.kind == "labelled")
    first, last = tx.execute(ends).one()
    if first is None:
        return []
    step = max(1, -(-(last - first + 1) // parts))
    found = []
    for start in range(first, last + 1, step):
        query = (
            select(event.c.at, event.c.stage_id, event.c.evidence)
            .where(event.c.kind == "labelled", event.c.id >= start, event.c.id < start + step)
            .order_by(event.c.id)
            .limit(each)
        )
        rows = [(int(at), int(stage_id), json.loads(told)) for at, stage_id, told in tx.execute(query)]
        if rows:
            found.append(rows)
    return found


@dataclass(frozen=True, slots=True)
class GoldMet:
    """How workers did on one gold item lately."""

    stage_id: int
    key: str
    answered: int
    right: int


def gold_met(tx: Connection, latest: int) -> list[GoldMet]:
    """How the latest answers to gold in use were graded, by item; by gold as it is, where it was corrected."""
    some = (
        select(grade.c.id, grade.c.response_id, grade.c.score)
        .where(or_(grade.c.source == "gold", grade.c.source.like("gold:%")))
        .order_by(grade.c.id.desc())
        .limit(latest)
        .subquery()
    )
    query = (
        select(some.c.response_id, some.c.score, item.c.stage_id, item.c.key)
        .join(response, response.c.id == some.c.response_id)
        .join(item, item.c.id == response.c.item_id)
        .join(gold, and_(gold.c.item_id == item.c.id, gold.c.active))
        .where(response.c.kind == "gold")
        .order_by(some.c.id.desc())
    )
    graded: dict[int, tuple[tuple[int, str], bool]] = {}
    for response_id, score, stage_id, key in tx.execute(query):
        graded.setdefault(response_id, ((int(stage_id), str(key)), score >= 1))
    answered, right = Counter(where for where, _ in graded.values()), Counter[tuple[int, str]]()
    right.update(where for where, is_right in graded.values() if is_right)
    return [GoldMet(*where, count, right[where]) for where, count in sorted(answered.items())]


def gone_bad(tx: Connection, since: int, most: int) -> list[tuple[str, str]]:
    """Stage and worker of those who were dropped since a moment, the latest first."""
    query = (
        select(stage.c.name, worker.c.pseudonym)
        .select_from(event)
        .join(stage, stage.c.id == event.c.stage_id)
        .join(worker, worker.c.id == event.c.worker_id)
        .where(event.c.kind == "dropped", event.c.at >= since)
        .order_by(event.c.id.desc())
        .limit(most)
    )
    return [(str(name), str(who)) for name, who in tx.execute(query)]


def passed_gates(tx: Connection) -> dict[str, int]:
    """How many passed every gate."""
    query = select(verdict.c.gate, func.count()).where(verdict.c.passed).group_by(verdict.c.gate)
    return {str(name): int(count) for name, count in tx.execute(query)}


def derived_counts(tx: Connection, stage_id: int, sources: Collection[int]) -> dict[int, int]:
    """How many items of a stage came from every stage that it has several of."""
    earlier = item.alias("earlier")
    query = (
        select(earlier.c.stage_id, func.count(item.c.id.distinct()))
        .select_from(item)
        .join(item_source, item_source.c.item_id == item.c.id)
        .join(earlier, earlier.c.id == item_source.c.source_id)
        .where(item.c.stage_id == stage_id, earlier.c.stage_id.in_(sources), item.c.state != ItemState.WITHDRAWN)
        .group_by(earlier.c.stage_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}


def open_items(tx: Connection) -> dict[int, int]:
    """How many items wait for judgments, by stage."""
    query = select(item.c.stage_id, func.count()).where(item.c.state == literal_column("'open'"))
    return _of_stages(tx, query.group_by(item.c.stage_id))
