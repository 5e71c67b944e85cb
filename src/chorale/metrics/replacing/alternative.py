"""The alternative annotator test (Calderon, Reichart and Dror, ACL 2025): is a model at least as close to the other
people as each person, given that people cost more?

Each person is left out in turn, and person and model are compared item by item with the remaining people. The model
wins against a person if the person's advantage is below a fraction ε of the items, in a one-sided test; Benjamini and
Yekutieli's correction controls the fraction of false wins. A model that wins against at least half of the people may
replace them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray, Interval
from chorale.metrics.adjustment import benjamini_yekutieli
from chorale.metrics.agreement.distances import Distance
from chorale.metrics.judgments import Codes, Judgments, codes_in_use
from chorale.metrics.replacing.closeness import Closeness, closeness
from chorale.metrics.sampling import TAIL, TOO_FEW
from chorale.metrics.student import t_bound, t_tail
from chorale.metrics.support import FEWEST

EPSILONS: Mapping[str, float] = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""Recommended ε by kind of people: the value of a person's higher cost and effort."""
LEVEL = 0.05
"""Accepted fraction of false wins."""
PASSES = 0.5
"""Fraction of people that a model has to win against."""
FEWEST_BY_T = 30
"""Number of items per person below which the test's authors test ranks instead of the mean."""
_EQUAL = 1e-9
"""Distances closer than this count as equal, because sums of fractions are rounded."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Comparison of the model with one person."""

    person: str
    model_closer: int
    """Number of items where only the model is closer to the others."""
    equal: int
    person_closer: int
    p_value: float
    p_adjusted: float
    wins: bool
    """Whether the model wins against this person."""

    @property
    def n_items(self) -> int:
        return self.model_closer + self.equal + self.person_closer

    @property
    def model_advantage(self) -> float:
        """The probability that the model is at least as close to the others as this person."""
        return (self.model_closer + self.equal) / self.n_items

    @property
    def person_advantage(self) -> float:
        return (self.person_closer + self.equal) / self.n_items


@dataclass(frozen=True, slots=True)
class Alternative:
    """Comparison of one model with all people."""

    model: str
    epsilon: float
    rivals: tuple[Rival, ...]
    left_out: tuple[str, ...]
    """People without enough items."""
    interval: Interval = TOO_FEW
    """Interval of the average advantage probability, over items."""

    @property
    def winning_rate(self) -> float | None:
        return sum(rival.wins for rival in self.rivals) / len(self.rivals) if self.rivals else None

    @property
    def advantage_probability(self) -> float | None:
        """Probability that the model is at least as close to the others, averaged over people."""
        return sum(rival.model_advantage for rival in self.rivals) / len(self.rivals) if self.rivals else None

    @property
    def passes(self) -> bool | None:
        rate = self.winning_rate
        return None if rate is None else rate >= PASSES


def alternative_annotator_test(
    judgments: Judgments,
    models: Sequence[str],
    *,
    by: str | Distance = "accuracy",
    epsilon: float = EPSILONS["crowd"],
    min_items: int = FEWEST_BY_T,
    expert: str | None = None,
    ranks: bool = False,
) -> list[Alternative]:
    """Runs the test for each of these models, which are workers in the judgments like the people.

    With an `expert`, model and person are compared with the expert's labels instead of the others'. With `ranks`,
    people with fewer than 30 items are tested as the authors recommend (see `p_value`).
    """
    people, of_models = split(judgments, models)
    reference, compared = people, people
    if expert is not None:
        by_expert = people.workers == people.worker_names.index(expert)
        reference, compared = people.taken(by_expert), people.taken(~by_expert)
    near = closeness(reference, by)
    own = near.sums(compared.tasks, compared.labels)
    others = np.bincount(reference.tasks, minlength=len(judgments.task_names))[compared.tasks]
    others = others if expert is not None else others - 1
    tests = []
    for model, labels in of_models.items():
        usable = (others > 0) & (labels[compared.tasks] >= 0)
        rows = compared.taken(usable)
        duels = _duels(rows, labels[rows.tasks], near, own[usable], alone=expert is not None)
        tests.append(_alternative(model, rows, duels, epsilon, min_items, ranks))
    return tests


def split(judgments: Judgments, models: Sequence[str]) -> tuple[Judgments, dict[str, Codes]]:
    """Judgments of people, and the label of each model for every task, or −1."""
    codes = {judgments.worker_names.index(name): name for name in models}
    people = judgments.taken(~np.isin(judgments.workers, list(codes)))
    of_models = {}
    for code, name in codes.items():
        rows = judgments.workers == code
        labels = np.full(len(judgments.task_names), -1, dtype=np.int32)
        labels[judgments.tasks[rows]] = judgments.labels[rows]
        of_models[name] = labels
    return people, of_models


