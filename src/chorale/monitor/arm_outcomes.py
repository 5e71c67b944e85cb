"""How the arms of a trial do: balance, attrition and outcome, with intervals. Only for those who asked for it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import fmean

from chorale.engine.running import Study
from chorale.model import Standing
from chorale.monitor.costs import CostTerms, arm_costs, final_stages_of_arm
from chorale.store import Tx, grades, participations, workers
from chorale.store.arms import arms_by_worker
from chorale.store.participations import ParticipationSummary

LEVEL = 0.95
_NORMAL = 1.959963984540054
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float
    of: int
    """From so many."""


@dataclass(frozen=True, slots=True)
class ArmOutcome:
    name: str
    people: int
    expected: float
    """How many it would have if everybody were spread by the weights."""
    panels: Mapping[str, int]
    began: int
    reached: int
    """Worked in the last of the arm's own stages, or anywhere where it has none."""
    dropped: int
    staying: IntervalEstimate | None
    """Share of its people who reached that stage and were not dropped."""
    grade: IntervalEstimate | None
    """Mean grade of what they made there, or in the last of the arm's stages that was graded: over people."""
    graded_in: str
    """The title of the stage that was."""
    gain: IntervalEstimate | None
    """How much that is above the first arm's; None for the first itself."""
    gold: IntervalEstimate | None
    """Share of gold they got right, everywhere."""
    costs: CostTerms
    """Of the stages that are its own."""
    shared: int
    """What its people had in stages that are no arm's own."""


def arm_outcomes(tx: Tx, study: Study) -> list[ArmOutcome]:
    rule = study.settings.arms
    if rule is None:
        return []
    arms, panels, costs = arms_by_worker(tx), workers.panels(tx), arm_costs(tx, study)
    weights = dict(zip(rule.names, rule.weights or (1,) * len(rule.names), strict=True))
    rows: dict[str, list[ParticipationSummary]] = defaultdict(list)
    for row in participations.participation_summaries(tx):
        if row.answered and row.worker in arms:
            rows[arms[row.worker]].append(row)
    outcomes: list[ArmOutcome] = []
    first: Sequence[float] = ()
    seed = study.settings.study.seed
    for name in rule.names:
        mine = sorted(worker for worker, arm in arms.items() if arm == name)
        final = {stage.name for stage in final_stages_of_arm(study, name)}
        there = {row.worker for row in rows[name] if row.stage in final or not final}
        dropped = {row.worker for row in rows[name] if row.standing == Standing.DROPPED}
        right, answered = sum(row.gold_right for row in rows[name]), sum(row.gold_answered for row in rows[name])
        means, graded_in = _grades(tx, study, name, set(mine))
        gain = difference_estimate(means, first, seed) if outcomes else None
        first = first if outcomes else means
        outcomes.append(
            ArmOutcome(
                name,
                len(mine),
                len(arms) * weights[name] / sum(weights.values()),
                dict(Counter(panels.get(worker, "unknown") for worker in mine)),
                len({row.worker for row in rows[name]}),
                len(there),
                len(dropped),
                share_estimate(len(there - dropped), len(mine)),
                mean_estimate(means, seed),
                graded_in,
                gain,
                share_estimate(right, answered),
                costs.own[name],
                costs.shared_by[name],
            )
        )
    return outcomes


def share_estimate(right: int, of: int) -> IntervalEstimate | None:
    """A share with Wilson's interval; None of nothing.

    >>> share = share_estimate(8, 10)
    >>> round(share.low, 3), round(share.high, 3)
    (0.49, 0.943)
    """
    if not of:
        return None
    share, z2 = right / of, _NORMAL**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _NORMAL * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return IntervalEstimate(share, max(0.0, middle - half), min(1.0, middle + half), of)


def mean_estimate(means: Sequence[float], seed: int) -> IntervalEstimate | None:
    """The mean of people's means, with a percentile interval over resampled people."""
    if not means:
        return None
    chance = Random(seed)
    drawn = [_drawn_mean(means, chance) for _ in range(RESAMPLES)]
    return IntervalEstimate(fmean(means), *_percentiles(drawn), len(means))


def difference_estimate(means: Sequence[float], others: Sequence[float], seed: int) -> IntervalEstimate | None:
    """How far one mean of people's means is above another, over people resampled within each of the two.

    >>> difference = difference_estimate([0.8, 0.9, 1.0], [0.1, 0.2, 0.3], seed=1)
    >>> round(difference.value, 2), difference.low > 0.4, difference.of
    (0.7, True, 6)
    """
    if not means or not others:
        return None
    chance = Random(seed)
    drawn = [_drawn_mean(means, chance) - _drawn_mean(others, chance) for _ in range(RESAMPLES)]
    return IntervalEstimate(fmean(means) - fmean(others), *_percentiles(drawn), len(means) + len(others))


def _drawn_mean(means: Sequence[float], chance: Random) -> float:
    return fmean(chance.choices(means, k=len(means)))


def _percentiles(drawn: Sequence[float]) -> tuple[float, float]:
    inside = sorted(drawn)
    edge = round(len(inside) * (1 - LEVEL) / 2)
    return inside[edge], inside[-edge - 1]


def _grades(tx: Tx, study: Study, arm: str, mine: set[str]) -> tuple[list[float], str]:
    """The mean grade of each of an arm, where they were graded last: what they make in the end may be validated."""
    for stage in reversed([stage for stage in study.stages.values() if arm in stage.settings.arms]):
        scores: dict[str, list[float]] = defaultdict(list)
        for answer in grades.graded_answers(tx, [stage.id]):
            if answer.worker in mine:
                scores[answer.worker].append(answer.score)
        if scores:
            return [fmean(some) for _, some in sorted(scores.items())], stage.settings.title
    return [], ""
