"""Zero-based skill: a vote weighted by skill, where skill follows agreement with the vote.

All workers start with the skill of guessing. After each vote, every skill moves towards the worker's agreement rate, at
first by the full distance and after every 20 rounds by half as much.
"""

from dataclasses import replace

import numpy as np

from chorale.metrics.aggregation.limits import check_limits, check_number
from chorale.metrics.aggregation.majority import agreement
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments


def zero_based_skill(
    judgments: Judgments,
    *,
    iterations: int = 100,
    rate: float = 1.0,
    rounds_to_reduce: int = 20,
    factor: float = 0.5,
    above_guessing: float = 1e-5,
    ties: TieRule = "random",
    progress: Progress | None = None,
) -> Aggregation:
    """Estimates labels, their shares of skill, and the skill of every worker.

    `rate` is the step size of skills, from 0 to 1; every `rounds_to_reduce` rounds it is multiplied by `factor`. The
    initial skill is that of guessing plus `above_guessing`. Each of k tied labels counts 1/k; with `ties` first, only
    the first in alphabetical order counts.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> zero_based_skill(votes).quality["skill"].tolist()
    [1.0, 1.0, 0.0]
    """
    check_limits(iterations, 0.0, restarts=rounds_to_reduce)
    for name, value in (("`rate`", rate), ("`factor`", factor), ("`above_guessing`", above_guessing)):
        check_number(name, value, least=0.0)
    steps = [rate * factor ** (number // rounds_to_reduce) for number in range(1, iterations + 1)]
    start = above_guessing
    result = aggregated(judgments, lambda each, report: _fitted(each, steps, start, ties, report), progress)
    return replace(result, tie_rule=ties)


def _fitted(
    judgments: Judgments, steps: list[float], above_guessing: float, ties: TieRule, progress: Progress | None
) -> Aggregation:
    votes = Votes.of(judgments)
    skill = np.full(votes.workers, 1 / votes.labels + above_guessing)
    done, settled = 0, False
    for done, step in enumerate(steps, 1):
        moved = skill + step * (agreement(judgments, votes.shares(skill[votes.worker]).T, ties) - skill)
        # Once a vote changes no skill, skills never change again.
        settled = bool((np.abs(moved - skill) <= 1e-12).all())
        skill = moved
        if progress:
            progress(done, len(steps))
        if settled:
            break
    shares = votes.shares(skill[votes.worker]).T
    return Aggregation.of(judgments, shares, {"skill": skill}, iterations=done, converged=settled)
