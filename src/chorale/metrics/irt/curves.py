"""Probability of each answer to each item along the ability scale, with derivatives with respect to parameters.

An answer is a category: 0 and 1 (wrong and right), or 0 … T on a graded scale. With S_t = σ(α(θ − β_t)) the
probability of at least category t, category c has S_c − S_{c+1}. With guessing, a correct answer has γ + (1 − γ)·S.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray

LOG_ALPHA = 0
"""The column of log α, followed by the thresholds β and, with guessing, logit γ."""
_RARE = 1e-12
"""Lower bound of probabilities."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Probabilities at every node of the ability scale."""

    chance: FloatArray
    """Categories × items × nodes."""
    slopes: FloatArray
    """Derivatives with respect to each parameter: parameters × categories × items × nodes."""

    @classmethod
    def of(cls, parameters: FloatArray, theta: FloatArray, thresholds: int) -> Self:
        """Curves of items × parameters. A threshold of +∞ means that the item does not have it."""
        items, count = parameters.shape
        alpha = np.exp(parameters[:, LOG_ALPHA])[:, None]
        slopes = np.zeros((count, thresholds + 1, items, len(theta)))
        chance = np.zeros((thresholds + 1, items, len(theta)))
        chance[0] = 1.0
        for t in range(1, thresholds + 1):
            exists = np.isfinite(parameters[:, t])[:, None]
            logit = alpha * (theta - np.where(exists, parameters[:, t : t + 1], 0.0))
            at_least = 1 / (1 + np.exp(-logit.clip(-35.0, 35.0))) * exists
            rise = at_least * (1 - at_least)
            chance[t - 1] -= at_least
            chance[t] += at_least
            for parameter, slope in ((LOG_ALPHA, logit * rise), (t, -alpha * rise)):
                slopes[parameter, t - 1] -= slope
                slopes[parameter, t] += slope
        if count > thresholds + 1:
            gamma = 1 / (1 + np.exp(-parameters[:, -1:]))
            fails = chance[0].copy()
            chance[0] *= 1 - gamma
            chance[1] = 1 - chance[0]
            slopes[:-1] *= 1 - gamma
            slopes[-1, 1] = gamma * (1 - gamma) * fails
            slopes[-1, 0] = -slopes[-1, 1]
        np.maximum(chance, _RARE, out=chance)
        return cls(chance, slopes)

    def information(self, counts: FloatArray) -> FloatArray:
        """Fisher information on item parameters from answers at each node: items × parameters × parameters."""
        parameters, _, items, _ = self.slopes.shape
        information = np.empty((items, parameters, parameters))
        per_answer = counts / self.chance
        for row in range(parameters):
            weighted = self.slopes[row] * per_answer
            for column in range(row + 1):
                shared = np.einsum("cin,cin->i", weighted, self.slopes[column])
                information[:, row, column] = information[:, column, row] = shared
        return information

    def on_ability(self) -> FloatArray:
        """Fisher information of one answer to each item about θ: items × nodes."""
        thresholds = len(self.chance) - 1
        by_theta = -self.slopes[1 : thresholds + 1].sum(axis=0)
        information: FloatArray = (by_theta**2 / self.chance).sum(axis=0)
        return information


@dataclass(frozen=True, slots=True)
class ResponseArrays:
    """Answers as indicator arrays."""

    given: NDArray[np.bool_]
    """Responders × items."""
    above: tuple[FloatArray, ...]
    """For every category except the lowest, 1 where it was the answer: responders × items each."""

    @classmethod
    def of(cls, matrix: FloatArray, thresholds: int) -> Self:
        return cls(~np.isnan(matrix), tuple((matrix == c).astype(np.float64) for c in range(1, thresholds + 1)))

    @property
    def complete(self) -> bool:
        return bool(self.given.all())

    def sums_of(self, of_categories: FloatArray) -> FloatArray:
        """Sums a value of every category, item and node over each responder's answers."""
        lowest = of_categories[0]
        if self.complete:
            total = np.broadcast_to(lowest.sum(axis=0), (len(self.given), lowest.shape[1])).copy()
        else:
            total = self.given.astype(np.float64) @ lowest
        for chosen, values in zip(self.above, of_categories[1:], strict=True):
            total += chosen @ (values - lowest)
        return total

    def chosen(self, at_nodes: FloatArray, of_categories: FloatArray) -> FloatArray:
        """Value of every answer's own category, averaged over each responder's nodes: responders × items."""
        sums: FloatArray = (at_nodes @ of_categories[0].T) * self.given
        for chosen, values in zip(self.above, of_categories[1:], strict=True):
            sums += chosen * (at_nodes @ (values - of_categories[0]).T)
        return sums

    def counts(self, shares: FloatArray) -> FloatArray:
        """Expected number of answers of each category at each node."""
        if self.complete:
            every = np.broadcast_to(shares.sum(axis=0), (self.given.shape[1], shares.shape[1]))
        else:
            every = self.given.T.astype(np.float64) @ shares
        counts: FloatArray = np.stack([every, *(chosen.T @ shares for chosen in self.above)])
        counts[0] -= counts[1:].sum(axis=0)
        return counts.clip(min=0.0)
