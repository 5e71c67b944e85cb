"""Reading a study: what consoles show and exports write. Nothing here changes anything."""

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, literal_column, or_, select

from chorale.model import EntryKind, ItemState, Label, SourceItem, Standing
from chorale.store import mturk_schema
from chorale.store.corrections import FIRST_GRADE, latest_gold_grade
from chorale.store.corrections import KIND as CORRECTED
from chorale.store.schema import (
    assignment,
    entry,
    event,
    gold,
    grade,
    item,
    item_source,
    participation,
    response,
    stage,
    worker,
)

STREAMED = {"yield_per": 5_000}
HITS = "mturk"
"""The task of the stage that scripts put their HITs beside."""


@dataclass(frozen=True, slots=True)
class StageCounts:
    """Where a stage stands."""

    stage_id: int
    name: str
    state: str
    items: int
    """Items to be judged; gold made for checking alone is not among them."""
    complete: int
    released: int
    withdrawn: int
    judgments: int
    """Counted judgments."""
    discarded: int
    """Production responses that do not count: their worker was dropped, or their item withdrawn."""
    gold_items: int
    gold_answers: int
    live: int
    workers: int
    """Those who have answered something, or submitted a HIT."""
    dropped: int
    paid: int
    fees: int


def stage_counts(tx: Connection) -> list[StageCounts]:
    # Items that are gold and nothing else ask for no judgments.
    judged = or_(item.c.wanted > 0, item.c.counted > 0)
    items = _by_stage(
        tx,
        select(
            item.c.stage_id,
            func.sum(case((and_(judged, item.c.state != ItemState.WITHDRAWN), 1), else_=0)),
            func.sum(case((and_(judged, item.c.state == ItemState.COMPLETE), 1), else_=0)),
            func.sum(case((and_(item.c.released, item.c.state == ItemState.COMPLETE), 1), else_=0)),
            func.sum(case((item.c.state == ItemState.WITHDRAWN, 1), else_=0)),
            func.sum(case((item.c.state != ItemState.WITHDRAWN, item.c.counted), else_=0)),
        ).group_by(item.c.stage_id),
    )
    responses = _by_stage(
        tx,
        select(
            response.c.stage_id,
            func.sum(case((response.c.kind == "production", 1), else_=0)),
            func.sum(case((response.c.kind == "gold", 1), else_=0)),
        ).group_by(response.c.stage_id),
    )
    golds = _by_stage(tx, select(gold.c.stage_id, func.count()).where(gold.c.active).group_by(gold.c.stage_id))
    live = _by_stage(
        tx,
        select(assignment.c.stage_id, func.count())
        .where(assignment.c.state == literal_column("'live'"))
        .group_by(assignment.c.stage_id),
    )
    # Scripts' HITs are no items of the stage they stand beside, and answers to them no responses.
    did_hits = and_(
        participation.c.stage_id.in_(select(stage.c.id).where(stage.c.task == HITS)),
        participation.c.worker_id.in_(
            select(mturk_schema.assignment.c.worker_id).where(mturk_schema.assignment.c.submitted_at.is_not(None))
        ),
    )
    people = _by_stage(
        tx,
        select(
            participation.c.stage_id,
            func.sum(case((or_(participation.c.answered > 0, did_hits), 1), else_=0)),
            func.sum(case((participation.c.standing == Standing.DROPPED, 1), else_=0)),
            func.sum(participation.c.earned),
            func.sum(participation.c.fees),
        ).group_by(participation.c.stage_id),
    )
    rows = []
    for row in tx.execute(select(stage).order_by(stage.c.position)):
        total, complete, released, withdrawn, counted = items.get(row.id, (0, 0, 0, 0, 0))
        production, gold_answers = responses.get(row.id, (0, 0))
        workers, dropped, paid, fees = people.get(row.id, (0, 0, 0, 0))
        rows.append(
            StageCounts(
                stage_id=row.id,
                name=row.name,
                state=row.state,
                items=total,
                complete=complete,
                released=released,
                withdrawn=withdrawn,
                judgments=counted,
                discarded=production - counted,
                gold_items=golds.get(row.id, (0,))[0],
                gold_answers=gold_answers,
                live=live.get(row.id, (0,))[0],
                workers=workers,
                dropped=dropped,
                paid=paid,
                fees=fees,
            )
        )
    return rows


