"""Number of items that the alternative annotator test needs, by repeating it with resampled items."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.replacing.alternative import FEWEST_BY_T, LEVEL, PASSES, Rival
from chorale.metrics.student import t_bound

POWER = 0.8
"""Fraction of repetitions that should pass."""
MOST_ITEMS = 100_000


def chance_of_passing(
    rivals: Sequence[Rival], items: int, epsilon: float, *, repetitions: int = 1000, seed: int = 1
) -> float:
    """Fraction of repetitions where the model wins against half of the people, for a number of items per person.

    People are sampled independently and tested with Student's t.
    """
    rng = np.random.default_rng(seed)
    values = np.stack([_t_values(_drawn(rival, items, repetitions, rng), epsilon) for rival in rivals], axis=1)
    return float((_wins(values, items) >= PASSES * len(rivals)).mean())


def items_needed(rivals: Sequence[Rival], epsilon: float) -> int | None:
    """Number of items per person with which the test passes in 80% of repetitions: at least 30, and within 1% of the
    smallest such number; None if above 100,000.
    """

    def enough(items: int) -> bool:
        return chance_of_passing(rivals, items, epsilon) >= POWER

    high = FEWEST_BY_T
    while not enough(high):
        if high >= MOST_ITEMS:
            return None
        high = min(2 * high, MOST_ITEMS)
    low = high // 2 if high > FEWEST_BY_T else high
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _drawn(rival: Rival, items: int, repetitions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    counts = np.array([rival.model_closer, rival.equal, rival.person_closer], dtype=np.float64)
    drawn: NDArray[np.int64] = rng.multinomial(items, counts / counts.sum(), size=repetitions)
    return drawn


def _t_values(drawn: NDArray[np.int64], epsilon: float) -> FloatArray:
    """t statistic of the difference minus ε for each repetition."""
    size = drawn.sum(axis=1)
    mean = (drawn[:, 2] - drawn[:, 0]) / size
    variance = ((drawn[:, 2] + drawn[:, 0]) / size - mean * mean) / (size - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (mean - epsilon) / np.sqrt(variance)
    return np.where(variance > 0, value, np.where(mean < epsilon, -np.inf, np.inf))


def _wins(values: FloatArray, items: int) -> NDArray[np.int64]:
    """Number of people the model wins against in each repetition, after Benjamini and Yekutieli's correction.

    All people have the same number of items, so t values have the order of p-values and can be compared directly.
    """
    people = values.shape[1]
    ranks = np.arange(1, people + 1)
    levels = LEVEL * ranks / (people * (1 / ranks).sum())
    bounds = [-t_bound(float(level), items - 1) for level in levels]
    below = np.sort(values, axis=1) <= bounds
    return np.where(below.any(axis=1), people - np.argmax(below[:, ::-1], axis=1), 0)
