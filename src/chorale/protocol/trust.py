"""A worker's trust by gold or agreement with others, and when they are removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.model import GoldRecord, GoldSettings, QualitySettings


def trust(record: GoldRecord, rule: GoldSettings | None) -> float:
    """Gold accuracy by the stage's rule: of all gold answers or the latest, with or without smoothing.

    Workers without gold answers have the minimum accuracy (`floor`) as trust. In a stage without gold, everybody has
    full trust.
    """
    if rule is None:
        return 1.0
    right, answered = gold_counts(record, rule)
    if rule.window is not None:
        recent = record.recent[-rule.window :]
        right, answered = recent.count("1"), len(recent)
    if not answered:
        return rule.floor
    smoothing = rule.smoothing
    return (right + smoothing * rule.floor) / (answered + smoothing) if smoothing else right / answered


def counts_parts(rule: GoldSettings | None) -> bool:
    """Whether a stage counts each part of a gold answer, instead of whole answers."""
    return rule is not None and rule.unit == "part"


def gold_counts(record: GoldRecord, rule: GoldSettings | None) -> tuple[int, int]:
    """The numbers of correct and of all gold answers, counted by items or by parts, as the stage says."""
    if counts_parts(rule):
        return record.recent.count("1"), len(record.recent)
    return record.right, record.answered


def gold_after(record: GoldRecord, marks: Sequence[bool], rule: GoldSettings | None) -> GoldRecord:
    """A gold record after one more answer, with the marks of its parts or of the whole answer.

    It keeps the latest marks that the stage's window and bonus need, and all of them if parts count.
    """
    recent = record.recent + "".join("1" if mark else "0" for mark in marks)
    if rule is None or rule.unit == "item":
        kept = max(rule.window or 0, rule.bonus.of if rule.bonus else 0) if rule else 0
        recent = recent[-kept:] if kept else ""
    return GoldRecord(record.right + all(marks), record.answered + 1, recent)


@dataclass(frozen=True, slots=True)
class Verdict:
    dropped: bool
    evidence: Mapping[str, float | int | str | None]


def review_worker(record: GoldRecord, rule: GoldSettings) -> Verdict:
    """Remove a worker whose trust is below the minimum after enough gold answers."""
    value = trust(record, rule)
    right, answered = gold_counts(record, rule)
    # If only the latest answers count, the totals are not evidence.
    recent = "" if rule.window is None else record.recent[-rule.window :]
    return Verdict(
        dropped=answered >= rule.after and value < rule.floor,
        evidence={
            "right": right,
            "answered": answered,
            **({"latest_right": recent.count("1"), "latest": len(recent)} if recent else {}),
            "trust": round(value, 6),
            "floor": rule.floor,
            "after": rule.after,
        },
    )


@dataclass(frozen=True, slots=True)
class WorkerQuality:
    """A worker's agreement with others, by CrowdTruth."""

    wqs: float
    """The product of the two values below."""
    wwa: float
    """Agreement with the other workers, pair by pair."""
    wsa: float
    """Agreement with all others on the same item together."""
    judgments: int
    """Number of items that the worker and at least one other judged."""


def review_quality(quality: WorkerQuality, rule: QualitySettings) -> Verdict:
    """Remove a worker whose quality is below the minimum, after enough shared items."""
    dropped = rule.floor is not None and quality.judgments >= rule.after and quality.wqs < rule.floor
    return Verdict(
        dropped,
        {
            "rule": "quality",
            "wqs": quality.wqs,
            "wwa": quality.wwa,
            "wsa": quality.wsa,
            "judgments": quality.judgments,
            "floor": rule.floor,
            "after": rule.after,
        },
    )
