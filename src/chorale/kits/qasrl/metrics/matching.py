"""Matches the spans of two annotations that are the same argument, for all verbs at once.

Edges are computed with arrays. Nearly all components are single edges or stars around one span, which arrays also
solve. The rest goes through the exact solver.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.files import Integers
from chorale.kits.qasrl.metrics.assignment import SpanEdge, best_matching
from chorale.metrics import FloatArray

_AT_ONCE = 2**21
"""Number of span pairs processed at once."""


class VerbSpans(NamedTuple):
    """Distinct spans, in the order of verb, first and last token."""

    verb: Integers
    start: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.verb)

    def taken(self, kept: NDArray[np.bool_]) -> "VerbSpans":
        return VerbSpans(self.verb[kept], self.start[kept], self.end[kept])


class Edges(NamedTuple):
    """Pairs of spans with enough tokens in common."""

    system: Integers
    gold: Integers
    joint: Integers
    union: Integers

    @property
    def iou(self) -> FloatArray:
        return self.joint / self.union

    def taken(self, places: Integers) -> "Edges":
        return Edges(*(column[places] for column in self))


def distinct_spans(verb: Integers, start: Integers, end: Integers) -> tuple[VerbSpans, Integers]:
    """The distinct spans of each verb, and the number of every input span among them."""
    width = int(end.max(initial=0)) + 1
    keys, numbers = np.unique((verb * width + start) * width + end, return_inverse=True)
    rest, last = np.divmod(keys, width)
    of_verb, first = np.divmod(rest, width)
    return VerbSpans(of_verb, first, last), numbers.astype(np.int64)


def distinct(numbers: Integers) -> Integers:
    """Sorted distinct numbers. Sorting takes a third of the time of `np.unique`."""
    ordered = np.sort(numbers)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def iou(left: tuple[int, int], right: tuple[int, int]) -> float:
    """Intersection over union of two spans.

    >>> iou((0, 4), (2, 4))
    0.5
    """
    joint = max(0, min(left[1], right[1]) - max(left[0], right[0]))
    return joint / (left[1] - left[0] + right[1] - right[0] - joint)


def find_edges(system: VerbSpans, gold: VerbSpans, threshold: float) -> Edges:
    """Every pair of a verb's spans with an IOU of at least the threshold (0: any token in common)."""
    edges = [Edges(*(np.zeros(0, dtype=np.int64) for _ in range(4)))]
    for left, right in _pairs(system, gold):
        joint = np.minimum(system.end[left], gold.end[right]) - np.maximum(system.start[left], gold.start[right])
        lengths = system.end[left] - system.start[left] + gold.end[right] - gold.start[right]
        kept = joint > 0
        kept[kept] = joint[kept] / (lengths - joint)[kept] >= threshold
        edges.append(Edges(left[kept], right[kept], joint[kept], (lengths - joint)[kept]))
    return Edges(*(np.concatenate(columns) for columns in zip(*edges, strict=True)))


def _pairs(system: VerbSpans, gold: VerbSpans) -> Iterator[tuple[Integers, Integers]]:
    """All pairs of spans of the same verb, in blocks."""
    first = np.searchsorted(gold.verb, system.verb, "left")
    count = np.searchsorted(gold.verb, system.verb, "right") - first
    before = np.cumsum(count) - count
    blocks = before // _AT_ONCE
    for block in range(int(blocks[-1]) + 1 if len(blocks) else 0):
        low, high = np.searchsorted(blocks, [block, block + 1])
        spans = np.arange(low, high)
        left = np.repeat(spans, count[low:high])
        right = np.arange(len(left)) - np.repeat(before[low:high] - before[low], count[low:high]) + first[left]
        yield left, right


def match(edges: Edges, systems: int, golds: int) -> Integers:
    """Indices into `edges` of the best matching, in the order of gold spans."""
    of_system = np.bincount(edges.system, minlength=systems)
    of_gold = np.bincount(edges.gold, minlength=golds)
    # An edge is a ray of a star if its other end has no further edges.
    hangs_from_gold = of_system[edges.system] == 1
    hangs_from_system = of_gold[edges.gold] == 1
    around_gold = ~_any(edges.gold, ~hangs_from_gold, golds)[edges.gold]
    around_system = ~_any(edges.system, ~hangs_from_system, systems)[edges.system] & ~around_gold
    chosen = [
        _best_of_each(edges, around_gold, edges.gold, edges.system),
        _best_of_each(edges, around_system, edges.system, edges.gold),
    ]
    rest = np.flatnonzero(~around_gold & ~around_system)
    if len(rest):
        columns = (edges.gold, edges.system, edges.joint, edges.union)
        listed = [SpanEdge(*row) for row in zip(*(column[rest].tolist() for column in columns), strict=True)]
        number = {(edge.gold, edge.system): int(place) for edge, place in zip(listed, rest.tolist(), strict=True)}
        chosen.append(np.array([number[pair] for pair in best_matching(listed)], dtype=np.int64))
    together = np.concatenate(chosen)
    return together[np.argsort(edges.gold[together], kind="stable")]


def _any(group: Integers, flags: NDArray[np.bool_], groups: int) -> NDArray[np.bool_]:
    """For each group, whether any of its members is flagged."""
    return np.bincount(group[flags], minlength=groups) > 0


def _best_of_each(edges: Edges, among: NDArray[np.bool_], centre: Integers, end: Integers) -> Integers:
    """The edge with the largest IOU of every star; for ties, the first in span order."""
    places = np.flatnonzero(among)
    order = places[np.lexsort((end[places], -edges.iou[places], centre[places]))]
    centres = centre[order]
    return order[np.r_[True, centres[1:] != centres[:-1]]] if len(order) else order


def linked(spans: VerbSpans, threshold: float) -> Integers:
    """Connected components of overlapping spans: the number of the first span of each span's component."""
    edges = find_edges(spans, spans, threshold)
    apart = edges.system != edges.gold
    left, right = edges.system[apart], edges.gold[apart]
    first = np.arange(len(spans), dtype=np.int64)
    while True:
        lower = first.copy()
        np.minimum.at(lower, left, first[right])
        lower = lower[lower]
        if np.array_equal(lower, first):
            return first
        first = lower
