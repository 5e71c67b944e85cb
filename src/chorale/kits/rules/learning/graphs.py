"""Transitive entailment graphs of predicates.

An edge (u, v, turned) means that u entails v, with swapped arguments if turned. With (u, v, s) and (v, w, t),
a graph must have (u, w, s xor t). Every edge has a weight, and most have the same negative weight. The best graph
maximises the sum of weights (Berant, Dagan and Goldberger 2010, 2011).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple


class Edge(NamedTuple):
    lhs: int
    rhs: int
    turned: bool = False

    @property
    def is_itself(self) -> bool:
        """Whether the edge states that a predicate entails itself, which always holds."""
        return self.lhs == self.rhs and not self.turned


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of every possible edge."""

    known: Mapping[Edge, float]
    other: float
    """Weight of unknown edges: below 0."""

    def __post_init__(self) -> None:
        if not self.other < 0:
            raise ValueError(f"unknown edges must have a negative weight, not {self.other}")

    def of(self, edge: Edge) -> float:
        return self.known.get(edge, self.other)

    def total(self, edges: Iterable[Edge]) -> float:
        """Sum of weights, rounded once so that the order of edges does not matter."""
        return fsum(self.of(edge) for edge in edges)


@dataclass(frozen=True, slots=True)
class Solved:
    """A transitive graph."""

    edges: frozenset[Edge]
    objective: float
    bound: float
    """Upper bound on the objective of any graph."""
    exact: bool
    """Whether the graph is known to be optimal."""


def implied(first: Edge, second: Edge) -> Edge:
    """The edge implied by two consecutive edges."""
    return Edge(first.lhs, second.rhs, first.turned ^ second.turned)


def components(weights: Weights) -> list[dict[Edge, float]]:
    """Parts of the graph that can be solved separately, with their known edges. No edge of positive weight connects
    them.

    An edge between two parts only adds cost, and no edge inside them requires it.
    """
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            parent[node] = node = parent[parent[node]]
        return node

    positive = [edge for edge, weight in weights.known.items() if weight > 0]
    for edge in positive:
        left, right = root(edge.lhs), root(edge.rhs)
        parent[max(left, right)] = min(left, right)
    parts: dict[int, dict[Edge, float]] = defaultdict(dict)
    of_positive = {node for edge in positive for node in (edge.lhs, edge.rhs)}
    for edge, weight in sorted(weights.known.items()):
        if edge.lhs in of_positive and edge.rhs in of_positive and root(edge.lhs) == root(edge.rhs):
            parts[root(edge.lhs)][edge] = weight
    return [parts[name] for name in sorted(parts)]


def missing(edges: Collection[Edge]) -> Iterator[tuple[Edge, Edge, Edge]]:
    """Two edges and the missing third edge that they imply."""
    present = frozenset(edges)
    after: dict[int, list[Edge]] = defaultdict(list)
    for edge in sorted(present):
        after[edge.lhs].append(edge)
    for first in sorted(present):
        for second in after[first.rhs]:
            third = implied(first, second)
            if not third.is_itself and third not in present:
                yield first, second, third


class Closure:
    """A transitive graph that grows edge by edge."""

    def __init__(self) -> None:
        self.edges: set[Edge] = set()
        self._after: dict[int, set[tuple[int, bool]]] = defaultdict(set)
        self._before: dict[int, set[tuple[int, bool]]] = defaultdict(set)

    def most_needed_for(self, edge: Edge) -> int:
        """Upper bound on the size of `needed_for`, not counting the edges for swapped arguments."""
        return (1 + len(self._before[edge.lhs])) * (1 + len(self._after[edge.rhs]))

    def needed_for(self, edge: Edge) -> set[Edge]:
        """The edges that must be added with this edge, including itself."""
        before = {(edge.lhs, False)} | self._before[edge.lhs]
        after = {(edge.rhs, False)} | self._after[edge.rhs]
        # In a cycle that swaps the arguments, every predicate is reached in both orders.
        both = any(node == edge.lhs and turned != edge.turned for node, turned in after)
        new = {
            Edge(lhs, rhs, turned ^ edge.turned ^ turned_too ^ again)
            for lhs, turned in before
            for rhs, turned_too in after
            for again in ((False, True) if both else (False,))
        }
        return {each for each in new if not each.is_itself and each not in self.edges}

    def add(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self.edges.add(edge)
            self._after[edge.lhs].add((edge.rhs, edge.turned))
            self._before[edge.rhs].add((edge.lhs, edge.turned))
