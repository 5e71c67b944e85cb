"""Entailment graphs: which predicates follow from which, so that what follows from what follows, follows.

An edge (u, v, turned) says that v follows from u, with the arguments exchanged if turned. With (u, v, s) and (v, w, t),
a graph must have (u, w, s xor t). Every edge has a weight, and most have the same negative one. The best graph is the
one with the highest sum of weights, after Berant, Dagan and Goldberger (2010, 2011).
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
        """Whether it says that something follows from itself, which is always so."""
        return self.lhs == self.rhs and not self.turned


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of every edge that could be."""

    known: Mapping[Edge, float]
    other: float
    """Of edges that are not among the known: below 0."""

    def __post_init__(self) -> None:
        if not self.other < 0:
            raise ValueError(f"edges of which nothing is known must have a negative weight, not {self.other}")

    def of(self, edge: Edge) -> float:
        return self.known.get(edge, self.other)

    def total(self, edges: Iterable[Edge]) -> float:
        """The same in whatever order the edges come: it is rounded once."""
        return fsum(self.of(edge) for edge in edges)


@dataclass(frozen=True, slots=True)
class Solved:
    """A transitive graph."""

    edges: frozenset[Edge]
    objective: float
    bound: float
    """No graph has a higher objective than this."""
    exact: bool
    """Whether this one is known to be the best."""


def implied(first: Edge, second: Edge) -> Edge:
    """What follows from two edges, the second of which begins where the first ends."""
    return Edge(first.lhs, second.rhs, first.turned ^ second.turned)


def components(weights: Weights) -> list[dict[Edge, float]]:
    """Parts of the graph that can be solved apart, each with its known edges: none of positive weight is between them.

    An edge between two parts could only cost, and nothing inside them needs it.
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
    """Two edges and the third that they imply and that is not there."""
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
    """A transitive graph that grows an edge at a time."""

    def __init__(self) -> None:
        self.edges: set[Edge] = set()
        self._after: dict[int, set[tuple[int, bool]]] = defaultdict(set)
        self._before: dict[int, set[tuple[int, bool]]] = defaultdict(set)

    def most_needed_for(self, edge: Edge) -> int:
        """No more edges than this must come with it, but for exchanged arguments."""
        return (1 + len(self._before[edge.lhs])) * (1 + len(self._after[edge.rhs]))

    def needed_for(self, edge: Edge) -> set[Edge]:
        """The edges that must come with this one, itself among them."""
        before = {(edge.lhs, False)} | self._before[edge.lhs]
        after = {(edge.rhs, False)} | self._after[edge.rhs]
        # Round a cycle that exchanges the arguments, everything is reached both ways.
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