def _by_stage(tx: Connection, query: Select[Any]) -> dict[int, tuple[int, ...]]:
    return {row[0]: tuple(int(value or 0) for value in row[1:]) for row in tx.execute(query)}


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """A worker in a stage."""

    stage: str
    worker: str
    standing: str
    answered: int
    gold_answered: int
    gold_right: int
    gold_recent: str
    earned: int
    fees: int
    worked_ms: int
    entered_at: int


def worker_standings(
    tx: Connection, *, stage_name: str | None = None, pseudonym: str | None = None
) -> list[WorkerStanding]:
    query: Select[Any] = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            participation.c.standing,
            participation.c.answered,
            participation.c.gold_answered,
            participation.c.gold_right,
            participation.c.gold_recent,
            participation.c.earned,
            participation.c.fees,
            participation.c.worked_ms,
            participation.c.entered_at,
        )
        .join(stage, stage.c.id == participation.c.stage_id)
        .join(worker, worker.c.id == participation.c.worker_id)
        .order_by(stage.c.position, participation.c.entered_at, worker.c.pseudonym)
    )
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    return [WorkerStanding(*row) for row in tx.execute(query)]


@dataclass(frozen=True, slots=True)
class ItemRow:
    id: int
    stage: str
    key: str
    group: str
    payload: dict[str, Any]
    state: str
    wanted: int
    taken: int
    answer: Any
    confidence: float | None
    judgments: int
    released: bool
    is_gold: bool
    sampled: bool
    """Drawn to get another number of judgments."""
    response_id: int | None = None
    """The answer it was made from, where it was made from one."""

    def label(self) -> Label | None:
        """The label of a complete item."""
        if self.state != ItemState.COMPLETE or self.confidence is None:
            return None
        return Label(self.answer, self.confidence, self.judgments, self.released)

    def as_source(self) -> SourceItem:
        return SourceItem(self.id, self.key, self.group, self.payload, self.label())


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


def _item_row(row: Any) -> ItemRow:
    return ItemRow(
        row[0],
        row[1],
        row[2],
        row[3],
        json.loads(row[4]),
        row[5],
        row[6],
        row[7],
        None if row[8] is None else json.loads(row[8]),
        row[9],
        row[10],
        bool(row[11]),
        bool(row[12]),
        bool(row[13]),
        row[14],
    )


ITEM_ORDERS: dict[str, Any] = {
    "key": (item.c.key,),
    "confidence": (item.c.confidence.is_(None), item.c.confidence, item.c.key),
    "judgments": (item.c.counted.desc(), item.c.key),
}


def items_page(
    tx: Connection,
    stage_name: str,
    *,
    state: str | None = None,
    released: bool | None = None,
    order: str = "key",
    offset: int = 0,
    limit: int = 50,
) -> tuple[list[ItemRow], int]:
    """A page of a stage's items, and how many there are in all."""
    query = _ITEMS.where(stage.c.name == stage_name, or_(item.c.wanted > 0, item.c.counted > 0))
    if state is not None:
        query = query.where(item.c.state == state)
    if released is not None:
        query = query.where(item.c.released == released)
    total = tx.execute(select(func.count()).select_from(query.subquery())).scalar_one()
    rows = tx.execute(query.order_by(*ITEM_ORDERS[order]).offset(offset).limit(limit))
    return [_item_row(row) for row in rows], int(total)


def one_item(tx: Connection, stage_name: str, key: str) -> ItemRow | None:
    row = tx.execute(_ITEMS.where(stage.c.name == stage_name, item.c.key == key)).first()
    return None if row is None else _item_row(row)


def items_by_id(tx: Connection, ids: Sequence[int]) -> list[ItemRow]:
    """Some items, in the order of their ids as given."""
    found = {row[0]: _item_row(row) for row in tx.execute(_ITEMS.where(item.c.id.in_(ids)))} if ids else {}
    return [found[item_id] for item_id in ids if item_id in found]


