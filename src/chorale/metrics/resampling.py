"""How intervals and tests are computed: from how many resamples, and from which random seed."""

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
    """Whether intervals are wanted."""
    resamples: int = 1000
    seed: int = 1
    progress: Progress | None = None
    clusters: Clusters | None = None
    """Where items are not sampled one by one: those of a writer, a worker or a document together."""

    def intervals(self, statistics: Statistics, metric: Metric) -> dict[str, Interval]:
        """An interval for every score, wanted or not."""
        return intervals(statistics, metric, **self._draws(), progress=self.progress, clusters=self.clusters)

    def compare(self, first: Statistics, second: Statistics, metric: Metric) -> dict[str, Comparison]:
        return compare(first, second, metric, **self._draws(), progress=self.progress, clusters=self.clusters)

    def compare_apart(
        self,
        first: tuple[Statistics, Metric],
        second: tuple[Statistics, Metric],
        clusters: tuple[Clusters | None, Clusters | None] | None = None,
    ) -> dict[str, UnpairedComparison]:
        """Of items that nothing pairs: each set is resampled on its own."""
        return compare_apart(first, second, **self._draws(), clusters=clusters or (self.clusters, self.clusters))

    def tally_intervals(self, tally: Tally, metric: Metric) -> dict[str, Interval]:
        """Of one of many tables: no progress is reported, since there are more to come."""
        return tally_intervals(tally, metric, **self._draws())

    def row_intervals(self, rows: FloatArray, metric: Metric) -> dict[str, Interval]:
        return row_intervals(rows, metric, **self._draws())

    def median_interval(self, values: FloatArray) -> Interval:
        return median_interval(values, **self._draws())

    def tally_compare(self, both: Tally, metric: Metric) -> dict[str, Comparison]:
        return tally_compare(both, metric, **self._draws())

    def notes(self, items: Sequence[str], *, compared: bool = False) -> list[str]:
        """What was resampled, if anything was, and not item by item."""
        return [self.clusters.note(items)] if self.clusters is not None and (self.ci or compared) else []

    def why_too_few(self, score: str, statistics: Statistics, metric: Metric, name: str) -> str:
        """What to do about a score that has no interval. `name` is its name in the metric."""
        basis = support(statistics, metric, self.clusters)[name]
        units = "items" if self.clusters is None else f"values of {self.clusters.names[0]}"
        if basis.units_needed is None:
            return (
                f"{score} has no interval: none of {basis.units:,} {units} moves it. Add items that people may dispute."
            )
        moving = "fewer than one" if basis.carrying < 1 else f"about {basis.carrying:.0f}"
        return (
            f"{score} has no interval: {moving} of {basis.units:,} {units} move it. This is usual if a label is rare "
            f"or people agree on nearly everything. An interval needs about {basis.units_needed:,} {units} like these."
        )

    def settings(self, *, compared: bool = False) -> dict[str, Setting]:
        """For the signature: what was resampled, if anything."""
        if not self.ci and not compared:
            return {}
        return {"cluster": None if self.clusters is None else self.clusters.names, **self._draws()}

    def _draws(self) -> dict[str, int]:
        return {"resamples": self.resamples, "seed": self.seed}


def checked_resampling(
    ci: bool, resamples: int, seed: int, progress: Progress | None = None, clusters: Clusters | None = None
) -> Resampling:
    """From a program's arguments; the same limits as those of commands."""
    if resamples < _FEWEST:
        raise UserError(f"resamples is at least {_FEWEST}, not {resamples}.")
    if seed < 0:
        raise UserError(f"seed is at least 0, not {seed}.")
    return Resampling(ci, resamples, seed, progress, clusters)


_FEWEST = 100
