"""Who may enter a stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chorale.model import EntrySettings, GoldRecord


@dataclass(frozen=True, slots=True)
class Admission:
    allowed: bool
    reason: str
    evidence: Mapping[str, Any]


def may_enter(rule: EntrySettings, record: GoldRecord | None, dropped_there: bool) -> Admission:
    """Admit a worker by their gold in the stage that qualifies for this one.

    `record` is the worker's gold in `rule.qualified_in`, or None if they never worked there; `dropped_there` is
    whether they were dropped from it.
    """
    if rule.qualified_in is None:
        return Admission(True, "open to everyone", {})
    done = record or GoldRecord()
    accuracy = done.right / done.answered if done.answered else 0.0
    evidence = {
        "qualified_in": rule.qualified_in,
        "right": done.right,
        "answered": done.answered,
        "accuracy": round(accuracy, 6),
        "accuracy_needed": rule.accuracy,
        "answered_needed": rule.answered,
        "dropped_there": dropped_there,
    }
    if dropped_there:
        return Admission(False, f"dropped from {rule.qualified_in}", evidence)
    if done.answered < rule.answered:
        return Admission(False, f"not enough work in {rule.qualified_in} yet", evidence)
    if accuracy < rule.accuracy:
        return Admission(False, f"accuracy in {rule.qualified_in} below what this stage needs", evidence)
    return Admission(True, f"qualified in {rule.qualified_in}", evidence)
