"""Undoing a reviewer's decision: the item returns to its earlier state, with everything that depends on its label.

An undo is logged as a decision that restores the previous one, or none. So nothing is removed from the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.engine.adjudicating import checked_reason
from chorale.engine.decisions import DECIDED, in_force, standing_decisions, take_back
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_group
from chorale.model import Item, UserError
from chorale.store import Tx, events
from chorale.store.items import find_item

_LATEST = 200
_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision in force, with its item."""

    number: int
    item: Item
    at: int
    by: str
    reason: str
    fields: tuple[str, ...]


def undo(tx: Tx, study: Study, stage: RunningStage, key: str, number: int, reason: str, by: str) -> Item:
    """Undo the decision with this number about an item; UserError if it is not the latest or was already undone."""
    item = find_item(tx, stage.name, key)
    if item is None:
        raise UserError(f"Stage {stage.name!r} has no item {key!r}.")
    standing = standing_decisions(tx, item.id)
    if not standing or standing[-1].id != number:
        raise UserError(
            f"This decision about item {key!r} can't be undone: it was already undone, or a later decision replaced it."
        )
    take_back(tx, study, stage, item, standing, standing[-1], checked_reason(reason), by)
    settle_group(tx, study, stage, item.group, only=item.id)
    return item


def latest_decisions(tx: Tx, stage: RunningStage) -> Sequence[Decided]:
    """The decisions that can be undone in a stage: the latest about each item, newest first."""
    decisions: dict[str, Decided] = {}
    for event in events.recent(tx, _LATEST, kinds=(DECIDED,)):
        key = event.item
        if event.stage != stage.name or key is None or key in decisions or len(decisions) >= _MOST_LISTED:
            continue
        item = find_item(tx, stage.name, key)
        standing = [] if item is None else standing_decisions(tx, item.id)
        if item is None or not standing:
            continue
        last = standing[-1]
        by, reason = str(last.evidence.get("by", "")), str(last.evidence["reason"])
        decisions[key] = Decided(last.id, item, last.at, by, reason, tuple(in_force(standing)))
    return tuple(decisions.values())
