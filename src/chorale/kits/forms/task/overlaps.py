"""Overlap of regions, and matching of regions between answers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Region = Mapping[str, Any]
Overlap = Callable[[Region, Region], float]
_LINES = 256
"""Number of scan lines for the overlap of polygons."""
SAME_PLACE = 0.5
"""Minimum overlap of two regions that count as the same."""


def box_overlap(left: Region, right: Region) -> float:
    """Intersection over union of two boxes.

    >>> box = {"x": 0.0, "y": 0.0, "width": 0.5, "height": 0.5}
    >>> round(box_overlap(box, {**box, "x": 0.25}), 3)
    0.333
    """
    wide = min(left["x"] + left["width"], right["x"] + right["width"]) - max(left["x"], right["x"])
    high = min(left["y"] + left["height"], right["y"] + right["height"]) - max(left["y"], right["y"])
    shared = max(0.0, wide) * max(0.0, high)
    return _over_union(shared, left["width"] * left["height"], right["width"] * right["height"])


def segment_overlap(left: Region, right: Region) -> float:
    """Intersection over union of two time intervals."""
    shared = max(0.0, min(left["end"], right["end"]) - max(left["start"], right["start"]))
    return _over_union(shared, left["end"] - left["start"], right["end"] - right["start"])


def polygon_overlap(left: Region, right: Region) -> float:
    """Intersection over union of two polygons along many scan lines: exact horizontally, sampled vertically."""
    heights = [y for shape in (left, right) for _, y in shape["points"]]
    low, high = min(heights), max(heights)
    shared = first = second = 0.0
    for line in range(_LINES):
        y = low + (high - low) * (line + 0.5) / _LINES
        left_parts, right_parts = _crossed(left["points"], y), _crossed(right["points"], y)
        first += sum(end - start for start, end in left_parts)
        second += sum(end - start for start, end in right_parts)
        shared += sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in left_parts for b in right_parts)
    return _over_union(shared, first, second)


def _crossed(points: Sequence[Sequence[float]], y: float) -> list[tuple[float, float]]:
    """The intervals of a scan line inside a polygon."""
    across = []
    for (x, top), (to_x, bottom) in pairwise([*points, points[0]]):
        if (top <= y) != (bottom <= y):
            across.append(x + (y - top) * (to_x - x) / (bottom - top))
    across.sort()
    return list(zip(across[::2], across[1::2], strict=True))


def _over_union(shared: float, left: float, right: float) -> float:
    union = left + right - shared
    return min(1.0, shared / union) if union > 0 else 0.0


def alike(left: Sequence[Region], right: Sequence[Region], overlap: Overlap) -> float:
    """F1 weighted by overlap: twice the overlap of matched regions, divided by the number of all regions.

    Regions with the same label are matched by largest overlap. Two empty answers are equal.
    """
    if not left and not right:
        return 1.0
    pairs = sorted(
        (-overlap(one, other), sorted((_key(one), _key(other))), first, second)
        for first, one in enumerate(left)
        for second, other in enumerate(right)
        if one.get("label") == other.get("label")
    )
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    total = 0.0
    for negative, _, first, second in pairs:
        if negative < 0 and first not in taken_left and second not in taken_right:
            taken_left.add(first)
            taken_right.add(second)
            total -= negative
    return 2 * total / (len(left) + len(right))


def clusters(votes: Sequence[tuple[Sequence[Region], float]], overlap: Overlap) -> list[list[tuple[Region, float]]]:
    """Clusters of matching regions, each region with its weight. A cluster has at most one region per person."""
    grouped: list[list[tuple[int, Region, float]]] = []
    for person, (regions, trust) in enumerate(votes):
        for region in sorted(regions, key=_key):
            fits = [
                (sum(overlap(region, other) for _, other, _ in cluster) / len(cluster), -number)
                for number, cluster in enumerate(grouped)
                if cluster[0][1].get("label") == region.get("label") and all(who != person for who, _, _ in cluster)
            ]
            best = max(fits, default=(0.0, 0))
            if best[0] >= SAME_PLACE:
                grouped[-best[1]].append((person, region, trust))
            else:
                grouped.append([(person, region, trust)])
    return [[(region, trust) for _, region, trust in cluster] for cluster in grouped]


def _key(region: Region) -> str:
    return repr(sorted(region.items()))
