"""Settings of intervals and tests: number of resamples and random seed."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorale.metrics import (
    Comparison,
    FloatArray,
    Interval,
    Metric,
    Statistics,
    Tally,
    compare,
    compare_apart,
    intervals,
    median_interval,
    row_intervals,
    tally_compare,
    tally_intervals,
)
from chorale.metrics.clusters import Clusters
from chorale.metrics.comparison import UnpairedComparison
from chorale.metrics.sampling import Progress
from chorale.metrics.signatures import Setting
from chorale.metrics.support import support
from chorale.model import UserError


@dataclass(frozen=True, slots=True)
class Resampling:
    ci: bool = False
    """Whether intervals are requested."""
    resamples: int = 1000
    seed: int = 1
    progress: Progress | None = None
    clusters: Clusters | None = None
    """Clusters of items that are sampled together, by writer, worker or document."""

    def intervals(self, statistics: Statistics, metric: Metric) -> dict[str, Interval]:
        """Intervals for all scores."""
        return intervals(statistics, metric, **self._draws(), progress=self.progress, clusters=self.clusters)

    def compare(self, first: Statistics, second: Statistics, metric: Metric) -> dict[str, Comparison]:
        return compare(first, second, metric, **self._draws(), progress=self.progress, clusters=self.clusters)

    def compare_apart(
        self,
        first: tuple[Statistics, Metric],
        second: tuple[Statistics, Metric],
        clusters: tuple[Clusters | None, Clusters | None] | None = None,
    ) -> dict[str, UnpairedComparison]:
        """Comparison of unpaired items: each set is resampled separately."""
        return compare_apart(first, second, **self._draws(), clusters=clusters or (self.clusters, self.clusters))

    def tally_intervals(self, tally: Tally, metric: Metric) -> dict[str, Interval]:
        """Intervals for one of many tables, without progress reports."""
        return tally_intervals(tally, metric, **self._draws())

    def row_intervals(self, rows: FloatArray, metric: Metric) -> dict[str, Interval]:
        return row_intervals(rows, metric, **self._draws())

    def median_interval(self, values: FloatArray) -> Interval:
        return median_interval(values, **self._draws())

    def tally_compare(self, both: Tally, metric: Metric) -> dict[str, Comparison]:
        return tally_compare(both, metric, **self._draws())

    def notes(self, items: Sequence[str], *, compared: bool = False) -> list[str]:
        """Note on resampled clusters, if any."""
        return [self.clusters.note(items)] if self.clusters is not None and (self.ci or compared) else []

    def why_too_few(self, score: str, statistics: Statistics, metric: Metric, name: str) -> str:
        """Explanation for a score without an interval. `name` is its name in the metric."""
        basis = support(statistics, metric, self.clusters)[name]
        units = "items" if self.clusters is None else f"values of {self.clusters.names[0]}"
        if basis.units_needed is None:
            return (
                f"{score} has no interval: none of the {basis.units:,} {units} affects it. An interval requires "
                "items with disagreement."
            )
        carrying = "on average, less than one" if basis.carrying < 1 else f"about {basis.carrying:.0f}"
        affect = "affects" if basis.carrying < 1.5 else "affect"
        return (
            f"{score} has no interval: {carrying} of the {basis.units:,} {units} {affect} it. This is common if a "
            f"label is rare or people agree on nearly everything. An interval requires about "
            f"{basis.units_needed:,} such {units}."
        )

    def settings(self, *, compared: bool = False) -> dict[str, Setting]:
        """Resampling settings for the signature."""
        if not self.ci and not compared:
            return {}
        return {"cluster": None if self.clusters is None else self.clusters.names, **self._draws()}

    def _draws(self) -> dict[str, int]:
        return {"resamples": self.resamples, "seed": self.seed}


def checked_resampling(
    ci: bool, resamples: int, seed: int, progress: Progress | None = None, clusters: Clusters | None = None
) -> Resampling:
    """Validates a program's arguments with the limits of the commands."""
    if resamples < _FEWEST:
        raise UserError(f"resamples must be at least {_FEWEST}, not {resamples}.")
    if seed < 0:
        raise UserError(f"seed must be at least 0, not {seed}.")
    return Resampling(ci, resamples, seed, progress, clusters)


_FEWEST = 100
