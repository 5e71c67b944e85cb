"""Agreement between the workers of a unit, and between a worker and the others.

The weighted cosine of two vectors is the dot product of the scaled vectors. So the sum of a worker's cosines with the
others is a single dot product with the sum of the others' scaled vectors. No pairs are formed.

    Σ_o cos(v_w, v_o)·WQS_o = n_w · (Σ_i WQS_i·n_i − WQS_w·n_w),   n(a) = √q(a)·v(a) / √(Σ q·v²)
"""

from dataclasses import dataclass

import numpy as np

from chorale.metrics.aggregation.crowdtruth.vectors import Index, Values, Vectors, summed

TINY = 1e-8
"""Minimum denominator, and the quality of an annotation without agreement."""

_DIGITS_LOST = 1e-8
"""A difference smaller than this fraction of its operands has few significant digits."""

_AT_ONCE = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class Qualities:
    """The three interdependent qualities, and the components of worker quality."""

    uqs: Values
    wqs: Values
    aqs: Values
    wwa: Values
    wua: Values


def ones(vectors: Vectors) -> Qualities:
    """Initial value of all qualities."""
    per_worker = np.ones(len(vectors.workers))
    return Qualities(np.ones(len(vectors.units)), per_worker, np.ones(len(vectors.annotations)), per_worker, per_worker)


def agreements(vectors: Vectors, before: Qualities) -> tuple[Values, Values, Values]:
    """New UQS, WWA and WUA from the previous qualities."""
    weight = before.wqs[vectors.worker]
    agreed, of_others, cosine = with_others(vectors, before)
    uqs = _over(vectors.by_unit(weight * agreed) / 2, vectors.by_unit(weight * of_others) / 2)
    of_unit = before.uqs[vectors.unit]
    wwa = _over(vectors.by_worker(of_unit * agreed), vectors.by_worker(of_unit * of_others))
    wua = _over(vectors.by_worker(of_unit * cosine), vectors.by_worker(of_unit))
    return uqs, wwa, wua


def with_others(vectors: Vectors, before: Qualities) -> tuple[Values, Values, Values]:
    """For every judgment: Σ_o cos(v_w, v_o)·WQS_o over the unit's other workers, Σ_o WQS_o, and its cosine with the sum
    of the others.
    """
    quality = before.aqs[vectors.annotation]
    weight = before.wqs[vectors.worker]
    squared = vectors.by_judgment(quality * vectors.value**2)
    scaled = np.sqrt(quality) * vectors.value / np.sqrt(squared)[vectors.judgment]
    agreed = vectors.by_judgment(scaled * _others(vectors, scaled * weight[vectors.judgment]))
    of_others = vectors.by_unit(weight)[vectors.unit] - weight
    return agreed, of_others, _cosine_with_rest(vectors, quality, weight, weight**2 * squared, before.aqs)


def annotation_scores(vectors: Vectors, wqs: Values) -> Values:
    """UAS of every cell: the fraction of the unit's workers, weighted by quality, who chose the annotation."""
    weight = wqs[vectors.worker]
    chosen = vectors.by_cell(vectors.value * weight[vectors.judgment])
    return _over(chosen, vectors.by_unit(weight)[vectors.cell_unit])


def _others(vectors: Vectors, of_entries: Values) -> Values:
    """For every entry, the sum of the same annotation over the unit's other workers."""
    return np.maximum(vectors.by_cell(of_entries)[vectors.cell] - of_entries, 0.0)


def _cosine_with_rest(vectors: Vectors, quality: Values, weight: Values, own: Values, aqs: Values) -> Values:
    """Cosine of every judgment with the weighted sum of the unit's other judgments; 1e-8 if undefined."""
    mine = vectors.value * weight[vectors.judgment]
    rest = _others(vectors, mine)
    product = vectors.by_judgment(quality * mine * rest)
    squares = aqs[vectors.cell_annotation] * vectors.by_cell(mine) ** 2
    inside = vectors.by_judgment(quality * rest**2)
    length = np.sqrt(own * (inside + _outside(vectors, squares)))
    cosine = np.full(len(product), TINY)
    np.divide(product, length, out=cosine, where=length >= TINY)
    return cosine


def _outside(vectors: Vectors, squares: Values) -> Values:
    """For every judgment, the sum of squares of its unit's cells that it did not choose."""
    total = summed(vectors.cell_unit, squares, len(vectors.units))[vectors.unit]
    left = np.maximum(total - vectors.by_judgment(squares[vectors.cell]), 0.0)
    blurred = np.flatnonzero(left <= _DIGITS_LOST * total)
    cells = np.searchsorted(vectors.cell_unit, np.arange(len(vectors.units) + 1))
    many = np.diff(cells)
    chosen = np.bincount(vectors.judgment, minlength=len(vectors.unit))
    everything = chosen[blurred] == many[vectors.unit[blurred]]
    left[blurred[everything]] = 0.0
    blurred = blurred[~everything]
    for start in range(0, len(blurred), _rows_at_once(many)):
        some = blurred[start : start + _rows_at_once(many)]
        left[some] = _added_up(vectors, squares, some, cells)
    return left


def _rows_at_once(many: Index) -> int:
    return max(1, _AT_ONCE // int(many.max()))


def _added_up(vectors: Vectors, squares: Values, judgments: Index, cells: Index) -> Values:
    """The sum of squares computed cell by cell, without a difference, for the few judgments that need the precision."""
    width = int((cells[vectors.unit[judgments] + 1] - cells[vectors.unit[judgments]]).max())
    place = cells[vectors.unit[judgments]][:, None] + np.arange(width)
    inside_unit = place < cells[vectors.unit[judgments] + 1][:, None]
    table = np.where(inside_unit, squares[np.minimum(place, len(squares) - 1)], 0.0)
    begin = np.searchsorted(vectors.judgment, judgments)
    end = np.searchsorted(vectors.judgment, judgments, side="right")
    row = np.repeat(np.arange(len(judgments)), end - begin)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin) + begin[row]
    table[row, vectors.cell[entry] - cells[vectors.unit[judgments]][row]] = 0.0
    return np.asarray(table.sum(axis=1))


def _over(part: Values, whole: Values) -> Values:
    """A fraction with a denominator of at least 1e-8."""
    return part / np.maximum(whole, TINY)