def all_items(tx: Connection, stage_name: str) -> Iterator[ItemRow]:
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
    found: dict[int, list[str]] = {}
    for item_id, name, key in tx.execute(query, execution_options=STREAMED):
        found.setdefault(item_id, []).append(f"{name}/{key}")
    return found


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


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """A submitted answer with everything that belongs to it."""

    id: int
    stage: str
    task: str
    task_version: int
    item: str
    group: str
    worker: str
    kind: str
    answer: Any
    submitted_at: int
    duration_ms: int
    counts: bool
    """Whether it counts towards the item's label."""
    gold_answer: Any
    gold_score: float | None
    item_id: int
    item_payload: str
    """JSON, as stored: only exports need it taken apart."""
    item_state: str
    item_label: Any
    item_confidence: float | None
    item_released: bool


_RESPONSE_FIELDS: tuple[Any, ...] = (
    response.c.id,
    stage.c.name.label("stage"),
    stage.c.task,
    response.c.task_version,
    item.c.key,
    item.c.group_key,
    worker.c.pseudonym,
    response.c.kind,
    response.c.answer,
    response.c.submitted_at,
    response.c.duration_ms,
    participation.c.standing,
    gold.c.answer.label("gold_answer"),
    grade.c.score,
    item.c.id.label("item_id"),
    item.c.payload,
    item.c.state,
    item.c.label,
    item.c.confidence,
    item.c.released,
)


def _responses(*fields: Any) -> Select[Any]:
    return (
        select(*fields)
        .select_from(response)
        .join(stage, stage.c.id == response.c.stage_id)
        .join(item, item.c.id == response.c.item_id)
        .join(worker, worker.c.id == response.c.worker_id)
        .join(
            participation,
            and_(
                participation.c.stage_id == response.c.stage_id,
                participation.c.worker_id == response.c.worker_id,
            ),
        )
        .outerjoin(gold, and_(gold.c.item_id == response.c.item_id, response.c.kind != "production"))
        .outerjoin(grade, grade.c.id == case((response.c.kind != "production", latest_gold_grade())))
        .order_by(response.c.id)
    )


_RESPONSES = _responses(*_RESPONSE_FIELDS)
_WITHOUT_PAYLOADS = _responses(*(field for field in _RESPONSE_FIELDS if field is not item.c.payload))


