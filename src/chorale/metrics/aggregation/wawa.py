"""Wawa, worker agreement with aggregate: a majority vote of votes weighted by how often a worker is in the majority.

Known from Appen's platform: the majority's labels first; a worker's skill is the share of their judgments that agree
with those; then the vote again, every vote with the skill of its worker.
"""

from dataclasses import replace

from chorale.metrics.aggregation.majority import agreement
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.ties import TieRule
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments


def wawa(judgments: Judgments, *, ties: TieRule = "random", progress: Progress | None = None) -> Aggregation:
    """Labels, their weighted shares and every worker's skill.

    In a majority of k tied labels each is right to the k-th part; with `ties` first, the one that sorts first is right.
    Where nobody who judged a task has any skill, all their votes count the same.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> wawa(votes).quality["skill"].tolist()
    [1.0, 1.0, 0.0]
    """
    return replace(aggregated(judgments, lambda each, _: _weighted(each, ties), progress), tie_rule=ties)


def _weighted(judgments: Judgments, ties: TieRule) -> Aggregation:
    votes = Votes.of(judgments)
    skill = agreement(judgments, votes.shares().T, ties)
    return Aggregation.of(judgments, votes.shares(skill[votes.worker]).T, {"skill": skill})
