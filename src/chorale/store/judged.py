"""What an item is settled by, and what items of later stages are made of: each is read at once."""

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
    """What items of later stages are made of, and the existing ones."""

    payloads: Sequence[Payload]
    """Of each item of the group."""
    judgments: Mapping[int, tuple[Judgment, ...]]
    """Of those whose judgments were not known."""
    present: Sequence[Sequence[ItemProgress]]
    """What came from the group, in each of the later stages."""


class JudgedGroup(NamedTuple):
    """Items as they were read, with the counted judgments of those that are to be settled."""

    group: list[ItemProgress]
    judgments: dict[int, tuple[Judgment, ...]]
    answering: str = ""
    """The pseudonym of the worker who is about to answer one of them, if one is."""
    derivable: Derivable | None = None
    """What items of later stages are made of, if that was read with them."""


_PSEUDONYM = Prepared(select(worker.c.pseudonym).where(worker.c.id == bindparam("worker_id")), Scope())


def read_item(
    tx: Connection,
    item_id: int,
    rule: GoldSettings | None,
    *,
    group: tuple[int, str] | None,
    answering: int | None = None,
) -> JudgedGroup:
    """An item, or with the stage and name of its group all of that; and the counted judgments of the item.

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
    """For so many sources: a group has as many as it has items, mostly one or two."""
    sources = [bindparam(f"source_{number}", type_=item_source.c.source_id.type) for number in range(count)]
    # The sum keeps SQLite from walking through the whole stage: it is to begin with the few that came from the sources.
    query = select(*COLUMNS).where(item.c.stage_id + literal_column("0") == bindparam("stage_id"))
    if count == 1:
        query = query.join(item_source, item_source.c.item_id == item.c.id).where(item_source.c.source_id == sources[0])
    else:
        children = select(item_source.c.item_id).where(item_source.c.source_id.in_(sources))
        query = query.where(item.c.id.in_(children))
    # Who adds one has noted that its source changed, which everybody who asks this has read too.
    return Prepared(query.order_by(item.c.id), Scope(item=0))


def read_derivable(tx: Connection, judged: JudgedGroup, rule: GoldSettings | None, later: Sequence[int]) -> Derivable:
    """What items of these later stages are made of, and those that came from it."""
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
