"""Statistics of many items, of which few are different: each different row once, and how often it occurs."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from chorale.metrics.statistics import FloatArray


@dataclass(frozen=True, slots=True)
class Tally:
    """The different rows, sorted, and how many items have each.

    Statistics are mostly small counts, so there are few: drawing how often each is taken is the same as drawing items,
    and costs no more for a million of them.
    """

    rows: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, *, absent: int = 0) -> Self:
        """Of one row per item, and of so many items more whose statistics are all 0.

        >>> Tally.of(np.array([[1.0, 0.0], [1.0, 0.0]]), absent=3).counts.tolist()
        [3.0, 2.0]
        """
        given = np.vstack([rows, np.zeros((1, rows.shape[1]))]) if absent else rows
        distinct, place, counts = np.unique(given, axis=0, return_inverse=True, return_counts=True)
        many = counts.astype(np.float64)
        if absent:
            many[place.reshape(-1)[-1]] += absent - 1
        return cls(distinct, many)

    def sums(self) -> FloatArray:
        return np.asarray(self.counts @ self.rows)
