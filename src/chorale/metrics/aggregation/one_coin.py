"""One-coin Dawid–Skene model: a worker is correct with probability s, and wrong labels are equally likely.

    e_w[k, c] = s_w if k = c, else (1 − s_w) / (K − 1)

It has far fewer parameters than a matrix per worker, so it needs fewer judgments. Fitted like `dawid_skene`, with s_w
the mean probability of the worker's labels.

Y. Zhang, X. Chen, D. Zhou and M. I. Jordan. Spectral methods meet EM: a provably optimal algorithm for crowdsourcing.
Journal of Machine Learning Research 17 (2016), 1–44.
"""

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.expectation import EPSILON, accuracy_of, maximise
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Votes
from chorale.metrics.judgments import Judgments


def one_coin(
    judgments: Judgments,
    *,
    iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Progress | None = None,
) -> Aggregation:
    """Estimates labels, their probabilities, and the skill of every worker. The details of the result are the `priors`
    of labels.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> one_coin(votes).labels
    {'1': 'x', '2': 'y'}
    """
    check_limits(iterations, tolerance)
    return aggregated(judgments, lambda each, report: _fitted(each, iterations, tolerance, report), progress)


def _fitted(judgments: Judgments, iterations: int, tolerance: float, progress: Progress | None) -> Aggregation:
    votes = Votes.of(judgments)
    model = _Coins(votes)
    fit = maximise(votes, model, iterations, tolerance, progress=progress)
    return fit.result(judgments, {"skill": model.skills})


class _Coins:
    def __init__(self, votes: Votes) -> None:
        self._votes = votes
        self._per_worker = votes.per_worker
        self.skills: FloatArray = np.ones(votes.workers)

    def learn(self, beliefs: FloatArray) -> float:
        self.skills = accuracy_of(self._votes, beliefs)
        right, wrong = self._logs()
        return float((self._per_worker * (self.skills * right + (1 - self.skills) * wrong)).sum())

    def log_likelihoods(self) -> FloatArray:
        votes = self._votes
        right, wrong = self._logs()
        logs = np.tile(np.add.reduceat(wrong.take(votes.worker), votes.task_starts), (votes.labels, 1))
        gained = np.add.reduceat((right - wrong).take(votes.worker), votes.cell_starts)
        logs[votes.cell_label, votes.cell_task] += gained
        return logs

    def _logs(self) -> tuple[FloatArray, FloatArray]:
        """Log probabilities of the true label, and of one particular other label."""
        wrong = (1 - self.skills) / max(1, self._votes.labels - 1)
        return tuple(np.log(np.clip(each, EPSILON, 1 - EPSILON)) for each in (self.skills, wrong))  # type: ignore[return-value]