def _duels(rows: Judgments, models: Codes, near: Closeness, own: FloatArray, *, alone: bool) -> NDArray[np.int64]:
    """For each judgment of a person: 1 if the person is closer to the others, −1 if the model is, 0 if neither."""
    theirs = near.sums(rows.tasks, models)
    if not alone:  # The sum includes the person's own label, which must be removed.
        theirs = theirs - near.between(models, rows.labels)
    difference = theirs - own
    return np.where(np.abs(difference) <= _EQUAL, 0, np.sign(difference)).astype(np.int64)


def _alternative(
    model: str, rows: Judgments, duels: NDArray[np.int64], epsilon: float, min_items: int, ranks: bool
) -> Alternative:
    workers = len(rows.worker_names)
    counts = np.stack([np.bincount(rows.workers[duels == which], minlength=workers) for which in (-1, 0, 1)], axis=1)
    tested = np.flatnonzero(counts.sum(axis=1) >= max(2, min_items))
    closer: list[tuple[int, int, int]] = [tuple(row) for row in counts[tested].tolist()]
    p_values = [p_value(*row, epsilon, ranks=ranks) for row in closer]
    adjusted = benjamini_yekutieli(p_values)
    rivals = tuple(
        Rival(rows.worker_names[person], *row, p, q, q <= LEVEL)
        for person, row, p, q in zip(tested, closer, p_values, adjusted, strict=True)
    )
    left_out = tuple(rows.worker_names[person] for person in codes_in_use(rows.workers) if person not in tested)
    return Alternative(model, epsilon, rivals, left_out, _interval(rows, duels, tested))


def _interval(rows: Judgments, duels: NDArray[np.int64], tested: NDArray[np.intp]) -> Interval:
    """Interval of the mean over people, by resampling items. Shared items are resampled together."""
    kept = np.isin(rows.workers, tested)
    workers, tasks, wins = rows.workers[kept], rows.tasks[kept], (duels[kept] <= 0).astype(np.float64)
    items = len(codes_in_use(tasks)) if len(tasks) else 0
    if items < FEWEST:
        return TOO_FEW
    sizes = np.bincount(workers, minlength=len(rows.worker_names))
    means = np.bincount(workers, wins, minlength=len(sizes)) / np.maximum(sizes, 1)
    influence = np.bincount(tasks, (wins - means[workers]) / sizes[workers]) / len(tested)
    error = sqrt(float(influence @ influence) * items / (items - 1))
    if error == 0:
        return TOO_FEW
    middle, half = float(means[tested].mean()), t_bound(TAIL, items - 1) * error
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def p_value(model_closer: int, equal: int, person_closer: int, epsilon: float, *, ranks: bool = False) -> float:
    """p-value of the observed difference if the true difference were ε: Student's t, or ranks for few items.

    The test's authors recommend ranks below 30 items. However, rank tests require symmetry, which the differences minus
    ε do not have: if the true difference is ε = 0.1, rank tests report a win in 20 to 42 of 100 studies of 15 to 29
    items, and Student's t reports a win in 4 to 6.

    >>> round(p_value(20, 60, 20, 0.1), 4)
    0.0594
    """
    size = model_closer + equal + person_closer
    if ranks and size < FEWEST_BY_T:
        return _p_of_ranks(model_closer, equal, person_closer, epsilon)
    mean = (person_closer - model_closer) / size
    variance = ((person_closer + model_closer) / size - mean * mean) * size / (size - 1)
    if variance <= 0:
        return 0.0 if mean < epsilon else 1.0
    value = (mean - epsilon) / sqrt(variance / size)
    return t_tail(-value, size - 1) if value < 0 else 1 - t_tail(value, size - 1)


def _p_of_ranks(model_closer: int, equal: int, person_closer: int, epsilon: float) -> float:
    """Wilcoxon's signed-rank test of the differences minus ε, exact with ties (at most three distinct values)."""
    counts = {-1 - epsilon: model_closer, -epsilon: equal, 1 - epsilon: person_closer}
    counts = {value: count for value, count in counts.items() if value and count}
    sizes = np.repeat([abs(value) for value in counts], list(counts.values()))
    if not len(sizes):
        return 1.0
    ordered = np.sort(sizes)
    # Twice the mean rank of equal sizes is a whole number.
    ranks = np.searchsorted(ordered, sizes, "left") + np.searchsorted(ordered, sizes, "right") + 1
    positive = np.repeat([value > 0 for value in counts], list(counts.values()))
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    return float(ways[: int(ranks[positive].sum()) + 1].sum() / ways.sum())
