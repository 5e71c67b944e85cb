"""Admission to a stage."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from chorale.model import EntrySettings, GoldRecord


class Admission(NamedTuple):
    allowed: bool
    reason: str
    evidence: Mapping[str, Any]


def may_enter(
    rule: EntrySettings, record: GoldRecord | None, dropped_from: Collection[str], held: Collection[str] = ()
) -> Admission:
    """Decide on admission by a worker's results in other stages.

    `record` is their gold record in `rule.qualified_in`, or None if they have not worked there; `dropped_from` names
    the stages they were removed from; `held` are their qualifications.
    """
    if dropped_from and (
        dropped := sorted(dropped_from if rule.exclude_dropped else set(dropped_from) & {rule.qualified_in})
    ):
        names = ", ".join(f"`{name}`" for name in dropped)
        return Admission(False, f"removed from {names}", {"dropped_from": dropped})
    missing = [name for name in rule.qualifications if name not in held]
    if missing:
        return Admission(False, "a required qualification is missing", {"missing": missing})
    if rule.qualified_in is None:
        if rule.qualifications:
            return Admission(True, "qualified", {"qualifications": list(rule.qualifications)})
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
    }
    if done.answered < rule.answered:
        return Admission(False, f"more gold answers in `{rule.qualified_in}` are needed first", evidence)
    if accuracy < rule.accuracy:
        return Admission(False, f"the gold accuracy in `{rule.qualified_in}` is below the minimum", evidence)
    return Admission(True, f"qualified in `{rule.qualified_in}`", evidence)
