"""How intervals and tests are drawn, for reports that may have them."""

from dataclasses import dataclass

from chorale.scores import Comparison, Interval, Metric, Statistics, compare, intervals
from chorale.scores.intervals import Progress
from chorale.scores.signature import Setting


@dataclass(frozen=True, slots=True)
class Drawing:
    ci: bool = False
    """Whether intervals are wanted."""
    resamples: int = 1000
    seed: int = 1
    progress: Progress | None = None

    def intervals(self, statistics: Statistics, metric: Metric) -> dict[str, Interval]:
        """An interval for every score, wanted or not."""
        return intervals(statistics, metric, resamples=self.resamples, seed=self.seed, progress=self.progress)

    def compare(self, first: Statistics, second: Statistics, metric: Metric) -> dict[str, Comparison]:
        return compare(first, second, metric, resamples=self.resamples, seed=self.seed, progress=self.progress)

    def settings(self, *, compared: bool = False) -> dict[str, Setting]:
        """For the signature: what was drawn, if anything was."""
        return {"resamples": self.resamples, "seed": self.seed} if self.ci or compared else {}
