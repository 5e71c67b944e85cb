"""Item response models, and the results of fitting them.

A responder of ability θ answers an item of discrimination α, difficulty β and guessing γ correctly with probability

    p = γ + (1 − γ)·σ(α(θ − β)),     σ(x) = 1 / (1 + exp(−x)).

The 2PL model has γ = 0; the 1PL model has α = 1 as well (Baker and Kim 1993). In the graded response model (Samejima
1969) answers are steps of a scale, and step t or a higher one is reached with probability σ(α(θ − β_t)).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chorale.metrics import FloatArray
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

IrtModel = Literal["1pl", "2pl", "3pl", "graded"]
BINARY_MODELS: tuple[IrtModel, ...] = ("1pl", "2pl", "3pl")
MODELS: tuple[IrtModel, ...] = (*BINARY_MODELS, "graded")
GuessingPrior = Literal["fitted", "standard"]

SIGMA_ALPHAS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Candidate prior deviations of log α. The one with the highest bound is used (Nangia et al. 2021, app. F)."""

GUESSING_SPREADS = (0.5, 1.0)
"""Candidate prior deviations of logit γ around its fitted mean. The one with the highest bound is used."""


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal distributions, one per entry."""

    mean: FloatArray
    sd: FloatArray


@dataclass(frozen=True, slots=True)
class IrtIntervals:
    """Intervals: lower ends in the first row, upper ends in the second."""

    ability: FloatArray
    difficulty: FloatArray
    discrimination: FloatArray
    guessing: FloatArray
    thresholds: FloatArray
    """2 × items × thresholds."""


@dataclass(frozen=True, slots=True)
class IrtFit:
    """The posterior: a normal distribution for every parameter, on the scale it is fitted on."""

    model: IrtModel
    ability: Normal
    difficulty: Normal
    """For the graded model, the mean of an item's thresholds."""
    log_discrimination: Normal
    logit_guessing: Normal
    converged: bool

    @property
    def discrimination(self) -> FloatArray:
        """The posterior median of α; 1 for 1PL."""
        return np.exp(self.log_discrimination.mean)

    @property
    def guessing(self) -> FloatArray:
        """The posterior median of γ; 0 without guessing."""
        return 1 / (1 + np.exp(-self.logit_guessing.mean))

    def __repr__(self) -> str:
        return brief_repr(
            type(self).__name__,
            self.model,
            plural(len(self.ability.mean), "responder", "responders"),
            plural(len(self.difficulty.mean), "item", "items"),
        )


@dataclass(frozen=True, slots=True, repr=False)
class VariationalFit(IrtFit):
    """A fit by the published method."""

    bound: float
    """The maximised lower bound of the log probability of the responses."""
    sigma_alpha: float | None
    """The prior deviation of log α with the highest bound; None for 1PL, which has no α."""
    bounds: dict[float, float]
    """The bound of every candidate deviation under the coarser quadrature of the search, for comparison."""
    guessing_centre: float | None
    """The prior mean of logit γ; None without guessing."""
    guessing_spread: float | None
    """The prior deviation of logit γ; None without guessing."""
    starts: tuple[float, ...]
    """The bound from every start; the first start is derived from the data."""


def item_weights(tests: Sequence[int]) -> FloatArray:
    """Weight of each item's likelihood: the inverse of the size of its test.

    Scaled so that items of the smallest test have weight 1: every test has the same total weight, and no answer counts
    more than once. Otherwise an item could fit abilities to itself with an unbounded discrimination.

    >>> item_weights([0, 0, 0, 1]).round(2).tolist()
    [0.33, 0.33, 0.33, 1.0]
    """
    codes = np.asarray(tests, dtype=np.intp)
    if not len(codes):
        return np.zeros(0)
    _, place, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    weights: FloatArray = sizes.min() / sizes[place]
    return weights
