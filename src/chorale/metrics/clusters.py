"""Clusters of items that were sampled or randomised together: by writer, worker, passage or document.

Items of a cluster are correlated, so they form one unit for resampling, swapping and permuting. With two kinds of
clusters, such as writers and passages, both are sampled (the pigeonhole bootstrap, Owen 2007).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.sampling import Progress, blocks
from chorale.metrics.statistics import FloatArray, Statistics
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.model.problems import did_you_mean

Codes = NDArray[np.intp]
FEW = 10
"""Number of clusters below which a note warns."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """One or two kinds of clusters. The first is the randomised kind, if any."""

    names: tuple[str, ...]
    """The columns they come from."""
    of: tuple[Mapping[str, str], ...]
    """The cluster of every item, for each kind."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= 2 or len(set(self.names)) < len(self.names):
            raise UserError(f"--cluster takes one or two different columns, not {', '.join(self.names)}.")

    @classmethod
    def chosen(cls, names: Sequence[str], columns: Mapping[str, Mapping[str, str]]) -> Self | None:
        """Clusters from these columns, without columns that repeat the IDs of the items; None if no column is left."""
        for name in names:
            if name not in columns:
                known = f" (found: {', '.join(columns)})" if columns else " with values"
                meant = did_you_mean(name, columns) if columns else " Check the name of the column."
                raise UserError(f"--cluster {name}: no such column{known}.{meant}")
        kept = [name for name in names if any(item != cluster for item, cluster in columns[name].items())]
        return cls(tuple(kept), tuple(columns[name] for name in kept)) if kept else None

    @staticmethod
    def named(names: str | Sequence[str] | None) -> tuple[str, ...]:
        """The requested columns: one, several or none."""
        return (names,) if isinstance(names, str) else tuple(names or ())

    def codes(self, items: Sequence[str], way: int = 0) -> tuple[tuple[str, ...], Codes]:
        """The sorted clusters, and the cluster of each item. Items without a cluster are an error."""
        of = self.of[way]
        lacking = [item for item in items if not of.get(item)]
        if lacking:
            some = plural(len(lacking), "item has", "items have")
            raise UserError(f"--cluster {self.names[way]}: {some} no value, such as {lacking[0]}. Fill in the column.")
        names = sorted({of[item] for item in items})
        place = {name: number for number, name in enumerate(names)}
        return tuple(names), np.fromiter((place[of[item]] for item in items), dtype=np.intp, count=len(items))

    def sums(self, statistics: Statistics, way: int = 0) -> Statistics:
        """Sums over the items of every cluster, sufficient for an additive metric."""
        names, codes = self.codes(statistics.items, way)
        rows = np.zeros((len(names), statistics.rows.shape[1]))
        np.add.at(rows, codes, statistics.rows)
        return Statistics(names, rows)

    def times(
        self, statistics: Statistics, resamples: int, rng: "np.random.Generator", progress: Progress | None = None
    ) -> Iterator[FloatArray]:
        """Sampling counts of items when clusters are sampled with replacement, in blocks of resamples."""
        ways = [self.codes(statistics.items, way) for way in range(len(self.names))]
        for size in blocks(resamples, len(statistics.items), progress=progress):
            times = np.ones((size, len(statistics.items)))
            for names, codes in ways:
                times *= rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=size)[:, codes]
            yield times

    def count(self, items: Sequence[str]) -> int:
        """Number of clusters; of the smaller kind if there are two."""
        return min(len(self.codes(items, way)[0]) for way in range(len(self.names)))

    def described(self, items: Sequence[str]) -> str:
        """For example “worker_id (25 clusters) and passage_id (770 clusters)”."""
        counts = [len(self.codes(items, way)[0]) for way in range(len(self.names))]
        parts = zip(self.names, counts, strict=True)
        return " and ".join(f"{name} ({plural(count, 'cluster', 'clusters')})" for name, count in parts)

    def note(self, items: Sequence[str], *, about: str = "") -> str:
        """Note on the resampled clusters, with a warning if there are few."""
        few = self.count(items) < FEW
        warning = f" With fewer than {FEW} clusters, intervals are wide and p-values cannot be small." if few else ""
        return f"{about}{'r' if about else 'R'}esampled by {self.described(items)}, not item by item.{warning}"
