"""Prediction-powered inference: estimates from a model's labels of all items and people's labels of a few.

A model's labels are many but may be biased; people's labels are few but correct. The estimate uses the model's labels
for all items and corrects them by their error on items with people's labels; λ is the weight of the model (power tuning
as in PPI++, Angelopoulos et al. 2023). Items for people may be sampled with unequal probabilities, for example more
often where the model is uncertain (Gligorić et al. 2025); they are then weighted by the inverse probability.

Every estimate is a coefficient of a least-squares regression on all items: of a constant for a mean, of a group for a
difference. Its variance has two parts: one from the items, and one from sampling the items for people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from chorale.metrics import FloatArray, Interval
from chorale.metrics.sampling import TAIL, TOO_FEW
from chorale.metrics.student import t_bound

_FEWEST_CARRYING = 5
"""Minimum effective number of items with people's labels for a valid interval. This number is small for rare labels."""

_TINY = 1e-6
"""Minimum of 1 − an item's leverage."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One coefficient."""

    value: float
    error: float
    """Its standard error."""
    trust: float
    """λ: 0 uses only people's labels, 1 uses the model's labels fully, with correction."""
    freedom: int
    carrying: float
    """Effective number of items with people's labels; all of them if they contribute equally to the error."""

    @property
    def interval(self) -> Interval:
        if self.carrying < _FEWEST_CARRYING or self.freedom < 1:
            return TOO_FEW
        half = t_bound(TAIL, self.freedom) * self.error
        return Interval(self.value - half, self.value + half)


@dataclass(frozen=True, slots=True)
class Sample:
    """All items, with people's labels of some."""

    design: FloatArray
    """One row per item, one column per coefficient: a constant, a group, a covariate."""
    model: FloatArray
    """The model's label of every item, as a number."""
    people: FloatArray
    """People's labels; NaN for items without one."""
    probability: FloatArray
    """Probability with which each item was sampled for people."""

    @classmethod
    def at_random(cls, design: FloatArray, model: FloatArray, people: FloatArray) -> "Sample":
        """Builds the sample if people's items were sampled uniformly at random."""
        share = float((~np.isnan(people)).mean()) if len(people) else 0.0
        return cls(design, model, people, np.full(len(people), share))


def estimate(sample: Sample, coefficient: int, *, trust: float | None = None) -> Estimate:
    """Estimates one coefficient. `trust` sets λ; default: the value between 0 and 1 with the lowest variance."""
    asked = ~np.isnan(sample.people)
    count, total = int(asked.sum()), len(asked)
    weights = 1 / sample.probability[asked]
    weights *= total / weights.sum()
    design, people, model = sample.design[asked], sample.people[asked], sample.model[asked]
    theirs, guessed = (_fitted(design, labels, weights) for labels in (people, model))
    everywhere = _fitted(sample.design, sample.model, np.ones(total))
    contrast = design @ np.linalg.inv(sample.design.T @ sample.design / total)[coefficient]
    # Residuals are too small for items with high leverage, which HC3 corrects (MacKinnon and White 1985).
    contrast /= np.maximum(_TINY, 1 - _leverage(design, weights))
    left, left_of_model = contrast * (people - design @ theirs), contrast * (model - design @ guessed)
    # Contribution of an item to the sampling variance.
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
    """Leverage of each item."""
    rooted = design * np.sqrt(weights)[:, None]
    return np.asarray(np.einsum("ij,ij->i", rooted @ np.linalg.pinv(rooted.T @ rooted), rooted))


def _best_trust(due: FloatArray, left: FloatArray, left_of_model: FloatArray) -> float:
    square = float(due @ left_of_model**2)
    return float(np.clip(due @ (left * left_of_model) / square, 0, 1)) if square > 0 else 0.0


def unsure_first(confidence: Sequence[float] | FloatArray, wanted: int, *, even: float = 0.5) -> FloatArray:
    """Sampling probabilities of items for people, for about `wanted` items, higher for uncertain ones.

    A fraction `even` is sampled uniformly from all items, so every item has a positive probability.
    """
    if not 0 < even <= 1:
        raise ValueError("`even` must be above 0 and at most 1")
    total = len(confidence)
    unsure = np.clip(1 - np.asarray(confidence, dtype=np.float64), 0, 1)
    parts = unsure / unsure.sum() if unsure.sum() > 0 else np.full(total, 1 / max(1, total))
    shares = even / max(1, total) + (1 - even) * parts
    certain = np.zeros(total, dtype=np.bool_)
    while True:  # Probabilities above 1 are capped, and the remainder is distributed among the others.
        left = wanted - int(certain.sum())
        scaled = np.where(certain, 1.0, shares * left / max(float(shares[~certain].sum()), 1e-300))
        above = scaled > 1
        if not (above & ~certain).any():
            return np.minimum(scaled, 1.0)
        certain |= above
