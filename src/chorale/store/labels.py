"""Derived data: labels, items derived from them, and pending updates."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)

from chorale.model import GoldRecord, GoldSettings, ItemState, Judgment, Label, Payload, SourceItem
from chorale.protocol import trust
from chorale.store.codec import answer_from_text, as_text
from chorale.store.model_schema import first_pass
from chorale.store.prepared import ONE, Prepared, Scope
from chorale.store.schema import assignment, item, item_source, participation, response, worker


class ItemProgress(NamedTuple):
    """An item with its label, without its content, which is large and rarely needed."""

    id: int
    key: str
    group_key: str
    state: str
    wanted: int
    taken: int
    label: str | None
    confidence: float | None
    counted: int
    released: bool
    response_id: int | None = None
    sampled: bool = False
    decision: str | None = None
    """Reviewers' decisions, by field."""

    def finished_label(self) -> Label | None:
        """The label of a complete item; None while it needs judgments or after it was withdrawn."""
        if self.state != ItemState.COMPLETE or self.label is None or self.confidence is None:
            return None
        return Label(answer_from_text(self.label), self.confidence, self.counted, bool(self.released))

    def as_source(self, payload: Payload, judgments: Sequence[Judgment]) -> SourceItem:
        return SourceItem(self.id, self.key, self.group_key, payload, self.finished_label(), tuple(judgments))


COLUMNS = tuple(item.c[name] for name in ItemProgress._fields)
# Includes the taken places, since settling an item writes them.
_AS_READ = Scope(item=0, place=0)
GROUP = Prepared(
    select(*COLUMNS)
    .where(item.c.stage_id == bindparam("stage_id"), item.c.group_key == bindparam("group_key"))
    .order_by(item.c.id),
    _AS_READ,
)


def group_progress(tx: Connection, stage_id: int, group_key: str) -> list[ItemProgress]:
    """The items of one group."""
    rows = GROUP.all(tx, stage_id=stage_id, group_key=group_key)
    return [ItemProgress._make(row) for row in rows]


ITEM = Prepared(select(*COLUMNS).where(item.c.id == bindparam("item_id")), _AS_READ)


def item_progress(tx: Connection, item_id: int) -> ItemProgress:
    """A single item."""
    return ItemProgress._make(ITEM.first(tx, item_id=item_id))


_GROUP_KEYS = (
    select(item.c.group_key)
    .where(
        item.c.stage_id == bindparam("stage_id"),
        or_(item.c.counted > 0, exists().where(first_pass.c.item_id == item.c.id)),
    )
    .group_by(item.c.group_key)
    .order_by(func.min(item.c.id))
)


def judged_groups(tx: Connection, stage_id: int) -> list[str]:
    return list(tx.execute(_GROUP_KEYS, {"stage_id": stage_id}).scalars())


def set_wanted_of_unjudged(tx: Connection, stage_id: int, wanted: int, *, sampled: bool) -> None:
    """Change the wanted number of judgments of items that have none. Places already taken stay."""
    at_least_taken = case((item.c.taken > wanted, item.c.taken), else_=wanted)
    tx.execute(
        update(item)
        .where(
            item.c.stage_id == stage_id,
            item.c.counted == 0,
            item.c.state.in_((ItemState.OPEN, ItemState.WAITING)),
            item.c.sampled == sampled,
            # A row that is written as it was is still a new one for PostgreSQL, in every index.
            item.c.wanted != at_least_taken,
        )
        .values(wanted=at_least_taken)
    )


_DERIVED = ("state", "wanted", "taken", "label", "confidence", "counted", "released")
_NEW = ("of_item", *(f"new_{name}" for name in _DERIVED))
_new = attrgetter("id", *_DERIVED)
_SAVE = Prepared(
    update(item).where(item.c.id == bindparam("of_item")).values({name: bindparam(f"new_{name}") for name in _DERIVED}),
    Scope(item="of_item", wanting="of_item"),
)


def save_label(tx: Connection, settled: ItemProgress) -> None:
    _SAVE(tx, **_new_values(settled))


def save_decision(tx: Connection, item_id: int, decision: str | None) -> None:
    """Store a reviewer's decision about an item, or remove it. The label is updated when the item is settled."""
    tx.execute(update(item).where(item.c.id == item_id).values(decision=decision))


def save_labels(tx: Connection, settled: Iterable[ItemProgress]) -> None:
    _SAVE.many(tx, map(_new_values, settled))


def _new_values(settled: ItemProgress) -> dict[str, Any]:
    return dict(zip(_NEW, _new(settled), strict=True))


_BETWEEN = Prepared(
    select(*COLUMNS).where(item.c.id >= bindparam("first"), item.c.id < bindparam("end")).order_by(item.c.id)
)


def items_between(tx: Connection, first: int, end: int) -> list[ItemProgress]:
    """The items with numbers in this range, excluding its end."""
    return [ItemProgress._make(row) for row in _BETWEEN.all(tx, first=first, end=end)]


_COUNT_ONE = Prepared(
    update(item).where(item.c.id == bindparam("of_item")).values(counted=item.c.counted + ONE),
    Scope(item="of_item", counted="of_item"),
)


def count_judgment(tx: Connection, item_id: int) -> None:
    """Count a judgment of an item that needs more before it can be decided."""
    _COUNT_ONE(tx, of_item=item_id)


_LIVE_COUNT = Prepared(
    select(func.count())
    .select_from(assignment)
    .where(
        assignment.c.item_id == bindparam("item_id"),
        assignment.c.kind == literal_column("'production'"),
        assignment.c.state == literal_column("'live'"),
    ),
    Scope(item="item_id", place="item_id"),
)


def live_leases(tx: Connection, item_id: int) -> int:
    return int(_LIVE_COUNT.value(tx, item_id=item_id))


