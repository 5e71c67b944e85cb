"""Simulations of agreement coefficients, with labels of different frequency."""

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from bench.simulations import RESAMPLES, Outcome, Simulation, covers
from chorale.metrics import intervals
from chorale.metrics.agreement import Agreement, fleiss_kappa, krippendorff_alpha
from chorale.metrics.judgments import Judgments

_RATERS = 3
_LARGE = 200_000
_COEFFICIENTS = {"Krippendorff's α": krippendorff_alpha, "Fleiss' κ": fleiss_kappa}


def judged(items: int, prevalence: float, rng: np.random.Generator) -> Judgments:
    """Three raters who find 80% of what is there, and as much elsewhere as keeps the label as frequent."""
    there = rng.random(items) < prevalence
    chance = np.where(there, 0.8, 0.2 * prevalence / (1 - prevalence))
    said = rng.random((items, _RATERS)) < chance[:, None]
    tasks = np.repeat([f"t{number:06}" for number in range(items)], _RATERS)
    workers = np.tile([f"w{number}" for number in range(_RATERS)], items)
    return Judgments.from_columns(tasks, workers, np.where(said.reshape(-1), "yes", "no"))


@cache
def _truth(name: str, prevalence: float) -> float:
    """From so many items that nothing is left to luck."""
    value = _COEFFICIENTS[name](judged(_LARGE, prevalence, np.random.default_rng(0))).value
    if value is None:
        raise ValueError("the coefficient is undefined")
    return value


def _covered(name: str, items: int, prevalence: float, rng: np.random.Generator) -> list[Outcome]:
    found: Agreement = _COEFFICIENTS[name](judged(items, prevalence, rng))
    if found.value is None:
        return [None]
    return [covers(intervals(*found.statistics(), resamples=RESAMPLES)["value"], _truth(name, prevalence))]


def intervals_of_agreement() -> Iterator[Simulation]:
    for name in _COEFFICIENTS:
        for items in (30, 100, 300, 1000):
            for prevalence in (0.03, 0.05, 0.2, 0.5):
                of, run = f"{items:,} items, {prevalence:.0%} yes, 3 raters", partial(_covered, name, items, prevalence)
                is_quick = name == "Krippendorff's α" and items == 100 and prevalence in (0.05, 0.5)
                yield Simulation(name, of, "coverage", run, (0.90, 0.985), is_quick)
