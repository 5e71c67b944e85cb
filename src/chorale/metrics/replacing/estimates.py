"""What can be said of all items from a model's labels of all and people's labels of few: prediction-powered inference.

A model's labels are many and may be wrong everywhere alike; people's are few and right. The estimate takes the model's
for all items and corrects them by how far they are off where people answered too; λ says how far the model is trusted
(power tuning as in PPI++, Angelopoulos et al. 2023). Items for people may be sampled with unequal probabilities, as
when people are asked about those that the model is unsure of (Gligorić et al. 2025); each then weighs by the inverse
of its probability.

Every estimate is a coefficient of a least-squares regression on all items: of a constant for a mean, of a group for a
difference. Its variance has two parts: that of the items themselves, and that of which of them people were asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from chorale.metrics import FloatArray, Interval
from chorale.metrics.sampling import TAIL, TOO_FEW
from chorale.metrics.student import t_bound

_FEWEST_CARRYING = 5
"""Items with people's labels that must carry an estimate for its interval to hold: of a rare label, few of many do."""

_TINY = 1e-6
"""Of an item that alone decides what is fitted to it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One coefficient."""

    value: float
    error: float
    """Its standard error."""
    trust: float
    """λ: 0 uses people's labels alone, 1 takes the model's as they are, corrected."""
    freedom: int
    carrying: float
    """How many of the items with people's labels carry it: all, if its error comes from each alike."""

    @property
    def interval(self) -> Interval:
        if self.carrying < _FEWEST_CARRYING or self.freedom < 1:
            return TOO_FEW
        half = t_bound(TAIL, self.freedom) * self.error
        return Interval(self.value - half, self.value + half)


@dataclass(frozen=True, slots=True)
class Sample:
    """All items, and human labels of some."""

    design: FloatArray
    """A row per item, a column per coefficient: a constant, a group, a covariate."""
    model: FloatArray
    """The model's label of every item, as a number."""
    people: FloatArray
    """People's; NaN where they were not asked."""
    probability: FloatArray
    """With which each item was to be among those that people were asked about."""

    @classmethod
    def at_random(cls, design: FloatArray, model: FloatArray, people: FloatArray) -> "Sample":
        """Items for people were a uniform random sample."""
        share = float((~np.isnan(people)).mean()) if len(people) else 0.0
        return cls(design, model, people, np.full(len(people), share))


def estimate(sample: Sample, coefficient: int, *, trust: float | None = None) -> Estimate:
    """One coefficient. Without `trust`, λ is what makes the estimate most certain, between 0 and 1."""
    asked = ~np.isnan(sample.people)
    count, total = int(asked.sum()), len(asked)
    weights = 1 / sample.probability[asked]
    weights *= total / weights.sum()
    design, people, model = sample.design[asked], sample.people[asked], sample.model[asked]
    theirs, guessed = (_fitted(design, labels, weights) for labels in (people, model))
    everywhere = _fitted(sample.design, sample.model, np.ones(total))
    contrast = design @ np.linalg.inv(sample.design.T @ sample.design / total)[coefficient]
    # A fit comes close to the items it is fitted to, the more each of them moves it (HC3 of MacKinnon and White 1985).
    contrast /= np.maximum(_TINY, 1 - _leverage(design, weights))
    left, left_of_model = contrast * (people - design @ theirs), contrast * (model - design @ guessed)
    # What an item adds to the variance from sample to sample of the same items.
    due = weights**2 * (1 - sample.probability[asked])
    chosen = _best_trust(due, left, left_of_model) if trust is None else trust
    value = float(theirs[coefficient] - chosen * (guessed[coefficient] - everywhere[coefficient]))
    parts = due * (left - chosen * left_of_model) ** 2 + weights * left**2
    squares = float(parts @ parts)
    carrying = float(parts.sum()) ** 2 / squares if squares > 0 else 0.0
    return Estimate(value, sqrt(float(parts.sum())) / total, chosen, count - design.shape[1], carrying)


def _fitted(design: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """The coefficients of weighted least squares."""
    root = np.sqrt(weights)
    return np.asarray(np.linalg.lstsq(design * root[:, None], labels * root, rcond=None)[0])


def _leverage(design: FloatArray, weights: FloatArray) -> FloatArray:
    """How far each item's own label moves what is fitted to it."""
    rooted = design * np.sqrt(weights)[:, None]
    return np.asarray(np.einsum("ij,ij->i", rooted @ np.linalg.pinv(rooted.T @ rooted), rooted))


def _best_trust(due: FloatArray, left: FloatArray, left_of_model: FloatArray) -> float:
    square = float(due @ left_of_model**2)
    return float(np.clip(due @ (left * left_of_model) / square, 0, 1)) if square > 0 else 0.0


def unsure_first(confidence: Sequence[float] | FloatArray, wanted: int, *, even: float = 0.5) -> FloatArray:
    """Probabilities with which to ask people about items, so that about `wanted` are asked and unsure ones more often.

    A share of `even` of the places is sampled uniformly from all items, so every item has a chance.
    """
    if not 0 < even <= 1:
        raise ValueError("the even share must be above 0 and at most 1")
    total = len(confidence)
    unsure = np.clip(1 - np.asarray(confidence, dtype=np.float64), 0, 1)
    parts = unsure / unsure.sum() if unsure.sum() > 0 else np.full(total, 1 / max(1, total))
    shares = even / max(1, total) + (1 - even) * parts
    certain = np.zeros(total, dtype=np.bool_)
    while True:  # what would be above 1 is 1, and the rest of the places go to the others
        left = wanted - int(certain.sum())
        scaled = np.where(certain, 1.0, shares * left / max(float(shares[~certain].sum()), 1e-300))
        above = scaled > 1
        if not (above & ~certain).any():
            return np.minimum(scaled, 1.0)
        certain |= above
