"""Wawa, worker agreement with aggregate: a majority vote of votes weighted by how often a worker is in the majority.

Known from Appen's platform: the majority's labels first; a worker's skill is the share of their judgments that agree
with those; then the vote again, every vote with the skill of its worker.
"""

from chorale.metrics.aggregation.majority import agreement
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments


def wawa(judgments: Judgments, *, progress: Progress | None = None) -> Aggregation:
    """Labels, their weighted shares and every worker's skill.

    Where nobody who judged a task has any skill, all their votes count the same.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> wawa(votes).quality["skill"].tolist()
    [1.0, 1.0, 0.0]
    """
    return aggregated(judgments, lambda each, _: _weighted(each), progress)


def _weighted(judgments: Judgments) -> Aggregation:
    votes = Votes.of(judgments)
    skill = agreement(judgments, votes.shares().T)
    return Aggregation.of(judgments, votes.shares(skill[votes.worker]).T, {"skill": skill})
