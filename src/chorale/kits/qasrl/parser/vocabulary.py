"""Numbers the words and features that are frequent enough in training."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chorale.kits.qasrl.parser.encoding import Codes

UNSEEN = 0


@dataclass(frozen=True, slots=True, eq=False)
class HashedVocabulary:
    """Sorted hashes. The first has number 1; 0 stands for unknown hashes."""

    hashes: Codes

    @classmethod
    def of(cls, seen: Iterable[Codes], at_least: int) -> "HashedVocabulary":
        hashes, counts = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *seen]), return_counts=True)
        return cls(hashes[counts >= at_least])

    def __len__(self) -> int:
        return len(self.hashes) + 1

    def numbers(self, hashes: Codes) -> Codes:
        """
        >>> HashedVocabulary(np.array([3, 8])).numbers(np.array([8, 4, 3]))
        array([2, 0, 1])
        """
        if not len(self.hashes):
            return np.zeros_like(hashes)
        places = np.searchsorted(self.hashes, hashes)
        known = self.hashes[np.minimum(places, len(self.hashes) - 1)] == hashes
        return np.where(known, places + 1, UNSEEN)
