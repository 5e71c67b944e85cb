"""Check manual actions: bonuses, messages, qualifications, removals, and corrected gold."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.engine.forgetting import BY_ERASURE
from chorale.engine.managing import BY_STAFF
from chorale.model import Event
from chorale.store import Tx, corrections, events

ALL = 1_000_000
Moments = Mapping[tuple[str, str], Iterable[int]]


def given_by_hand(tx: Tx) -> list[tuple[str, str, int, int]]:
    """Stage, worker, time and amount of every bonus given by a person or by a correction of gold."""
    return [
        (event.stage, event.worker, event.at, int(event.evidence["amount"]))
        for event in events.recent(tx, ALL, kinds=("bonus given",))
        if event.stage and event.worker
    ]


def written_by_hand(tx: Tx) -> dict[tuple[str, str], int]:
    """The times of messages, by worker and cause."""
    return {
        (event.worker, str(event.evidence["cause"])): event.at
        for event in events.recent(tx, ALL, kinds=("message written",))
        if event.worker
    }


def dropped_by_hand(tx: Tx) -> set[tuple[str, str]]:
    """Stage and worker of everybody who was removed by a person, or whose answers were erased."""
    return {
        (event.stage, event.worker)
        for event in events.recent(tx, ALL, kinds=("dropped",))
        if event.stage and event.worker and event.evidence.get("rule") in (BY_STAFF, BY_ERASURE)
    }


def counting_again(tx: Tx) -> set[tuple[str, str]]:
    """Stage and worker of everybody who was reinstated: others may have replaced them in the meantime."""
    reinstated = events.recent(tx, ALL, kinds=("reinstated",))
    return {(event.stage, event.worker) for event in reinstated if event.stage and event.worker}


def taken_away(tx: Tx) -> dict[tuple[str, str], list[Event]]:
    """The events that revoked qualifications, by worker and name."""
    taken: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events.recent(tx, ALL, kinds=("disqualified",)):
        if event.worker:
            taken[event.worker, str(event.evidence["qualification"])].append(event)
    return taken


def held_since(
    granted: Moments, held: Mapping[tuple[str, str], int], taken: Mapping[tuple[str, str], list[Event]]
) -> dict[tuple[str, str], int]:
    """The expected date of every qualification: when it was first granted after it was last revoked."""
    expected = {}
    for key, moments in granted.items():
        last = max((event.at for event in taken.get(key, ())), default=-1)
        # A grant and a revocation at the same time can be in either order: the current state decides.
        since = [at for at in moments if at > last or (at == last and held.get(key) == at)]
        if since:
            expected[key] = min(since)
    return expected


@dataclass(frozen=True, slots=True)
class GoldThen:
    """The answers of corrected gold over time."""

    changes: Mapping[int, list[corrections.Correction]]

    @classmethod
    def of(cls, tx: Tx) -> "GoldThen":
        by_item: dict[int, list[corrections.Correction]] = defaultdict(list)
        for correction in corrections.corrections(tx):
            by_item[correction.item_id].append(correction)
        return cls(by_item)

    def answer(self, item_id: int, moment: int, now: Any) -> Any:
        """The gold answer of an item at a given time; `now` is the current answer."""
        return next((one.before for one in self.changes.get(item_id, ()) if one.at > moment), now)
