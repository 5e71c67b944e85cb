"""Which items were sampled or randomised together: all of a writer, a worker, a passage, a document.

Items of one cluster are alike, so they count as one unit when they are resampled, swapped or permuted. Where two kinds
of clusters matter, as writers and passages do, both are sampled (the pigeonhole bootstrap, Owen 2007).
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
"""With fewer clusters than that, a note says so."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """One kind of clusters or two. The first is the one that was randomised, where anything was."""

    names: tuple[str, ...]
    """The columns they come from."""
    of: tuple[Mapping[str, str], ...]
    """For each, the cluster that every item belongs to."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= 2 or len(set(self.names)) < len(self.names):
            raise UserError(f"--cluster takes one column or two different ones, not {', '.join(self.names)}.")

    @classmethod
    def chosen(cls, names: Sequence[str], columns: Mapping[str, Mapping[str, str]]) -> Self | None:
        """Of these columns, of which the items' own id stands for no clusters; None where none is named."""
        for name in names:
            if name not in columns:
                known = ", ".join(columns) or "none"
                meant = did_you_mean(name, columns)
                raise UserError(f"--cluster {name}: there is no such column (found: {known}).{meant}")
        kept = [name for name in names if any(item != cluster for item, cluster in columns[name].items())]
        return cls(tuple(kept), tuple(columns[name] for name in kept)) if kept else None

    @staticmethod
    def named(names: str | Sequence[str] | None) -> tuple[str, ...]:
        """The columns that were asked for: one, several or none."""
        return (names,) if isinstance(names, str) else tuple(names or ())

    def codes(self, items: Sequence[str], way: int = 0) -> tuple[tuple[str, ...], Codes]:
        """The clusters, sorted, and which of them each item belongs to; an item that belongs to none is an error."""
        of = self.of[way]
        lacking = [item for item in items if not of.get(item)]
        if lacking:
            some = plural(len(lacking), "item has", "items have")
            raise UserError(f"--cluster {self.names[way]}: {some} none, such as {lacking[0]}. Fill in the column.")
        names = sorted({of[item] for item in items})
        place = {name: number for number, name in enumerate(names)}
        return tuple(names), np.fromiter((place[of[item]] for item in items), dtype=np.intp, count=len(items))

    def sums(self, statistics: Statistics, way: int = 0) -> Statistics:
        """The sums over every cluster's items, which is all that an additive metric needs."""
        names, codes = self.codes(statistics.items, way)
        rows = np.zeros((len(names), statistics.rows.shape[1]))
        np.add.at(rows, codes, statistics.rows)
        return Statistics(names, rows)

    def times(
        self, statistics: Statistics, resamples: int, rng: "np.random.Generator", progress: Progress | None = None
    ) -> Iterator[FloatArray]:
        """How often each item is taken when clusters are sampled with replacement; a block of resamples at a time."""
        ways = [self.codes(statistics.items, way) for way in range(len(self.names))]
        for size in blocks(resamples, len(statistics.items), progress=progress):
            times = np.ones((size, len(statistics.items)))
            for names, codes in ways:
                times *= rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=size)[:, codes]
            yield times

    def count(self, items: Sequence[str]) -> int:
        """How many clusters there are; of two kinds, of the rarer one."""
        return min(len(self.codes(items, way)[0]) for way in range(len(self.names)))

    def described(self, items: Sequence[str]) -> str:
        """As in “worker_id (25 clusters) and passage_id (770 clusters)”."""
        counts = [len(self.codes(items, way)[0]) for way in range(len(self.names))]
        parts = zip(self.names, counts, strict=True)
        return " and ".join(f"{name} ({plural(count, 'cluster', 'clusters')})" for name, count in parts)

    def note(self, items: Sequence[str], *, about: str = "") -> str:
        """What was resampled, and whether that is little."""
        few = self.count(items) < FEW
        warning = f" Fewer than {FEW} clusters are few: intervals are wide, and p-values can't be small." if few else ""
        return f"{about}{'r' if about else 'R'}esampled by {self.described(items)}, not item by item.{warning}"
