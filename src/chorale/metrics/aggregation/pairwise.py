"""Scores items from pairwise comparisons: the Bradley–Terry model, and a model with inattentive workers.

Bradley–Terry: item i is preferred to j with the probability p_i / (p_i + p_j). The likelihood is maximised by
minorisation–maximisation, p_i ← wins of i / Σ over comparisons with j of 1 / (p_i + p_j), scaled to sum to 1.

With noise: a worker of skill g compares the items with probability g, and otherwise takes the left one with probability
b, their bias: P(left) = g σ(s_left − s_right) + (1 − g) b. A weak prior keeps the scores finite.

R. A. Bradley and M. E. Terry. Rank analysis of incomplete block designs. Biometrika 39 (1952), 324–345. D. R. Hunter.
MM algorithms for generalized Bradley–Terry models. Annals of Statistics 32 (2004), 384–406.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.ascent import climb
from chorale.metrics.aggregation.limits import check_limits, check_number
from chorale.metrics.aggregation.result import Progress
from chorale.metrics.aggregation.tables_by_name import coded
from chorale.metrics.aggregation.votes import Index

_ATTENTIVE = 1.0
"""Initial logit of every skill: workers are attentive more often than not."""
NOT_CONNECTED = (
    "A group of items never lost, or never won, against the other items. So Bradley–Terry scores are not determined "
    "and depend on the number of iterations."
)


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Parallel arrays with one entry per comparison; codes index the names."""

    workers: Index
    left: Index
    right: Index
    left_won: NDArray[np.bool_]
    worker_names: tuple[Any, ...]
    item_names: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of(cls, workers: Iterable[Any], left: Iterable[Any], right: Iterable[Any], preferred: Iterable[Any]) -> Self:
        """Builds comparisons from columns of equal length. Raises ValueError if the preferred item is neither of the
        two.
        """
        ones, others, best = map(list, (left, right, preferred))
        people, names = coded(workers, "worker")
        if len({len(people), len(ones), len(others), len(best)}) != 1:
            raise ValueError("columns must have the same length")
        codes, items = coded([*ones, *others], "left or right item")
        first, second = np.split(codes, 2)
        place = {item: code for code, item in enumerate(items)}
        won = np.array([place.get(item, -1) for item in best], dtype=np.intp)
        strange = np.flatnonzero((won != first) & (won != second))
        if len(strange):
            at = int(strange[0])
            raise ValueError(
                f"comparison {at + 1} is between {ones[at]!r} and {others[at]!r}, but the preferred item is "
                f"{best[at]!r}"
            )
        if (first == second).any():
            at = int((first == second).argmax())
            raise ValueError(f"comparison {at + 1} compares {ones[at]!r} with itself")
        # Sums in another order differ in the last digit, so the order is fixed.
        order = np.lexsort((won, second, first, people))
        return cls(people[order], first[order], second[order], (won == first)[order], names, items)


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """A score for every item (higher is better), and estimates about workers."""

    items: tuple[Any, ...]
    scores: FloatArray
    workers: tuple[Any, ...]
    quality: Mapping[str, FloatArray]
    iterations: int
    converged: bool
    in_line: float
    """Fraction of comparisons that prefer the item with the higher score; equal scores count half."""
    log_likelihood: float
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def bradley_terry(
    comparisons: Comparisons,
    *,
    iterations: int = 10_000,
    tolerance: float = 1e-9,
    progress: Progress | None = None,
) -> ItemScores:
    """Scores that sum to 1. Stops when an iteration changes them by less than the tolerance in total.

    `agreement` is how often each worker prefers the item with the higher score.

    >>> bradley_terry(Comparisons.of("aab", ["x", "y", "x"], ["y", "x", "y"], ["x", "x", "y"])).scores.round(3).tolist()
    [0.667, 0.333]
    """
    check_limits(iterations, tolerance)
    if not len(comparisons):
        raise ValueError("there are no comparisons to aggregate")
    items = len(comparisons.item_names)
    low, high = np.minimum(comparisons.left, comparisons.right), np.maximum(comparisons.left, comparisons.right)
    pairs, counts = np.unique(low * items + high, return_counts=True)
    first, second = np.divmod(pairs, items)
    winner = np.where(comparisons.left_won, comparisons.left, comparisons.right)
    loser = np.where(comparisons.left_won, comparisons.right, comparisons.left)
    wins = np.bincount(winner, minlength=items).astype(np.float64)
    scores = np.ones(items)
    done, close = 0, False
    while done < iterations and not close:
        sums = scores[first] + scores[second]
        shared = np.divide(counts, sums, out=np.zeros(len(sums)), where=sums > 0)
        total = np.bincount(first, shared, minlength=items) + np.bincount(second, shared, minlength=items)
        moved = np.divide(wins, total, out=np.zeros(items), where=wins > 0)
        moved /= moved.sum()
        close = bool(done) and float(np.abs(moved - scores).sum()) < tolerance
        scores, done = moved, done + 1
        if progress:
            progress(done, iterations)
    chosen, other = scores[winner], scores[loser]
    ahead = np.where(np.isclose(chosen, other, rtol=1e-9, atol=0), 0.5, chosen > other)
    agreement = np.bincount(comparisons.workers, ahead) / np.bincount(comparisons.workers)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_likelihood = float(np.log(chosen / (chosen + other)).sum())
    notes = () if _strongly_connected(winner, loser, items) else (NOT_CONNECTED,)
    names = comparisons.item_names, comparisons.worker_names
    return ItemScores(
        names[0],
        scores,
        names[1],
        {"agreement": agreement},
        done,
        close,
        float(ahead.mean()),
        log_likelihood,
        notes=notes,
    )


