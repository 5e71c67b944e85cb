"""How far a worker is trusted, and when no longer."""

from collections.abc import Mapping
from dataclasses import dataclass

from chorale.model import GoldRecord, GoldSettings


def trust(record: GoldRecord, unproven: float) -> float:
    """Accuracy on gold; `unproven` for a worker who has not answered any yet."""
    return record.right / record.answered if record.answered else unproven


@dataclass(frozen=True, slots=True)
class Verdict:
    dropped: bool
    evidence: Mapping[str, float | int]


def review_worker(record: GoldRecord, rule: GoldSettings) -> Verdict:
    """Drop a worker whose trust is below the floor once enough gold has been answered."""
    value = trust(record, unproven=rule.floor)
    return Verdict(
        dropped=record.answered >= rule.after and value < rule.floor,
        evidence={
            "right": record.right,
            "answered": record.answered,
            "trust": round(value, 6),
            "floor": rule.floor,
            "after": rule.after,
        },
    )
