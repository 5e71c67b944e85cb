"""Who passes a gate: by their mean score, or as one of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import floor
from statistics import fmean

from chorale.model import GateSettings, StageSettings, StudySettings

# Two means of the same scores may differ in their last digits, which must not decide about a worker.
_PRECISION = 9
CRITERION = "criterion"
"""The prefix of means by criterion in the evidence."""
RULE = "rule"
"""The rule in words in the evidence. Earlier versions may have worded it differently."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A worker with their grades in the gate's stages."""

    worker: str
    scores: Mapping[str, Sequence[float]]
    """Grades by stage; every stage has some."""
    marks: Sequence[Mapping[str, float]] = ()
    """Marks by criterion, for every answer graded with a rubric."""

    @property
    def mean(self) -> float:
        """The mean score: every stage has equal weight, whatever its number of graded answers."""
        return round(fmean(fmean(scores) for scores in self.scores.values()), _PRECISION)

    @property
    def graded(self) -> int:
        return sum(map(len, self.scores.values()))

    def mean_by(self, criterion: str) -> float | None:
        """The mean of the marks by a criterion, including its numbered variants; None if there are none."""
        matching = [mark for marks in self.marks for name, mark in marks.items() if is_criterion(name, criterion)]
        return round(fmean(matching), _PRECISION) if matching else None


@dataclass(frozen=True, slots=True)
class GateVerdict:
    worker: str
    score: float
    passed: bool
    promoted: bool
    reason: str
    evidence: Mapping[str, float | int | str | None]
    too_low: tuple[str, ...] = ()
    """The criteria that they failed."""


def decide_gate(
    rule: GateSettings, candidates: Sequence[Candidate], earlier: Sequence[float] = ()
) -> list[GateVerdict]:
    """Decide about all candidates at once, best first.

    `earlier` are the scores of workers already decided about one by one, which count for ranks and the average. A share
    `s` of `n` candidates is `floor(n·s + 1/2)`, and at least one. Workers tied with the last to pass also pass, or some
    of them are chosen randomly: the order of arrival never decides. Workers who fail a criterion are excluded first,
    and take nobody's place.
    """
    marks = {one.worker: {name: one.mean_by(name) for name in sorted(rule.criteria)} for one in candidates}
    out = {worker for worker, means in marks.items() if _too_low(rule, means)}
    scored = sorted(candidates, key=lambda one: (one.worker in out, -one.mean, _lot(rule, one), one.worker))
    if not scored:
        return []
    needed = _needed(rule, scored, len(scored) - len(out))
    promotions = share_of(len(scored), rule.promote.top_share) if rule.promote else 0
    everybody = sorted([*earlier, *(one.mean for one in scored)], reverse=True)
    average = round(fmean(everybody), _PRECISION)
    ranks: dict[float, int] = {}
    for place, mean in enumerate(everybody, 1):
        ranks.setdefault(mean, place)
    verdicts = []
    for place, candidate in enumerate(scored, 1):
        reached = candidate.mean >= needed
        placed = reached and _has_place(rule, scored, place, _places(rule, len(scored)))
        passed = placed and candidate.worker not in out
        evidence: dict[str, float | int | str | None] = {
            "score": candidate.mean,
            "graded": candidate.graded,
            "needed": needed,
            "rank": ranks[candidate.mean],
            "of": len(everybody),
            "average": average,
            RULE: _in_words(rule),
            **{f"{CRITERION} {name}": mean for name, mean in marks[candidate.worker].items()},
        }
        too_low = tuple(_too_low(rule, marks[candidate.worker]))
        reason = (
            f"mean score {candidate.mean:.3f}, {'at least' if reached else 'below'} {needed:.3f} ({_in_words(rule)})"
        )
        if candidate.worker in out:
            reason += f", {'but' if reached else 'and'} too low in {' and '.join(too_low)}"
        elif reached and not placed:
            reason += ", but the random choice among ties gave the place to others"
        promoted = passed and _has_place(rule, scored, place, promotions)
        verdicts.append(GateVerdict(candidate.worker, candidate.mean, passed, promoted, reason, evidence, too_low))
    return verdicts


def is_criterion(name: str, criterion: str) -> bool:
    """Whether a name is a rubric's criterion or one of its numbered variants.

    >>> [is_criterion(name, "clear") for name in ("clear", "clear_2", "clear_cut", "unclear")]
    [True, True, False, False]
    """
    return name == criterion or (name.startswith(f"{criterion}_") and name[len(criterion) + 1 :].isdigit())


def criterion_of(name: str) -> str:
    """The criterion of a name, without its number.

    >>> [criterion_of(name) for name in ("clear", "clear_2", "clear_cut")]
    ['clear', 'clear', 'clear_cut']
    """
    criterion, _, number = name.rpartition("_")
    return criterion if criterion and number.isdigit() else name


def _too_low(rule: GateSettings, means: Mapping[str, float | None]) -> list[str]:
    """The criteria in which a worker is below the rule's minimum, or was not graded."""
    return [name for name, mean in means.items() if mean is None or mean < rule.criteria[name]]


def _needed(rule: GateSettings, scored: Sequence[Candidate], able: int) -> float:
    """The minimum score to pass, given the number of places."""
    if rule.threshold is not None:
        return rule.threshold
    if not able:
        return rule.floor
    return max(rule.floor, scored[min(_places(rule, len(scored)), able) - 1].mean)


def _places(rule: GateSettings, of: int) -> int:
    """The number of workers who can pass."""
    if rule.threshold is not None:
        return of
    return rule.top if rule.top is not None else share_of(of, rule.top_share or 0.0)


def _has_place(rule: GateSettings, scored: Sequence[Candidate], place: int, places: int) -> bool:
    """Whether a worker at this rank gets one of the places."""
    if place <= places:
        return True
    return rule.ties == "pass" and places > 0 and scored[place - 1].mean == scored[places - 1].mean


def _lot(rule: GateSettings, candidate: Candidate) -> bytes:
    """A number that orders tied workers: random, since pseudonyms are, and the same on every call."""
    return blake2b(f"{rule.name}:{candidate.worker}".encode(), digest_size=8).digest()


def share_of(count: int, share: float) -> int:
    """A share of a number of people: rounded, and at least one."""
    return max(1, floor(count * share + 0.5))


def _in_words(rule: GateSettings) -> str:
    words = f"the best {rule.top}" if rule.top is not None else f"the best {rule.top_share or 0:.0%}"
    if rule.threshold is not None:
        words = f"threshold {rule.threshold:g}"
    elif rule.floor:
        words += f", not below {rule.floor:g}"
    return words + "".join(f", {name} at least {least:g}" for name, least in sorted(rule.criteria.items()))


def closed_by(settings: StudySettings, stage: StageSettings) -> tuple[str, ...]:
    """The gates that end a stage: those that decide about all workers together, by answers given or graded there."""
    about = {stage.name, *(stage.sources if stage.grades else ())}
    return tuple(gate.name for gate in settings.gate if not gate.decides_each and about & set(gate.stage))
