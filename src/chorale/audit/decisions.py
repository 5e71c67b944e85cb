"""What reviewers decided, held against the record of it."""

from collections.abc import Iterator

from chorale.engine.adjudicating import DECIDED
from chorale.engine.running import Study
from chorale.store import Tx, events
from chorale.store.items import all_items

_ALL = 10_000_000


def decision_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Items whose decision is not the last one that was recorded."""
    recorded = {
        (event.stage, event.item): event.evidence["decision"] or None
        for event in reversed(events.recent(tx, _ALL, kinds=(DECIDED,)))
    }
    for stage in study.stages:
        for item in all_items(tx, stage):
            last = recorded.get((stage, item.key))
            if item.decision != last:
                yield f"item {item.key} of {stage}: decision {item.decision!r} stored, {last!r} recorded"
