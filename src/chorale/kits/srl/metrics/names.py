"""Counts per role, part of speech or frame, with the sentences they come from."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import Counts, FloatArray, Tally

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Names:
    """Correct names, predicted names and gold names, sentence by sentence."""

    right: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    _ends: list[tuple[int, int, int]] = field(default_factory=list)
    """Lengths of the three lists after each sentence."""

    def close_sentence(self) -> None:
        self._ends.append((len(self.right), len(self.returned), len(self.wanted)))

    def counts(self) -> dict[str, Counts]:
        right, returned, wanted = Counter(self.right), Counter(self.returned), Counter(self.wanted)
        return {
            name: Counts(right[name], returned[name] - right[name], wanted[name] - right[name])
            for name in sorted(returned.keys() | wanted.keys())
        }

    def tallies(self) -> dict[str, Tally]:
        """True positives, false positives and false negatives of each name over all sentences."""
        counted = _by_name(self)
        return {name: Tally.of(rows, absent=len(self._ends) - len(rows)) for name, (_, rows) in counted.items()}

    def tallies_beside(self, other: "Names") -> dict[str, Tally]:
        """Statistics of two systems on the same sentences: three counts of the first, then three of the second."""
        if len(self._ends) != len(other._ends):
            raise ValueError("both systems must be scored on the same sentences")
        ours, theirs = _by_name(self), _by_name(other)
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 3))
        tallies = {}
        for name in sorted(ours.keys() | theirs.keys()):
            sides = ours.get(name, nothing), theirs.get(name, nothing)
            places = np.union1d(sides[0][0], sides[1][0])
            rows = np.zeros((len(places), 6))
            for shift, (at, counts) in zip((0, 3), sides, strict=True):
                rows[np.searchsorted(places, at), shift : shift + 3] = counts
            tallies[name] = Tally.of(rows, absent=len(self._ends) - len(places))
        return tallies


def _by_name(names: Names) -> dict[str, tuple[Places, FloatArray]]:
    """The sentences of each name, with its three counts in each."""
    known = sorted({*names.returned, *names.wanted})
    code = {name: place for place, name in enumerate(known)}
    ends = np.asarray(names._ends, dtype=np.int64).reshape(-1, 3)
    sentences = len(ends)
    keys = []
    for column, listed in enumerate((names.right, names.returned, names.wanted)):
        sentence = np.repeat(np.arange(sentences), np.diff(ends[:, column], prepend=0))
        coded = np.fromiter((code[name] for name in listed), dtype=np.int64, count=len(listed))
        keys.append(coded * sentences + sentence)
    cells = np.unique(np.concatenate(keys[1:]))
    right, returned, wanted = (
        np.bincount(np.searchsorted(cells, each), minlength=len(cells)).astype(np.float64) for each in keys
    )
    rows = np.column_stack([right, returned - right, wanted - right])
    edges = np.searchsorted(cells, np.arange(len(known) + 1) * sentences)
    return {
        name: (cells[edges[place] : edges[place + 1]] % sentences, rows[edges[place] : edges[place + 1]])
        for place, name in enumerate(known)
    }
