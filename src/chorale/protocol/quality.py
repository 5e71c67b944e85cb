"""Whether somebody whose answers have little in common with those of others goes on."""

from dataclasses import dataclass

from chorale.model import QualitySettings
from chorale.protocol.trust import Verdict


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
