"""Agreement on annotations, over all pairs of workers with common units.

    P_a(i|j) = Σ_u UQS(u)·v_i(a)·v_j(a) / Σ_u UQS(u)·v_j(a)      over the units both judged
    AQS(a) = Σ_ij WQS_i·WQS_j·P_a(i|j) / Σ_ij WQS_i·WQS_j        over ordered pairs whose P_a is defined

Shared units do not change between iterations. They are laid out once, sorted by annotation and pair, so that an
iteration takes two passes. For dense data, the same sums are computed as matrix products.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chorale.metrics.aggregation.crowdtruth.agreement import TINY
from chorale.metrics.aggregation.crowdtruth.vectors import Index, Values, Vectors

AnnotationQuality = Callable[[Values, Values], Values]
"""AQS from UQS and WQS."""

_BLOCK = 2**18
"""Block size of encounters and matrices, chosen to fit the processor's cache."""
_KEPT = 2**26
"""Maximum number of encounters kept in memory. Beyond it, blocks are rebuilt in every iteration."""
_MATRIX_IS_CHEAPER = 100
"""Number of multiplications that cost as much as one encounter."""
_MOST_IN_A_MATRIX = 4000


def annotation_quality(vectors: Vectors) -> AnnotationQuality:
    """Prepares the function that every iteration calls."""
    shared = np.diff(vectors.first)[vectors.unit[vectors.judgment]]
    encounters = int(shared.sum())
    workers = len(vectors.workers)
    products = len(vectors.units) * workers**2 * len(vectors.annotations)
    if workers <= _MOST_IN_A_MATRIX and products < _MATRIX_IS_CHEAPER * encounters:
        sayings = _Sayings(vectors)
        return lambda uqs, wqs: _by_matrices(vectors, sayings, uqs, wqs)
    order = np.lexsort((vectors.worker[vectors.judgment], vectors.annotation))
    parts = _parts(vectors, order, shared[order])
    sayings = _Sayings(vectors)
    if encounters > _KEPT:
        return lambda uqs, wqs: _by_pairs(vectors, (_block(vectors, part, sayings) for part in parts), uqs, wqs)
    blocks = [_block(vectors, part, sayings) for part in parts]
    return lambda uqs, wqs: _by_pairs(vectors, iter(blocks), uqs, wqs)