class _Shared:
    """Parses JSON, and the same few short texts only once."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def parsed(self, text: str) -> Any:
        if text in self._known:
            return self._known[text]
        found = json.loads(text)
        if len(text) <= _SHORT and len(self._known) < _MOST_SHARED:
            self._known[text] = found
        return found


_SHORT, _MOST_SHARED = 200, 10_000

RESPONSE_COLUMNS = tuple(column.name for column in _RESPONSES.selected_columns)


def response_batches(tx: Connection, size: int) -> Iterator[Sequence[Sequence[Any]]]:
    """All responses in the order they came, as the database has them, so many at a time: see RESPONSE_COLUMNS."""
    yield from tx.execute(_RESPONSES, execution_options={"yield_per": size}).partitions()


def count_responses(tx: Connection) -> int:
    return tx.execute(select(func.count()).select_from(response)).scalar_one()


def all_responses(
    tx: Connection,
    *,
    stage_name: str | None = None,
    pseudonym: str | None = None,
    item_ids: Collection[int] | None = None,
    after: int = 0,
    by_item: bool = False,
    to_keep: bool = False,
) -> Iterator[ResponseRow]:
    """Responses in the order they came, streamed: all, or those after one of them. `by_item` puts items' together.

    `to_keep` is for those who hold all of them: without the items' payloads, and what is the same is there once.
    """
    query = _WITHOUT_PAYLOADS if to_keep else _RESPONSES
    named, parsed = (sys.intern, _Shared().parsed) if to_keep else (str, json.loads)
    if stage_name is not None:
        query = query.where(stage.c.name == stage_name)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    if item_ids is not None:
        query = query.where(response.c.item_id.in_(item_ids))
    if after:
        query = query.where(response.c.id > after)
    if by_item:
        query = query.order_by(None).order_by(response.c.item_id, response.c.id)
    for row in tx.execute(query, execution_options=STREAMED):
        yield ResponseRow(
            id=row.id,
            stage=named(row.stage),
            task=named(row.task),
            task_version=row.task_version,
            item=named(row.key),
            group=named(row.group_key),
            worker=named(row.pseudonym),
            kind=named(row.kind),
            answer=parsed(row.answer),
            submitted_at=row.submitted_at,
            duration_ms=row.duration_ms,
            counts=row.kind == "production" and row.standing == Standing.ACTIVE,
            gold_answer=None if row.gold_answer is None else parsed(row.gold_answer),
            gold_score=row.score,
            item_id=row.item_id,
            item_payload="" if to_keep else row.payload,
            item_state=named(row.state),
            item_label=None if row.label is None else parsed(row.label),
            item_confidence=row.confidence,
            item_released=bool(row.released),
        )


@dataclass(frozen=True, slots=True)
class LedgerLine:
    id: int
    at: int
    worker: str
    stage: str
    kind: str
    amount: int
    reason: str
    cause: str


def ledger(tx: Connection, *, limit: int | None = None, pseudonym: str | None = None) -> Iterator[LedgerLine]:
    """The ledger, newest first, streamed."""
    query: Select[Any] = (
        select(
            entry.c.id,
            entry.c.at,
            worker.c.pseudonym,
            stage.c.name,
            entry.c.kind,
            entry.c.amount,
            entry.c.reason,
            entry.c.cause,
        )
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .order_by(entry.c.id.desc())
    )
    if limit is not None:
        query = query.limit(limit)
    if pseudonym is not None:
        query = query.where(worker.c.pseudonym == pseudonym)
    for row in tx.execute(query, execution_options=STREAMED):
        yield LedgerLine(*row)


def ledger_totals(tx: Connection) -> dict[str, int]:
    """The sum of every kind of entry."""
    sums = {
        str(kind): int(total)
        for kind, total in tx.execute(select(entry.c.kind, func.sum(entry.c.amount)).group_by(entry.c.kind))
    }
    return {kind: sums.get(kind, 0) for kind in EntryKind}


def paid_by_participation(tx: Connection) -> dict[tuple[str, str], tuple[int, int]]:
    """(stage, worker) → what the ledger says was paid, and its fees."""
    query = (
        select(
            stage.c.name,
            worker.c.pseudonym,
            func.sum(case((entry.c.kind == EntryKind.FEE, 0), else_=entry.c.amount)),
            func.sum(case((entry.c.kind == EntryKind.FEE, entry.c.amount), else_=0)),
        )
        .join(worker, worker.c.id == entry.c.worker_id)
        .join(stage, stage.c.id == entry.c.stage_id)
        .group_by(stage.c.name, worker.c.pseudonym)
    )
    return {(name, pseudonym): (int(paid), int(fees)) for name, pseudonym, paid, fees in tx.execute(query)}


def paid_and_worked(tx: Connection) -> list[tuple[int, int]]:
    """What every worker was paid in all, and how long they worked."""
    query = select(func.sum(participation.c.earned), func.sum(participation.c.worked_ms)).group_by(
        participation.c.worker_id
    )
    return [(int(paid), int(worked)) for paid, worked in tx.execute(query)]


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


def gold_items(tx: Connection, stage_name: str) -> list[GoldRow]:
    """A stage's gold and how workers did on it: gold that most get wrong may itself be wrong."""
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
            func.sum(case((grade.c.score >= 1, 1), else_=0)),
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
    again = _right_after_corrections(tx)
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


def _right_after_corrections(tx: Connection) -> dict[int, int]:
    """How many answers to gold that was corrected are right by now. Few gold is, so others are not looked at twice."""
    corrected = select(event.c.item_id).where(event.c.kind == CORRECTED)
    query = (
        select(response.c.item_id, func.sum(case((grade.c.score >= 1, 1), else_=0)))
        .select_from(response)
        .join(grade, grade.c.id == latest_gold_grade())
        .where(response.c.item_id.in_(corrected), response.c.kind == "gold")
        .group_by(response.c.item_id)
    )
    return {int(row[0]): int(row[1]) for row in tx.execute(query)}
