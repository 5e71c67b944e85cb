"""Check reviewers' decisions against the activity log."""

from collections.abc import Iterator

from chorale.engine.decisions import DECIDED, REVIEWED_IN, decision_in, is_decided
from chorale.engine.running import Study
from chorale.store import Tx, events
from chorale.store.items import all_items, find_item

_ALL = 10_000_000


def decision_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Items whose decision differs from the last recorded one, or from its review in another stage."""
    latest = {
        (event.stage, event.item): event.evidence for event in reversed(events.recent(tx, _ALL, kinds=(DECIDED,)))
    }
    recorded = {item: evidence["decision"] or None for item, evidence in latest.items()}
    for stage in study.stages:
        for item in all_items(tx, stage):
            last = recorded.get((stage, item.key))
            if item.decision != last:
                yield f"item {item.key} of {stage}: decision {item.decision!r} stored, {last!r} recorded"
    for (decided_in, key), evidence in latest.items():
        if REVIEWED_IN in evidence and decided_in is not None:
            name, reviewed = evidence[REVIEWED_IN]
            review = find_item(tx, name, reviewed)
            said = (
                {} if review is None or review.answer is None else decision_in(study.stage(decided_in), review.answer)
            )
            if not is_decided(evidence["decision"], said):
                yield f"item {key} of {decided_in}: decided {evidence['decision']!r}, its review says {said!r}"
