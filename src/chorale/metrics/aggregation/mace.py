"""MACE: estimates which workers know the true label and which guess.

With probability θ a worker gives the true label; otherwise they sample from their own distribution ξ. True labels are
uniform over K:

    P(w answers k | c is true) = θ_w [k = c] + (1 − θ_w) ξ_w[k]

Fitted by expectation-maximisation from several random starts; the fit with the largest likelihood is kept. The method
`em` smooths the counts. The method `vb`, variational Bayes, has Beta(½, ½) priors on θ and Dirichlet(10) priors on ξ,
and normalises by exp ∘ digamma instead of dividing.

D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy. Learning whom to trust with MACE. NAACL-HLT 2013, 1120–1130.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.limits import check_limits, check_number
from chorale.metrics.aggregation.relevance import aggregated
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import Index, Votes
from chorale.metrics.judgments import Judgments

_TINY = 1e-300
_ASYMPTOTIC = 10.0


@dataclass(frozen=True, slots=True)
class MaceSettings:
    method: Literal["vb", "em"] = "vb"
    restarts: int = 10
    iterations: int = 200
    tolerance: float = 1e-7
    """Convergence threshold: gain in log-likelihood per judgment."""
    noise: float = 0.5
    """Random deviation of initial parameters from uniform."""
    alpha: float = 0.5
    """Prior count of not knowing."""
    beta: float = 0.5
    """Prior count of knowing."""
    habit: float = 10.0
    """Prior count of every label in ξ."""
    smoothing: float = 0.01
    """Smoothing of plain expectation-maximisation: divided among the labels and added to every count."""
    seed: int = 1


def mace(
    judgments: Judgments, settings: MaceSettings | None = None, *, progress: Progress | None = None
) -> Aggregation:
    """Estimates labels, their probabilities, and the competence θ of every worker.

    The result has three details: `habits` (ξ), `knowing` (the probability that a worker who gives a true label knows
    it) and `log_likelihood`. The first two have one row per worker and one column per label.

    >>> votes = Judgments.from_columns([1, 1, 1, 2, 2], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "y"])
    >>> mace(votes).labels
    {'1': 'x', '2': 'y'}
    """
    chosen = settings or MaceSettings()
    if chosen.method not in ("vb", "em"):
        raise ValueError(f"the method must be 'vb' or 'em', not {chosen.method!r}")
    check_limits(chosen.iterations, chosen.tolerance, restarts=chosen.restarts)
    for name, value in (("noise", chosen.noise), ("smoothing", chosen.smoothing)):
        check_number(f"the {name}", value, least=0.0)
    for name, value in (("alpha", chosen.alpha), ("beta", chosen.beta), ("habit", chosen.habit)):
        check_number(f"the prior count {name}", value, least=0.0, above=True)
    return aggregated(judgments, lambda each, report: _fitted(each, chosen, report), progress)


def _fitted(judgments: Judgments, settings: MaceSettings, progress: Progress | None) -> Aggregation:
    votes = Votes.of(judgments)
    model = _Model(votes, settings)
    rng = np.random.default_rng(settings.seed)
    best = model.climbed(rng)
    for start in range(1, settings.restarts):
        candidate = model.climbed(rng)
        # A start must be clearly better than rounding.
        if candidate.log_likelihood > best.log_likelihood + 1e-9 * len(votes):
            best = candidate
        if progress:
            progress(start + 1, settings.restarts)
    beliefs, _ = model.beliefs(best)
    return Aggregation.of(
        judgments,
        beliefs.T,
        {"competence": best.knows / (best.knows + best.guesses)},
        details={"habits": model.habits(best), "knowing": model.knowing(best), "log_likelihood": best.log_likelihood},
        iterations=best.iterations,
        converged=best.converged,
    )


@dataclass(frozen=True, slots=True)
class _State:
    """Parameters per worker, and per pair of worker and used label."""

    knows: FloatArray
    guesses: FloatArray
    habit: FloatArray
    """One per pair."""
    unused: FloatArray
    """ξ of labels that the worker never used, one per worker. No vote depends on it."""
    log_likelihood: float = -np.inf
    iterations: int = 0
    converged: bool = False


class _Model:
    def __init__(self, votes: Votes, settings: MaceSettings) -> None:
        self._votes = votes
        self._settings = settings
        self._per_pair = votes.per_pair
        self._per_worker = votes.per_worker
        cell_of_vote = np.repeat(np.arange(len(votes.cell_starts)), np.diff(np.r_[votes.cell_starts, len(votes)]))
        self._cell_of_vote: Index = cell_of_vote
        self._cell_by_pair: Index = cell_of_vote[votes.by_pair]
        self._cell_place: Index = votes.cell_label * votes.tasks + votes.cell_task

    def climbed(self, rng: np.random.Generator) -> _State:
        """Iterates from a random start until the likelihood stops growing."""
        state = self._start(rng)
        beliefs, log_likelihood = self.beliefs(state)
        for number in range(1, self._settings.iterations + 1):
            state = self._learnt(state, beliefs)
            beliefs, reached = self.beliefs(state)
            state = replace(state, log_likelihood=reached, iterations=number)
            if abs(reached - log_likelihood) < self._settings.tolerance * len(self._votes):
                return replace(state, converged=True)
            log_likelihood = reached
        return state

    def _start(self, rng: np.random.Generator) -> _State:
        votes, high = self._votes, 2 + self._settings.noise
        coins = rng.uniform(1, high, size=(votes.workers, 2))
        habits = rng.uniform(1, high, size=(votes.workers, votes.labels))
        coins /= coins.sum(axis=1, keepdims=True)
        habits /= habits.sum(axis=1, keepdims=True)
        unused = np.full(votes.workers, 1 / votes.labels)
        return _State(coins[:, 1], coins[:, 0], habits[votes.pair_worker, votes.pair_label], unused)

    def beliefs(self, state: _State) -> tuple[FloatArray, float]:
        """Labels × tasks, and the log-likelihood of all votes."""
        votes = self._votes
        missed, hit = self._label_odds(state)
        log_missed = np.log(missed)
        gained = np.log(hit) - log_missed
        # Tasks and cells have few votes each, for which bincount takes half the time of reduceat.
        base = np.bincount(votes.task, log_missed.take(votes.pair), minlength=votes.tasks)
        logs = np.zeros((votes.labels, votes.tasks))
        logs.reshape(-1)[self._cell_place] = np.bincount(self._cell_of_vote, gained.take(votes.pair))
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        sums = shares.sum(axis=0)
        shares /= sums
        return shares, float((base + top + np.log(sums)).sum() - votes.tasks * np.log(votes.labels))

    def _label_odds(self, state: _State) -> tuple[FloatArray, FloatArray]:
        """For each pair, the probability of the label when it is false and when it is true."""
        workers = self._votes.pair_worker
        missed = np.maximum(state.guesses[workers] * state.habit, _TINY)
        return missed, missed + state.knows[workers]

    def _learnt(self, state: _State, beliefs: FloatArray) -> _State:
        votes, settings = self._votes, self._settings
        _, hit = self._label_odds(state)
        in_cells = beliefs.reshape(-1)[self._cell_place]
        true = np.add.reduceat(in_cells.take(self._cell_by_pair), votes.pair_starts)
        knew = true * (state.knows[votes.pair_worker] / hit)
        guessed = np.maximum(self._per_pair - knew, 0.0)
        known = np.add.reduceat(knew, votes.worker_starts)
        unknown = np.maximum(self._per_worker - known, 0.0)
        if settings.method == "vb":
            both = exp_digamma(self._per_worker + settings.alpha + settings.beta)
            drawn = exp_digamma(unknown + settings.habit * votes.labels)
            return _State(
                exp_digamma(known + settings.beta) / both,
                exp_digamma(unknown + settings.alpha) / both,
                exp_digamma(guessed + settings.habit) / drawn[votes.pair_worker],
                exp_digamma(np.array(settings.habit)) / drawn,
            )
        extra = settings.smoothing / votes.labels
        both = self._per_worker + 2 * extra
        drawn = unknown + extra * votes.labels
        habit = (guessed + extra) / drawn[votes.pair_worker]
        return _State((known + extra) / both, (unknown + extra) / both, habit, extra / drawn)

    def knowing(self, state: _State) -> FloatArray:
        """Workers × labels: probability that a worker who gives the true label knows it."""
        votes = self._votes
        knowing = np.zeros((votes.workers, votes.labels))
        knowing[votes.pair_worker, votes.pair_label] = state.knows[votes.pair_worker] / self._label_odds(state)[1]
        return knowing

    def habits(self, state: _State) -> FloatArray:
        """Workers × labels, each row summing to 1."""
        votes = self._votes
        habits = np.repeat(state.unused[:, None], votes.labels, axis=1)
        habits[votes.pair_worker, votes.pair_label] = state.habit
        return np.asarray(habits / habits.sum(axis=1, keepdims=True))


def competence_of(known: FloatArray, judgments: FloatArray) -> FloatArray:
    """θ from the expected number of judgments that a worker knew, with prior counts."""
    prior = MaceSettings()
    knows = exp_digamma(np.maximum(known, 0.0) + prior.beta)
    guesses = exp_digamma(np.maximum(judgments - known, 0.0) + prior.alpha)
    return np.asarray(knows / (knows + guesses))


def exp_digamma(x: FloatArray) -> FloatArray:
    """exp(ψ(x)) for x > 0, where ψ is the derivative of log Γ."""
    return np.exp(digamma(x))


def digamma(x: FloatArray) -> FloatArray:
    """ψ(x) for x > 0: shifted by ψ(x) = ψ(x + 1) − 1/x to where the asymptotic series is accurate.

    >>> round(float(digamma(np.array([1.0]))[0]), 12)  # minus Euler's constant
    -0.577215664902
    """
    x = np.array(x, dtype=np.float64)
    result = np.zeros_like(x)
    while (small := x < _ASYMPTOTIC).any():
        result[small] -= 1 / x[small]
        x[small] += 1
    inverse = 1 / (x * x)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132)))))
    return result + np.log(x) - 0.5 / x - series
