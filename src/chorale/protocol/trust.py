"""How far a worker is trusted by gold, or agrees with others; and when they no longer go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chorale.model import GoldRecord, GoldSettings, QualitySettings


def trust(record: GoldRecord, rule: GoldSettings | None) -> float:
    """Accuracy on gold: on all of it or on the latest, smoothed or not, as the stage has it.

    Somebody who has not met gold yet is trusted as little as still counts: by the floor. In a stage without gold
    everybody is trusted.
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


def gold_counts(record: GoldRecord, rule: GoldSettings | None) -> tuple[int, int]:
    """How many gold answers were right, of how many, counted as the stage does: by items or by their parts."""
    if rule is not None and rule.unit == "part":
        return record.recent.count("1"), len(record.recent)
    return record.right, record.answered


def gold_after(record: GoldRecord, marks: Sequence[bool], rule: GoldSettings | None) -> GoldRecord:
    """A gold record after one more answer, with the marks of its parts, or the one mark of all of it.

    It keeps as many of the latest marks as the stage's window and bonus need, and all of them where parts count.
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
    """Drop a worker whose trust is below the floor once enough gold has been answered."""
    value = trust(record, rule)
    right, answered = gold_counts(record, rule)
    # Where trust goes by the latest alone, all of them are no evidence for it.
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
    """How far a worker agrees with the others, by CrowdTruth."""

    wqs: float
    """The two below multiplied."""
    wwa: float
    """With the other workers, one by one."""
    wsa: float
    """With all others on the same item together."""
    judgments: int
    """Items the worker judged that somebody else judged too."""


def review_quality(quality: WorkerQuality, rule: QualitySettings) -> Verdict:
    """Drop a worker whose quality is below the floor, once it says something."""
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
