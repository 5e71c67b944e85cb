"""Wawa, worker agreement with aggregate: a vote that weights workers by how often they are in the majority.

The method comes from Appen's platform. It starts with a majority vote; a worker's skill is the fraction of their
judgments that agree with it. The result is a vote weighted by skill.
"""

from dataclasses import replace

from chorale.metrics.aggregation.majority import agreement
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments


def wawa(judgments: Judgments, *, ties: TieRule = "random", progress: Progress | None = None) -> Aggregation:
    """Estimates labels, their weighted shares, and the skill of every worker.

    Each of k tied majority labels counts 1/k; with `ties` first, only the first in alphabetical order counts. If no
    worker of a task has any skill, their votes count equally.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> wawa(votes).quality["skill"].tolist()
    [1.0, 1.0, 0.0]
    """
    return replace(aggregated(judgments, lambda each, _: _weighted(each, ties), progress), tie_rule=ties)


def _weighted(judgments: Judgments, ties: TieRule) -> Aggregation:
    votes = Votes.of(judgments)
    skill = agreement(judgments, votes.shares().T, ties)
    return Aggregation.of(judgments, votes.shares(skill[votes.worker]).T, {"skill": skill})
