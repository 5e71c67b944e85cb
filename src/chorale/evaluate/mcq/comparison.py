"""Two sets of questions compared: nothing pairs their items, so each is drawn from on its own."""

from dataclasses import dataclass

import numpy as np

from chorale.evaluate.mcq.measures import McqMeasures
from chorale.scores import Interval
from chorale.scores.intervals import resampled


@dataclass(frozen=True, slots=True)
class UnpairedComparison:
    """One score of two sets of questions: `difference` is the first's minus the second's."""

    first: float
    second: float
    difference: float
    interval: Interval
    p_bootstrap: float
    """Two-sided."""

    def as_dict(self) -> dict[str, float | list[float]]:
        return {
            "value": self.first,
            "other": self.second,
            "difference": self.difference,
            "ci": self.interval.as_list(),
            "p_bootstrap": self.p_bootstrap,
        }


def compare_unpaired(
    first: McqMeasures, second: McqMeasures, *, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> dict[str, UnpairedComparison]:
    """Every score that both have, by an independent bootstrap over each one's questions."""
    ours, theirs = first.scores(), second.scores()
    drawn = resampled(first.statistics, first.metric, resamples=resamples, seed=seed)
    others = resampled(second.statistics, second.metric, resamples=resamples, seed=seed + 1)
    found = {}
    for name, value in ours.items():
        if name not in theirs or name.startswith("kept"):
            continue
        differences = drawn[name] - others[name]
        difference = value - theirs[name]
        low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
        as_far = np.abs(differences - difference) >= abs(difference) - 1e-12
        p = float((1 + np.count_nonzero(as_far)) / (1 + resamples))
        found[name] = UnpairedComparison(value, theirs[name], difference, Interval(float(low), float(high)), p)
    return found
