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


def review_quality(found: WorkerQuality, rule: QualitySettings) -> Verdict:
    """Drop a worker whose quality is below the floor, once it says something."""
    dropped = rule.floor is not None and found.judgments >= rule.after and found.wqs < rule.floor
    return Verdict(
        dropped,
        {
            "rule": "quality",
            "wqs": found.wqs,
            "wwa": found.wwa,
            "wsa": found.wsa,
            "judgments": found.judgments,
            "floor": rule.floor,
            "after": rule.after,
        },
    )
