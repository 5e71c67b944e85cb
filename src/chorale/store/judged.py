"""Reads the data to settle an item and to derive items of later stages, each in one query."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, literal_column, select

from chorale.model import GoldSettings, Judgment, Payload, SourceItem
from chorale.store.codec import frozen_from_text
from chorale.store.items import CONTENT
from chorale.store.labels import COLUMNS, GROUP, ITEM, JUDGMENTS, ItemProgress, as_judgments, group_progress
from chorale.store.prepared import Prepared, Scope, together
from chorale.store.schema import item, item_source, worker


class Derivable(NamedTuple):
    """The data from which items of later stages are derived, and the existing derived items."""

    payloads: Sequence[Payload]
    """The source items of the group."""
    judgments: Mapping[int, tuple[Judgment, ...]]
    """Judgments of items that were not read before."""
    present: Sequence[Sequence[ItemProgress]]
    """Derived items, by later stage."""


class JudgedGroup(NamedTuple):
    """Items of a group, with the counted judgments of those to settle."""

    group: list[ItemProgress]
    judgments: dict[int, tuple[Judgment, ...]]
    answering: str = ""
    """The pseudonym of the worker who is about to answer one of them, if any."""
    derivable: Derivable | None = None
    """The data to derive items, if it was read with them."""


_PSEUDONYM = Prepared(select(worker.c.pseudonym).where(worker.c.id == bindparam("worker_id")), Scope())


def read_item(
    tx: Connection,
    item_id: int,
    rule: GoldSettings | None,
    *,
    group: tuple[int, str] | None,
    answering: int | None = None,
) -> JudgedGroup:
    """An item (or its whole group, if the stage and name are given) with the item's counted judgments.

    `answering` is the worker who is about to answer it.
    """
    asked: list[tuple[Prepared, dict[str, Any]]] = [(ITEM, {"item_id": item_id})]
    if group is not None:
        asked = [(GROUP, {"stage_id": group[0], "group_key": group[1]})]
    asked.append((JUDGMENTS, {"item_id": item_id}))
    if answering is not None:
        asked.append((_PSEUDONYM, {"worker_id": answering}))
    rows, judged, *names = together(tx, *asked)
    name = names[0][0][0] if names else ""
    return JudgedGroup([ItemProgress._make(row) for row in rows], {item_id: as_judgments(judged, rule)}, name)


def read_group(tx: Connection, stage_id: int, group_key: str, rule: GoldSettings | None) -> JudgedGroup:
    """The items of one group, and the counted judgments of all of them."""
    group = group_progress(tx, stage_id, group_key)
    judged = together(tx, *((JUDGMENTS, {"item_id": item.id}) for item in group))
    return JudgedGroup(group, {item.id: as_judgments(rows, rule) for item, rows in zip(group, judged, strict=True)})


def sources_of(judged: JudgedGroup, derivable: Derivable) -> list[SourceItem]:
    """The items as later stages use them."""
    known = {**derivable.judgments, **judged.judgments}
    with_payloads = zip(judged.group, derivable.payloads, strict=True)
    return [item.as_source(payload, known[item.id]) for item, payload in with_payloads]


@cache
def _derived_from(count: int) -> Prepared:
    """The query for this number of source items, usually one or two."""
    sources = [bindparam(f"source_{number}", type_=item_source.c.source_id.type) for number in range(count)]
    # The expression keeps SQLite from scanning the whole stage: it should start with the few derived items.
    query = select(*COLUMNS).where(item.c.stage_id + literal_column("0") == bindparam("stage_id"))
    if count == 1:
        query = query.join(item_source, item_source.c.item_id == item.c.id).where(item_source.c.source_id == sources[0])
    else:
        children = select(item_source.c.item_id).where(item_source.c.source_id.in_(sources))
        query = query.where(item.c.id.in_(children))
    # Adding an item also changes its source, which every reader of this has read.
    return Prepared(query.order_by(item.c.id), Scope(item=0))


def read_derivable(tx: Connection, judged: JudgedGroup, rule: GoldSettings | None, later: Sequence[int]) -> Derivable:
    """Read the data to derive items of later stages, and the existing derived items."""
    group = judged.group
    unknown = [item.id for item in group if item.id not in judged.judgments]
    sources = {f"source_{number}": item.id for number, item in enumerate(group)}
    results = iter(
        together(
            tx,
            *((CONTENT, {"item_id": item.id}) for item in group),
            *((JUDGMENTS, {"item_id": item_id}) for item_id in unknown),
            *((_derived_from(len(sources)), {"stage_id": stage_id, **sources}) for stage_id in later),
        )
    )
    payloads = [frozen_from_text(next(results)[0][1]) for _ in group]
    judgments = {item_id: as_judgments(next(results), rule) for item_id in unknown}
    return Derivable(payloads, judgments, [[ItemProgress._make(row) for row in rows] for rows in results])
