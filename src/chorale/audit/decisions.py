"""Check reviewers' decisions against the activity log."""

from collections import defaultdict
from collections.abc import Iterator

from chorale.engine.decisions import DECIDED, REVIEWED_IN, decision_in, in_force, is_decided, not_undone
from chorale.engine.running import RunningStage, Study
from chorale.model import Event, ItemState
from chorale.store import Tx, events
from chorale.store.items import all_items, find_item

_ALL = 10_000_000


def decision_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Items whose decision differs from the log, where undone decisions are ignored.

    Also decisions by workers that differ from the review in which they were made.
    """
    recorded: dict[tuple[str | None, str | None], list[Event]] = defaultdict(list)
    for event in reversed(events.recent(tx, _ALL, kinds=(DECIDED,))):
        recorded[event.stage, event.item].append(event)
    for stage in study.stages:
        for item in all_items(tx, stage):
            standing = not_undone(recorded.get((stage, item.key), ()))
            decided = in_force(standing) or None
            if item.decision != decided:
                yield f"item {item.key} of {stage}: decision {item.decision!r} stored, {decided!r} in the log"
            for event in standing:
                if REVIEWED_IN in event.evidence:
                    yield from _review_differences(tx, study.stage(stage), item.key, event)


def _review_differences(tx: Tx, stage: RunningStage, key: str, event: Event) -> Iterator[str]:
    """The decision of workers about an item, if it differs from the label of the review, or the review is open."""
    name, reviewed = event.evidence[REVIEWED_IN]
    review = find_item(tx, name, reviewed)
    decision = event.evidence["decision"]
    said = {} if review is None or review.answer is None else decision_in(stage, review.answer)
    is_open = review is not None and review.state == ItemState.OPEN
    if is_open or not is_decided(decision, said):
        yield f"item {key} of {stage.name}: decided {decision!r}, but its review has {said!r}"
