"""Two sets of questions compared: nothing pairs their items, so each is drawn from on its own."""

from dataclasses import dataclass

import numpy as np

from chorale.kits.questions.metrics.measures import McqMeasures
from chorale.metrics import Interval, Metric, Statistics
from chorale.metrics.intervals import resampled


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
    ours, theirs = (first.statistics, first.metric), (second.statistics, second.metric)
    found = compare_apart(ours, theirs, resamples=resamples, level=level, seed=seed)
    return {name: one for name, one in found.items() if not name.startswith("kept")}


def compare_apart(
    first: tuple[Statistics, Metric],
    second: tuple[Statistics, Metric],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> dict[str, UnpairedComparison]:
    """The same from statistics, each with a metric of its own."""
    ours, theirs = (metric.scores(statistics) for statistics, metric in (first, second))
    drawn = resampled(*first, resamples=resamples, seed=seed)
    others = resampled(*second, resamples=resamples, seed=seed + 1)
    found = {}
    for name in (name for name in ours if name in theirs):
        differences = drawn[name] - others[name]
        difference = ours[name] - theirs[name]
        low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
        as_far = np.abs(differences - difference) >= abs(difference) - 1e-12
        p = float((1 + np.count_nonzero(as_far)) / (1 + resamples))
        found[name] = UnpairedComparison(ours[name], theirs[name], difference, Interval(float(low), float(high)), p)
    return found
