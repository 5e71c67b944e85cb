"""Exact optimal one-to-one matching of a few spans.

The best matching has the most pairs, then the largest sum of IOU (as exact fractions), then the first pairs in the
order of gold and system spans. It is unique, so the result does not depend on input order.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import lcm
from typing import NamedTuple


class SpanEdge(NamedTuple):
    """Two spans that may be matched, as their positions in span order."""

    gold: int
    system: int
    joint: int
    """Tokens in both."""
    union: int
    """Tokens in either."""


def best_matching(edges: Iterable[SpanEdge]) -> list[tuple[int, int]]:
    """The best matching, as pairs of gold and system.

    >>> best_matching([SpanEdge(0, 0, 3, 4), SpanEdge(0, 1, 1, 2), SpanEdge(1, 0, 1, 2)])
    [(0, 1), (1, 0)]
    """
    return sorted(pair for component in components(edges) for pair in _best(component))


def components(edges: Iterable[SpanEdge]) -> Iterator[list[SpanEdge]]:
    """Connected components of the edges, each sorted."""
    listed = sorted(edges)
    of_gold: dict[int, list[SpanEdge]] = {}
    of_system: dict[int, list[SpanEdge]] = {}
    for edge in listed:
        of_gold.setdefault(edge.gold, []).append(edge)
        of_system.setdefault(edge.system, []).append(edge)
    seen: set[int] = set()
    for first in of_gold:
        if first in seen:
            continue
        seen.add(first)
        left, component = [first], []
        while left:
            for edge in of_gold[left.pop()]:
                component.append(edge)
                for other in of_system[edge.system]:
                    if other.gold not in seen:
                        seen.add(other.gold)
                        left.append(other.gold)
        yield sorted(component)


def _best(edges: Sequence[SpanEdge]) -> list[tuple[int, int]]:
    """The best matching of one component with sorted edges.

    The three criteria become one integer per edge. A pair outweighs the sum of all IOUs, IOUs are scaled to a common
    denominator, and the lowest bits encode the order, where the first edge outweighs all later ones.
    """
    golds = {number: place for place, number in enumerate(sorted({edge.gold for edge in edges}))}
    systems = {number: place for place, number in enumerate(sorted({edge.system for edge in edges}))}
    denominator = lcm(*(edge.union for edge in edges))
    a_pair = denominator * min(len(golds), len(systems)) + 1
    worth = {}
    for place, edge in enumerate(edges):
        overlap = edge.joint * (denominator // edge.union)
        worth[golds[edge.gold], systems[edge.system]] = (a_pair + overlap << len(edges)) + (1 << len(edges) - 1 - place)
    chosen = _most_worth(worth, len(golds), len(systems))
    gold_numbers, system_numbers = list(golds), list(systems)
    return [(gold_numbers[row], system_numbers[column]) for row, column in chosen]


def _most_worth(worth: dict[tuple[int, int], int], rows: int, columns: int) -> list[tuple[int, int]]:
    """The Hungarian algorithm (Kuhn 1955), with potentials: one shortest augmenting path per row."""
    if rows > columns:
        turned = _most_worth({(column, row): value for (row, column), value in worth.items()}, columns, rows)
        return [(row, column) for column, row in turned]
    above, beside = [0] * (rows + 1), [0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0] = row
        column, came_from = 0, [0] * (columns + 1)
        least: list[int | None] = [None] * (columns + 1)
        used = [False] * (columns + 1)
        while row_of[column]:
            used[column] = True
            here, step, following = row_of[column], None, 0
            for other in range(1, columns + 1):
                if used[other]:
                    continue
                slack = -worth.get((here - 1, other - 1), 0) - above[here] - beside[other]
                best = least[other]
                if best is None or slack < best:
                    least[other] = best = slack
                    came_from[other] = column
                if step is None or best < step:
                    step, following = best, other
            step = step or 0
            for other in range(columns + 1):
                best = least[other]
                if used[other]:
                    above[row_of[other]] += step
                    beside[other] -= step
                elif best is not None:
                    least[other] = best - step
            column = following
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    pairs = ((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])
    return [pair for pair in pairs if pair in worth]
