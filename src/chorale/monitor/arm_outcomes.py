"""Results by arm of a trial: balance, attrition and outcomes, with intervals. Computed only on request."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, sqrt
from statistics import fmean, stdev

import numpy as np

from chorale.engine.running import Study
from chorale.metrics import Metric, ratio, row_intervals
from chorale.metrics.resampling import Resampling
from chorale.metrics.sampling import TAIL
from chorale.metrics.student import t_bound, wilson
from chorale.model import PlannedOutcome
from chorale.monitor.arm_measures import ComparedArms, arm_grades, compare_arms, lost_to_arm, observations
from chorale.monitor.costs import CostTerms, arm_costs, final_stages_of_arm
from chorale.store import Tx, participations, workers
from chorale.store.arms import arms_by_worker
from chorale.store.participations import ParticipationSummary

RESAMPLES = 1000
_SHARE = Metric(lambda sums: {"share": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"share": sums[..., 1]})


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float
    of: int
    """Number of observations."""

    @property
    def is_known(self) -> bool:
        """Whether there are enough people for an interval."""
        return not isnan(self.low)


@dataclass(frozen=True, slots=True)
class ArmOutcome:
    name: str
    people: int
    expected: float
    """Expected number of people, by the weights."""
    panels: Mapping[str, int]
    began: int
    reached: int
    """Number of people who worked in the arm's last own stage, or in any stage if it has none."""
    dropped: int
    staying: IntervalEstimate | None
    """Share of its people who reached that stage without being removed."""
    grade: IntervalEstimate | None
    """Mean grade over people, in the arm's last graded stage."""
    graded_in: str
    """The title of that stage."""
    gain: IntervalEstimate | None
    """The difference from the first arm's mean grade, as in the report; None for the first arm."""
    gold: IntervalEstimate | None
    """Share of correct gold answers, without rounds that only some arms have, as for the planned outcome `gold`."""
    costs: CostTerms
    """The costs of its own stages."""
    shared: int
    """Costs of its people in shared stages."""


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
    right, answered = Counter[str](), Counter[str]()
    for gold in observations(tx, study, "gold"):
        right[gold.worker] += int(gold.value)
        answered[gold.worker] += int(gold.of)
    graded = compare_arms(tx, study, PlannedOutcome(outcome="grade"), Resampling(resamples=RESAMPLES))
    outcomes: list[ArmOutcome] = []
    for name in rule.names:
        mine = sorted(worker for worker, arm in arms.items() if arm == name)
        final = {stage.name for stage in final_stages_of_arm(study, name)}
        there = {row.worker for row in rows[name] if row.stage in final or not final}
        dropped = {row.worker for row in rows[name] if lost_to_arm(study, row)}
        means, graded_in = _grades(tx, study, name)
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
                mean_estimate(means),
                graded_in,
                _gain(graded, name),
                share_of_people([right[one] for one in mine], [answered[one] for one in mine]),
                costs.own[name],
                costs.shared_by[name],
            )
        )
    return outcomes


def share_estimate(right: int, of: int) -> IntervalEstimate | None:
    """A share with Wilson's interval; None without observations.

    >>> share = share_estimate(8, 10)
    >>> round(share.low, 3), round(share.high, 3)
    (0.49, 0.943)
    """
    return IntervalEstimate(right / of, *wilson(right / of, of, t_bound(TAIL, inf)), of) if of else None


def share_of_people(right: Sequence[int], answered: Sequence[int]) -> IntervalEstimate | None:
    """A share of answers with several answers per person, which are correlated.

    The interval is Wilson's, with the effective number of independent answers, or from a bootstrap if many people
    determine the share.

    >>> share = share_of_people([10, 10, 0, 0], [10, 10, 10, 10])
    >>> share.of, share.low < 0.1, share.high > 0.9
    (40, True, True)
    """
    total = sum(answered)
    if not total:
        return None
    rows = np.column_stack([right, answered]).astype(np.float64)
    around = row_intervals(rows[rows[:, 1] > 0], _SHARE, resamples=RESAMPLES)["share"]
    return IntervalEstimate(sum(right) / total, around.low, around.high, total) if around.is_known else None


def mean_estimate(means: Sequence[float]) -> IntervalEstimate | None:
    """The mean of people's means, with Student's interval; None with fewer than two people.

    >>> mean = mean_estimate([0.2, 0.4, 0.6])
    >>> round(mean.value, 3), round(mean.low, 3), round(mean.high, 3)
    (0.4, -0.097, 0.897)
    """
    if len(means) < 2:
        return None
    half = t_bound(TAIL, len(means) - 1) * stdev(means) / sqrt(len(means))
    return IntervalEstimate(fmean(means), fmean(means) - half, fmean(means) + half, len(means))


def _gain(graded: ComparedArms, arm: str) -> IntervalEstimate | None:
    """The difference of an arm's mean grade from the first arm's."""
    for comparison in graded.comparisons:
        if comparison.arm == arm:
            around, of = comparison.compared.interval, graded.units[arm] + graded.units[comparison.against]
            return IntervalEstimate(comparison.compared.difference, around.low, around.high, of)
    return None


def _grades(tx: Tx, study: Study, arm: str) -> tuple[list[float], str]:
    """The mean grade of each of an arm's people, and the title of the stage where they were graded."""
    seen, title = arm_grades(tx, study, arm)
    means: dict[str, float] = defaultdict(float)
    for observation in seen:
        means[observation.worker] += observation.value
    return [means[worker] for worker in sorted(means)], title
