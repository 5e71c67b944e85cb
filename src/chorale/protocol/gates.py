"""Who passes a gate: by their mean score, or as one of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import floor
from statistics import fmean

from chorale.model import GateSettings

# Two means of the same scores may differ in their last digits; the fate of a worker must not.
_PRECISION = 9


@dataclass(frozen=True, slots=True)
class Candidate:
    """A worker and the grades of what they did in the gate's stages."""

    worker: str
    scores: Mapping[str, Sequence[float]]
    """By stage; every stage has some."""

    @property
    def mean(self) -> float:
        """Every stage counts the same, however many answers were graded in it."""
        return round(fmean(fmean(scores) for scores in self.scores.values()), _PRECISION)

    @property
    def graded(self) -> int:
        return sum(map(len, self.scores.values()))


@dataclass(frozen=True, slots=True)
class GateVerdict:
    worker: str
    score: float
    passed: bool
    promoted: bool
    reason: str
    evidence: Mapping[str, float | int | str | None]


def decide_gate(
    rule: GateSettings, candidates: Sequence[Candidate], earlier: Sequence[float] = ()
) -> list[GateVerdict]:
    """Decide about all candidates at once, the best first.

    `earlier` are the scores of those a gate has decided about one by one: ranks and the average are among them too.

    Of `n` candidates a share of `s` is `floor(n·s + 1/2)`, and at least one. Whoever has the same score as the last to
    pass passes too, or lots are drawn among them: nobody is kept out by the order in which they came.
    """
    scored = sorted(candidates, key=lambda one: (-one.mean, _lot(rule, one), one.worker))
    if not scored:
        return []
    needed = _needed(rule, scored)
    promotions = _share(rule.promote.top_share, len(scored)) if rule.promote else 0
    everybody = sorted([*earlier, *(one.mean for one in scored)], reverse=True)
    average = round(fmean(everybody), _PRECISION)
    ranks: dict[float, int] = {}
    for place, mean in enumerate(everybody, 1):
        ranks.setdefault(mean, place)
    verdicts = []
    for place, one in enumerate(scored, 1):
        passed = one.mean >= needed and _has_place(rule, scored, place, _places(rule, len(scored)))
        evidence: dict[str, float | int | str | None] = {
            "score": one.mean,
            "graded": one.graded,
            "needed": needed,
            "rank": ranks[one.mean],
            "of": len(everybody),
            "average": average,
            "rule": _in_words(rule),
        }
        reached = "at least" if one.mean >= needed else "below"
        reason = f"mean score {one.mean:.3f}, {reached} {needed:.3f} ({_in_words(rule)})"
        if one.mean >= needed and not passed:
            reason += ", and the lot fell on others"
        promoted = passed and _has_place(rule, scored, place, promotions)
        verdicts.append(GateVerdict(one.worker, one.mean, passed, promoted, reason, evidence))
    return verdicts


def _needed(rule: GateSettings, scored: Sequence[Candidate]) -> float:
    """The score it takes."""
    if rule.threshold is not None:
        return rule.threshold
    return max(rule.floor, scored[min(_places(rule, len(scored)), len(scored)) - 1].mean)


def _places(rule: GateSettings, of: int) -> int:
    """How many can pass."""
    if rule.threshold is not None:
        return of
    return rule.top if rule.top is not None else _share(rule.top_share or 0.0, of)


def _has_place(rule: GateSettings, scored: Sequence[Candidate], place: int, places: int) -> bool:
    """Whether somebody at this place of the order has one of the places there are."""
    if place <= places:
        return True
    return rule.ties == "pass" and places > 0 and scored[place - 1].mean == scored[places - 1].mean


def _lot(rule: GateSettings, one: Candidate) -> bytes:
    """By chance, and the same whenever it is asked: pseudonyms are random."""
    return blake2b(f"{rule.name}:{one.worker}".encode(), digest_size=8).digest()


def _share(share: float, of: int) -> int:
    return max(1, floor(of * share + 0.5))


def _in_words(rule: GateSettings) -> str:
    if rule.threshold is not None:
        return f"threshold {rule.threshold:g}"
    best = f"the best {rule.top}" if rule.top is not None else f"the best {rule.top_share:.0%}"
    return f"{best}, not below {rule.floor:g}" if rule.floor else best