def noisy_bradley_terry(
    comparisons: Comparisons,
    *,
    iterations: int = 1000,
    tolerance: float = 1e-9,
    regularisation: float = 1e-5,
    progress: Progress | None = None,
) -> ItemScores:
    """Scores between 0 and 1, and the skill and bias of every worker. The tolerance applies to the objective per
    comparison.

    `regularisation` is the weight of a prior that centres all scores. It adds equal numbers of wins and losses to
    each item.

    >>> compared = Comparisons.of("aaab", ["x", "y", "x", "x"], ["y", "x", "y", "y"], ["x", "x", "y", "x"])
    >>> noisy_bradley_terry(compared, regularisation=0.1).scores.round(2).tolist()
    [0.76, 0.24]
    """
    check_limits(iterations, tolerance)
    check_number("the regularisation", regularisation, least=0.0)
    if not len(comparisons):
        raise ValueError("there are no comparisons to aggregate")
    objective = _NoisyLikelihood(comparisons, regularisation)
    summit = climb(
        objective,
        objective.start(),
        steps=iterations,
        gain=tolerance * len(comparisons),
        each=(lambda done: progress(done, iterations)) if progress else None,
    )
    strengths, biases, skills = objective.parts(summit.point)
    sign = np.where(comparisons.left_won, 1.0, -1.0)
    ahead = sign * (strengths[comparisons.left] - strengths[comparisons.right])
    return ItemScores(
        comparisons.item_names,
        _logistic(strengths),
        comparisons.worker_names,
        {"skill": _logistic(skills), "bias": _logistic(biases)},
        summit.steps,
        summit.steps < iterations,
        float(np.where(np.abs(ahead) < 1e-9, 0.5, ahead > 0).mean()),
        objective.log_likelihood(summit.point),
        {"strengths": strengths},
    )


class _NoisyLikelihood:
    """Log probability of the comparisons with the prior, and its gradient.

    A point consists of the common centre of strengths, the strengths, the logits of biases and the logits of skills.
    """

    def __init__(self, comparisons: Comparisons, regularisation: float) -> None:
        self._given = comparisons
        self._sign = np.where(comparisons.left_won, 1.0, -1.0)
        self._weight = regularisation
        self._items, self._workers = len(comparisons.item_names), len(comparisons.worker_names)

    def start(self) -> FloatArray:
        point = np.zeros(1 + self._items + 2 * self._workers)
        point[1 + self._items + self._workers :] = _ATTENTIVE
        return point

    def parts(self, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Strengths, and the logits of biases and skills."""
        strengths, biases, skills = np.split(point[1:], [self._items, self._items + self._workers])
        return strengths, biases, skills

    def log_likelihood(self, point: FloatArray) -> float:
        """Log likelihood of the comparisons."""
        strengths, biases, skills = self.parts(point)
        skill = _logistic(skills)[self._given.workers]
        by_items = _logistic(self._sign * (strengths[self._given.left] - strengths[self._given.right]))
        by_side = _logistic(self._sign * biases[self._given.workers])
        return float(np.log(skill * by_items + (1 - skill) * by_side).sum())

    def __call__(self, point: FloatArray) -> tuple[float, FloatArray]:
        # Steps that are too long give zero probabilities; the line search then takes a shorter one.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._with_gradient(point)

    def _with_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        given, sign = self._given, self._sign
        strengths, biases, skills = self.parts(point)
        skill = _logistic(skills)[given.workers]
        by_items = _logistic(sign * (strengths[given.left] - strengths[given.right]))
        by_side = _logistic(sign * biases[given.workers])
        chance = skill * by_items + (1 - skill) * by_side
        away = strengths - point[0]
        # log σ(a) + log σ(−a) = −|a| − 2 log(1 + e^−|a|)
        prior = -np.abs(away) - 2 * np.log1p(np.exp(-np.abs(away)))
        pull = self._weight * np.tanh(away / 2)
        by_strength = sign * skill * by_items * (1 - by_items) / chance
        by_bias = sign * (1 - skill) * by_side * (1 - by_side) / chance
        by_skill = skill * (1 - skill) * (by_items - by_side) / chance
        gradient = np.concatenate(
            [
                [pull.sum()],
                np.bincount(given.left, by_strength, minlength=self._items)
                - np.bincount(given.right, by_strength, minlength=self._items)
                - pull,
                np.bincount(given.workers, by_bias, minlength=self._workers),
                np.bincount(given.workers, by_skill, minlength=self._workers),
            ]
        )
        return float(np.log(chance).sum() + self._weight * prior.sum()), gradient


def _logistic(logits: FloatArray) -> FloatArray:
    decay = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1.0, decay) / (1 + decay))


def _strongly_connected(winner: Index, loser: Index, items: int) -> bool:
    """Whether every item beat every other, directly or transitively."""
    for source, target in ((winner, loser), (loser, winner)):
        reached = np.zeros(items, dtype=np.bool_)
        reached[0] = True
        count = 0
        while count < (count := int(reached.sum())):
            reached[target[reached[source]]] = True
        if count < items:
            return False
    return True