def mark_sampled(tx: Connection, item_ids: Sequence[int]) -> None:
    """Mark items as sampled for a different number of judgments."""
    tx.execute(update(item).where(item.c.id.in_(item_ids)).values(sampled=True))


def items_from(
    tx: Connection, stage_id: int, source_stage_id: int | None, *, withdrawn: bool = False
) -> list[tuple[int, str, str]]:
    """Id, key and group of a stage's items to be judged: all, or those derived from one stage.

    Withdrawn items are left out by default.
    """
    query: Select[Any] = select(item.c.id, item.c.key, item.c.group_key).where(
        item.c.stage_id == stage_id, (item.c.wanted > 0) | (item.c.counted > 0)
    )
    if not withdrawn:
        query = query.where(item.c.state != ItemState.WITHDRAWN)
    if source_stage_id is not None:
        earlier = item.alias("earlier")
        query = query.where(
            item.c.id.in_(
                select(item_source.c.item_id)
                .join(earlier, earlier.c.id == item_source.c.source_id)
                .where(earlier.c.stage_id == source_stage_id)
            )
        )
    return [(row[0], row[1], row[2]) for row in tx.execute(query)]


_SET_STATE = Prepared(update(item).where(item.c.id == bindparam("of_item")).values(state=bindparam("new_state")))


def set_item_state(tx: Connection, item_id: int, state: ItemState) -> None:
    _SET_STATE(tx, of_item=item_id, new_state=state)


def restore_content(tx: Connection, item_id: int, payload: Payload) -> None:
    """Restore the content of an item that was emptied by an erasure, because other answers now make the same item."""
    tx.execute(update(item).where(item.c.id == item_id, item.c.payload == "{}").values(payload=as_text(payload)))


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A worker whose gold accuracy or status has changed since their labels were last updated."""

    stage_id: int
    worker_id: int
    changes: int


_UNSETTLED = Prepared(
    select(participation.c.stage_id, participation.c.worker_id, participation.c.changes)
    .where(text("changes > settled"))
    .order_by(participation.c.stage_id, participation.c.worker_id)
)


def unsettled(tx: Connection) -> list[Unsettled]:
    return [Unsettled(*row) for row in _UNSETTLED.all(tx)]


# A worker sees one item of a group, so groups are distinct.
_GROUPS_JUDGED_BY = Prepared(
    select(assignment.c.group_key)
    .where(
        assignment.c.stage_id == bindparam("stage_id"),
        assignment.c.worker_id == bindparam("worker_id"),
        assignment.c.kind == literal_column("'production'"),
        assignment.c.state == literal_column("'submitted'"),
    )
    .order_by(assignment.c.item_id)
)


def groups_judged_by(tx: Connection, stage_id: int, worker_id: int) -> list[str]:
    """The groups of items that a worker judged, in locking order."""
    return _GROUPS_JUDGED_BY.column(tx, stage_id=stage_id, worker_id=worker_id)


_NOTE_SETTLED = Prepared(
    update(participation)
    .where(
        participation.c.stage_id == bindparam("of_stage"),
        participation.c.worker_id == bindparam("of_worker"),
        participation.c.settled < bindparam("done"),
    )
    .values(settled=bindparam("done")),
    Scope(),
)


def note_settled(tx: Connection, done: Unsettled) -> None:
    """Record that labels are updated for these changes; there may be newer ones."""
    _NOTE_SETTLED(tx, of_stage=done.stage_id, of_worker=done.worker_id, done=done.changes)


COUNTED = (
    select(
        worker.c.pseudonym,
        response.c.answer,
        *participation.c["gold_right", "gold_answered", "gold_recent"],
        response.c.id,
        response.c.worker_id,
    )
    .select_from(response)
    .join(worker, worker.c.id == response.c.worker_id)
    .join(
        participation,
        and_(participation.c.stage_id == response.c.stage_id, participation.c.worker_id == response.c.worker_id),
    )
    .where(
        response.c.kind == literal_column("'production'"),
        participation.c.standing == literal_column("'active'"),
        response.c.erased_at.is_(None),
    )
)
"""All counted judgments: the only definition of which judgments count."""

JUDGMENTS = Prepared(COUNTED.where(response.c.item_id == bindparam("item_id")), Scope(trust=6, item="item_id"))


def judgments_of(tx: Connection, item_id: int, rule: GoldSettings | None) -> tuple[Judgment, ...]:
    """The counted judgments of an item, each with its worker's current trust by the stage's rule."""
    return as_judgments(JUDGMENTS.all(tx, item_id=item_id), rule)


def trust_in(record: GoldRecord, rule: GoldSettings | None) -> float:
    """The trust of a worker with this gold record."""
    return trust(record, None) if rule is None else _trusted_by(rule)(record.right, record.answered, record.recent)


def as_judgments(rows: Sequence[Any], rule: GoldSettings | None) -> tuple[Judgment, ...]:
    """Judgments from rows of JUDGMENTS, each with its worker's current trust."""
    if rule is None:
        # Without gold, all workers have the same trust.
        whole = trust(GoldRecord(), None)
        return tuple([Judgment(row[0], answer_from_text(row[1]), whole, row[5]) for row in rows])
    trusted = _trusted_by(rule)
    return tuple(
        [
            Judgment(name, answer_from_text(answer), trusted(right, answered, recent), response_id)
            for name, answer, right, answered, recent, response_id, _ in rows
        ]
    )


@lru_cache(maxsize=64)
def _trusted_by(rule: GoldSettings) -> Callable[[int, int, str], float]:
    """Trust by a rule, given a gold record. Cached, since many workers have the same record."""
    return lru_cache(maxsize=4096)(lambda right, answered, recent: trust(GoldRecord(right, answered, recent), rule))
