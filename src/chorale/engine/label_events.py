"""Log entries of labels, with their evidence."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.model import ItemState, Judgment
from chorale.store import Tx, codec, events
from chorale.store.first_pass import FirstLabel
from chorale.store.labels import ItemProgress


def record_label(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    before: ItemProgress,
    item: ItemProgress,
    judgments: Sequence[Judgment],
    first: FirstLabel | None,
) -> None:
    """Log the new state of an item with its evidence."""
    evidence = evidence_of(item, judgments)
    if first is not None:
        evidence["model"] = {
            "name": first.model,
            "answer": None if first.answer is None else codec.answer_from_text(first.answer),
            "confidence": first.confidence,
            "probability": first.probability,
            "people": first.why,
        }
    sent = before.state == ItemState.WAITING and item.state == ItemState.OPEN
    kind = "sent to people" if sent else happened(item)
    events.record(tx, study.clock(), kind, evidence, stage_id=stage.id, item_id=item.id)


def happened(item: ItemProgress) -> str:
    """The event's name in the activity log."""
    return "labelled" if item.state == ItemState.COMPLETE else "reopened"


def evidence_of(item: ItemProgress, judgments: Sequence[Judgment]) -> dict[str, Any]:
    """The evidence for a label."""
    return {
        "answer": None if item.label is None else codec.answer_from_text(item.label),
        "confidence": item.confidence,
        "released": item.released,
        "judgments": [
            {"worker": judgment.worker, "answer": judgment.answer, "trust": _rounded_trust(judgment.trust)}
            for judgment in judgments
        ],
    }


@lru_cache(maxsize=4096)
def _rounded_trust(trust: float) -> float:
    """Cached: many workers have the same trust, and rounding is slow."""
    return round(trust, 6)
