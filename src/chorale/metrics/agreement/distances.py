"""Distances between labels, for Krippendorff's α: between sets, spans, and sets of spans.

A distance is symmetric and between 0 (equal) and 1 (nothing in common). α uses it without squaring.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.agreement.scales import UnfitLabelError
from chorale.metrics.judgments import NOTHING, Judgments

Labels = Sequence[frozenset[str]]
Distance = Callable[[frozenset[str], frozenset[str]], float]
"""A custom function of two labels as sets of options; a single label is a set of one."""

MOST_LABELS = 5_000
"""Maximum number of labels, because a table of all distances must fit into memory."""
_SPAN = re.compile(r"\s*(\d{1,9})\s*:\s*(\d{1,9})\s*(?::(.*))?", re.DOTALL)
_SAME_SPAN = 0.5


def labels_as_sets(judgments: Judgments) -> list[frozenset[str]]:
    if judgments.sets is None:
        return [frozenset([name]) for name in judgments.label_names]
    return [frozenset(judgments.options[code] for code in chosen) for chosen in judgments.sets]


def jaccard(labels: Labels) -> FloatArray:
    """1 − |A ∩ B| / |A ∪ B|, for all pairs of labels."""
    shared, union = _shared_and_union(*_options(labels))
    return 1 - shared / union


def masi(labels: Labels) -> FloatArray:
    """1 − M · |A ∩ B| / |A ∪ B| (Passonneau 2006).

    M is 1 if the sets are equal, 2/3 if one contains the other, 1/3 if they only overlap, 0 if they share nothing.
    """
    shared, union = _shared_and_union(*_options(labels))
    sizes = np.diag(shared)
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    monotone = np.select([shared == union, shared == smaller, shared > 0], [1.0, 2 / 3, 1 / 3], 0.0)
    return 1 - monotone * shared / union


def span(labels: Labels) -> FloatArray:
    """1 − (tokens in both) / (tokens in either). Spans are `start:end`, end exclusive.

    A label of several spans is the set of all their tokens.
    """
    spans = _spans(labels)
    edges = np.array(sorted({edge for each in spans for pair in each for edge in pair}), dtype=np.float64)
    lengths = np.diff(edges)
    members = np.zeros((len(spans), len(lengths)))
    for row, each in enumerate(spans):
        for start, end in each:
            members[row, (edges[:-1] >= start) & (edges[1:] <= end)] = 1
    shared, union = _shared_and_union(members, lengths)
    # Two empty annotations agree.
    return 1 - np.divide(shared, union, out=np.ones_like(shared), where=union > 0)


def ua_f1(labels: Labels) -> FloatArray:
    """1 − F1 of the arguments of one label against the other, as in QA-SRL's unlabelled argument detection.

    Two spans match if their intersection over union is at least one half. Each span matches at most one other, in a
    maximum matching.
    """
    spans = [sorted(each) for each in _spans(labels)]
    table = np.zeros((len(spans), len(spans)))
    for row, arguments in enumerate(spans):
        for column in range(row):
            other = spans[column]
            marked = len(arguments) + len(other)
            table[row, column] = 1 - 2 * _most_matches(arguments, other) / marked if marked else 0.0
    return table + table.T


DISTANCES: Mapping[str, Callable[[Labels], FloatArray]] = {
    "jaccard": jaccard,
    "masi": masi,
    "span": span,
    "ua-f1": ua_f1,
}
"""Functions from all labels to the table of their distances, by name."""
SPAN_DISTANCES = ("span", "ua-f1")
"""Distances for which an empty annotation is also a label."""


def distances_between(labels: Labels, distance: str | Distance) -> FloatArray:
    """The table of distances between all labels."""
    if len(labels) > MOST_LABELS:
        raise ValueError(f"a distance supports at most {MOST_LABELS:,} different labels, but there are {len(labels):,}")
    if isinstance(distance, str):
        if distance not in DISTANCES:
            raise ValueError(f"unknown distance {distance!r}. Use one of {', '.join(DISTANCES)}")
        return DISTANCES[distance](labels)
    table = np.zeros((len(labels), len(labels)))
    for row, label in enumerate(labels):
        for column in range(row):
            table[row, column] = distance(label, labels[column])
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("a distance must be a finite, non-negative number")
    return table + table.T


def _options(labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Indicator matrix of labels and options, with equal weights of options."""
    options = {option: place for place, option in enumerate(sorted(frozenset().union(*labels)))}
    members = np.zeros((len(labels), len(options)))
    for row, label in enumerate(labels):
        members[row, [options[option] for option in label]] = 1
    return members, np.ones(len(options))


def _shared_and_union(members: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    shared = (members * weights) @ members.T
    sizes = np.diag(shared)
    return shared, sizes[:, None] + sizes[None, :] - shared


def _spans(labels: Labels) -> list[set[tuple[int, int]]]:
    return [set() if label == {NOTHING} else {labelled_span(text)[:2] for text in label} for label in labels]


def labelled_span(text: str) -> tuple[int, int, str]:
    """Start, end and category (if any) of a span.

    >>> labelled_span("3:5"), labelled_span("3:5:PER")
    ((3, 5, ''), (3, 5, 'PER'))
    """
    match = _SPAN.fullmatch(text)
    fix = (
        "Write spans as start:end in tokens, end exclusive: 3:5, or 3:5:PER with a category. For several spans per "
        "cell, set --sep (json for JSON lists)."
    )
    if match is None:
        raise UnfitLabelError("a label is not a span", text, fix)
    start, end = int(match[1]), int(match[2])
    if start >= end:
        raise UnfitLabelError("a span ends before it starts", text, fix)
    return start, end, (match[3] or "").strip()


def _most_matches(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> int:
    """Size of a maximum matching between the spans of both sides (augmenting paths)."""
    edges = [[place for place, there in enumerate(right) if _overlap(here, there) >= _SAME_SPAN] for here in left]
    taken: dict[int, int] = {}

    def finds_a_partner(here: int, tried: set[int]) -> bool:
        for there in edges[here]:
            if there not in tried:
                tried.add(there)
                if there not in taken or finds_a_partner(taken[there], tried):
                    taken[there] = here
                    return True
        return False

    return sum(finds_a_partner(here, set()) for here in range(len(left)))


def _overlap(left: tuple[int, int], right: tuple[int, int]) -> float:
    shared = min(left[1], right[1]) - max(left[0], right[0])
    return shared / (left[1] - left[0] + right[1] - right[0] - shared) if shared > 0 else 0.0