class _Sayings:
    """v(a) of every judgment, one annotation at a time."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._order = np.argsort(vectors.annotation, kind="stable")
        self._edges = np.searchsorted(vectors.annotation[self._order], np.arange(len(vectors.annotations) + 1))
        self._table = np.zeros(len(vectors.unit))
        self._filled = self._order[:0]
        self._annotation = -1

    def of(self, annotation: int) -> Values:
        if annotation != self._annotation:
            self._table[self._filled] = 0.0
            entries = self.entries(annotation)
            self._filled = self._vectors.judgment[entries]
            self._table[self._filled] = self._vectors.value[entries]
            self._annotation = annotation
        return self._table

    def entries(self, annotation: int) -> Index:
        return self._order[self._edges[annotation] : self._edges[annotation + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class _Encounters:
    """Encounters: a worker j who chose an annotation in a unit, and another worker i of that unit.

    They are sorted by annotation, j and i; encounters that are equal in all three form one pair.
    """

    unit: NDArray[np.int32]
    """Unit of each encounter."""
    chosen: NDArray[np.float32] | None
    """v_j(a) of each encounter; None if always 1."""
    both: NDArray[np.float32] | NDArray[np.bool_]
    """v_i(a)·v_j(a) of each encounter."""
    start: Index
    """First encounter of each pair."""
    i: NDArray[np.int32]
    """Worker i of each pair."""
    j: NDArray[np.int32]
    annotations: Index
    """Annotations of the block."""
    first: Index
    """First pair of each annotation."""


def _parts(vectors: Vectors, order: Index, shared: Index) -> list[Index]:
    """Splits the entries into blocks at the boundaries between workers and annotations."""
    annotation, worker = vectors.annotation[order], vectors.worker[vectors.judgment[order]]
    edge = np.flatnonzero((annotation[1:] != annotation[:-1]) | (worker[1:] != worker[:-1])) + 1
    edges = np.r_[edge, len(order)]
    reached = np.cumsum(shared)[edges - 1]
    cuts = [0]
    while cuts[-1] < len(order):
        done = reached[np.searchsorted(edges, cuts[-1])] if cuts[-1] else 0
        within = np.searchsorted(reached, done + _BLOCK, side="right") - 1
        cuts.append(int(max(edges[within], edges[np.searchsorted(edges, cuts[-1], side="right")])))
    return [order[low:high] for low, high in pairwise(cuts)]


def _block(vectors: Vectors, entries: Index, sayings: _Sayings) -> _Encounters:
    own = vectors.judgment[entries]
    unit = vectors.unit[own]
    many = vectors.first[unit + 1] - vectors.first[unit]
    row = np.repeat(np.arange(len(entries)), many)
    other = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + vectors.first[unit][row]
    apart = other != own[row]
    row, other = row[apart], other[apart]
    # The entries are sorted by annotation and worker, so their rank is a short key.
    annotation, worker = vectors.annotation[entries], vectors.worker[own]
    chosen_by_other = np.empty(len(row))
    for low, high in pairwise(np.flatnonzero(np.r_[True, annotation[1:] != annotation[:-1], True]).tolist()):
        here = slice(*np.searchsorted(row, [low, high]))
        chosen_by_other[here] = sayings.of(int(annotation[low]))[other[here]]
    rank = np.cumsum(np.r_[True, (annotation[1:] != annotation[:-1]) | (worker[1:] != worker[:-1])]) - 1
    key = rank[row] * len(vectors.workers) + vectors.worker[other]
    order = np.argsort(key, kind="stable")
    key, row, other, chosen_by_other = key[order], row[order], other[order], chosen_by_other[order]
    start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    of_pair = annotation[row[start]]
    first = np.flatnonzero(np.r_[True, of_pair[1:] != of_pair[:-1]])
    plain = bool((vectors.value == 1.0).all())
    mine = vectors.value[entries][row]
    return _Encounters(
        unit=unit[row].astype(np.int32),
        chosen=None if plain else mine.astype(np.float32),
        both=chosen_by_other > 0 if plain else (chosen_by_other * mine).astype(np.float32),
        start=start,
        i=vectors.worker[other[start]].astype(np.int32),
        j=worker[row[start]].astype(np.int32),
        annotations=annotation[row[start[first]]],
        first=first,
    )


def _by_pairs(vectors: Vectors, blocks: Iterator[_Encounters], uqs: Values, wqs: Values) -> Values:
    part, whole = np.zeros(len(vectors.annotations)), np.zeros(len(vectors.annotations))
    for block in blocks:
        met = uqs[block.unit]
        chosen = np.add.reduceat(met if block.chosen is None else met * block.chosen, block.start)
        both = np.add.reduceat(
            np.where(block.both, met, 0.0) if block.chosen is None else met * block.both, block.start
        )
        weight = wqs[block.i] * wqs[block.j]
        undefined = chosen <= 0
        if undefined.any():
            weight[undefined], chosen[undefined] = 0.0, 1.0
        part[block.annotations] += np.add.reduceat(weight * both / chosen, block.first)
        whole[block.annotations] += np.add.reduceat(weight, block.first)
    return _quality(part, whole)


def _by_matrices(vectors: Vectors, sayings: _Sayings, uqs: Values, wqs: Values) -> Values:
    """AQS as products of units × workers matrices, one annotation at a time."""
    part, whole = np.zeros(len(vectors.annotations)), np.zeros(len(vectors.annotations))
    weight = np.outer(wqs, wqs)
    np.fill_diagonal(weight, 0.0)
    for annotation in range(len(part)):
        if not len(sayings.entries(annotation)):
            continue
        both, chosen = _met(vectors, sayings.of(annotation), uqs)
        counted = np.where(chosen > 0, weight, 0.0)
        agreed = np.divide(both, chosen, out=np.zeros_like(both), where=chosen > 0)
        part[annotation], whole[annotation] = (counted * agreed).sum(), counted.sum()
    return _quality(part, whole)


def _met(vectors: Vectors, chosen_values: Values, uqs: Values) -> tuple[Values, Values]:
    """Σ_u UQS·v_i·v_j and Σ_u UQS·v_j over common units, worker i × worker j."""
    workers = len(vectors.workers)
    both, chosen = np.zeros((workers, workers)), np.zeros((workers, workers))
    step = max(1, _BLOCK // workers)
    for low in range(0, len(vectors.units), step):
        high = min(low + step, len(vectors.units))
        judged = slice(vectors.first[low], vectors.first[high])
        place = (vectors.unit[judged] - low, vectors.worker[judged])
        there, choice = np.zeros((high - low, workers)), np.zeros((high - low, workers))
        there[place] = uqs[vectors.unit[judged]]
        choice[place] = chosen_values[judged]
        chosen += there.T @ choice
        both += (choice * there).T @ choice
    return both, chosen


def _quality(part: Values, whole: Values) -> Values:
    """The quotient, but at least 1e-8, because a vector must keep its direction."""
    share = np.divide(part, whole, out=np.zeros(len(part)), where=whole > TINY)
    return np.maximum(share, TINY)
