"""Finds the best entailment graph: exactly, by integer linear programming, or approximately, with a bound.

Variables select edges. Initially the program has only edges of positive weight and no constraints. If its solution has
two edges without the third edge that they imply, that constraint and edge are added and the program is solved again
(HiGHS). A program without all constraints gives an upper bound, and a solution that violates none is optimal.
"""

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from chorale.kits.rules.learning.graphs import Closure, Edge, Solved, Weights, components, implied, missing
from chorale.model.extras import need

EXACT_UP_TO = 100
SECONDS = 60.0
_TOLERANCE = 1e-6
_MOST_ROWS = 5000
_MOST_NEEDED = 20_000
_SWEEPS = 4


def solve_graph(
    weights: Weights,
    *,
    exact_up_to: int = EXACT_UP_TO,
    seconds: float = SECONDS,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Solved:
    """Finds the best transitive graph, component by component.

    Components of more nodes than `exact_up_to`, and those that take longer than `seconds`, are solved approximately.
    """
    parts = components(weights)
    solved = []
    for done, known in enumerate(parts, 1):
        solved.append(solve_component(Weights(known, weights.other), exact_up_to=exact_up_to, seconds=seconds))
        progress(done, len(parts))
    edges = frozenset(edge for one in solved for edge in one.edges)
    return Solved(edges, weights.total(edges), sum(one.bound for one in solved), exact=all(one.exact for one in solved))


def solve_component(weights: Weights, *, exact_up_to: int = EXACT_UP_TO, seconds: float = SECONDS) -> Solved:
    """Solves one component."""
    positive = frozenset(edge for edge, weight in weights.known.items() if weight > 0)
    if not any(missing(positive)):
        total = weights.total(positive)
        return Solved(positive, total, total, exact=True)
    nodes = {node for edge in positive for node in (edge.lhs, edge.rhs)}
    program = _Program(weights, positive, time.monotonic() + seconds)
    values, closed = program.relaxed()
    in_part = any(min(value, 1 - value) > _TOLERANCE for value in values.values())
    if (closed and not in_part) or (len(nodes) <= exact_up_to and program.in_whole_numbers()):
        edges = program.edges()
        total = weights.total(edges)
        return Solved(edges, total, total, exact=True)
    return _nearly(weights, positive, values, program.bound, seconds)


def _nearly(
    weights: Weights, positive: frozenset[Edge], values: Mapping[Edge, float], bound: float, seconds: float
) -> Solved:
    """Greedy solution: adds edges whose gain exceeds the cost of implied edges, in order of value or weight."""
    orders: tuple[Callable[[Edge], tuple[float, ...]], ...] = (
        lambda edge: (-weights.of(edge),),
        lambda edge: (-values.get(edge, 0.0), -weights.of(edge)),
    )
    attempts = [
        _greedy(weights, sorted(positive, key=lambda edge: (*order(edge), *edge)), time.monotonic() + max(1.0, seconds))
        for order in orders
    ]
    best = max(attempts, key=weights.total)
    total = weights.total(best)
    return Solved(best, total, max(bound, total), exact=bound - total <= _TOLERANCE)


def _greedy(weights: Weights, order: list[Edge], deadline: float) -> frozenset[Edge]:
    """Builds a graph that is transitive at any time. Edges that imply very many others are skipped."""
    graph = Closure()
    left = order
    for _ in range(_SWEEPS):
        refused = []
        for edge in left:
            if edge in graph.edges:
                continue
            needed = graph.needed_for(edge) if graph.most_needed_for(edge) <= _MOST_NEEDED else set()
            if weights.total(needed) > 0:
                graph.add(needed)
            else:
                refused.append(edge)
            if time.monotonic() > deadline:
                return frozenset(graph.edges)
        if len(refused) == len(left):
            break
        left = refused
    return frozenset(graph.edges)


class _Program:
    """A growing linear program with one variable per edge and one row per constraint."""

    def __init__(self, weights: Weights, positive: frozenset[Edge], deadline: float) -> None:
        self._weights = weights
        self._deadline = deadline
        self._solver = _solver()
        self._places: dict[Edge, int] = {}
        self.bound = weights.total(positive)
        for edge in sorted(positive):
            self._add_edge(edge)

    def relaxed(self) -> tuple[Mapping[Edge, float], bool]:
        """Solves the relaxation with fractional edges, adding constraints until none is violated or time is up.

        The second value is whether all constraints were added in time.
        """
        while True:
            values = self._solve()
            if values is None:
                return {}, False
            self.bound = min(self.bound, self._solver.getObjectiveValue())
            if not self._add_rows(values):
                return values, time.monotonic() < self._deadline

    def in_whole_numbers(self) -> bool:
        """Solves with integer edges. Returns False if time is up."""
        import highspy  # noqa: PLC0415 - of the extra `rules`

        integer = highspy.HighsVarType.kInteger
        while True:
            for place in self._places.values():
                self._solver.changeColIntegrality(place, integer)
            values = self._solve()
            if values is None:
                return False
            if not self._add_rows(values):
                return time.monotonic() < self._deadline

    def edges(self) -> frozenset[Edge]:
        solution = self._solver.getSolution().col_value
        return frozenset(edge for edge, place in self._places.items() if solution[place] > 0.5)

    def _solve(self) -> dict[Edge, float] | None:
        import highspy  # noqa: PLC0415 - of the extra `rules`

        left = self._deadline - time.monotonic()
        if left <= 0:
            return None
        # The solver's clock continues across calls.
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._solver.getSolution().col_value
        return {edge: solution[place] for edge, place in self._places.items()}

    def _add_edge(self, edge: Edge) -> int:
        place = self._places.get(edge)
        if place is None:
            place = self._places[edge] = len(self._places)
            self._solver.addVar(0.0, 1.0)
            self._solver.changeColCost(place, self._weights.of(edge))
        return place

    def _add_rows(self, values: Mapping[Edge, float]) -> int:
        """Violated constraints, the most violated first."""
        import highspy  # noqa: PLC0415 - of the extra `rules`

        broken = heapq.nlargest(_MOST_ROWS, _broken(values, self._deadline))
        for _, first, second in broken:
            third = implied(first, second)
            places = [self._add_edge(edge) for edge in (first, second, third)]
            self._solver.addRow(-highspy.kHighsInf, 1.0, 3, places, [1.0, 1.0, -1.0])
        return len(broken)


def _broken(values: Mapping[Edge, float], deadline: float) -> Iterator[tuple[float, Edge, Edge]]:
    """The best solution found in the time limit."""
    after: dict[int, list[tuple[Edge, float]]] = defaultdict(list)
    for edge, value in sorted(values.items()):
        if value > _TOLERANCE:
            after[edge.lhs].append((edge, value))
    for starting in list(after.values()):
        if time.monotonic() > deadline:
            return
        for first, first_value in starting:
            for second, second_value in after.get(first.rhs, ()):
                if first_value + second_value <= 1 + _TOLERANCE:
                    continue
                third = implied(first, second)
                excess = first_value + second_value - 1 - values.get(third, 0.0)
                if excess > _TOLERANCE and not third.is_itself:
                    yield excess, first, second


def _solver() -> Any:
    need("highspy")
    import highspy  # noqa: PLC0415 - of the extra `rules`

    solver = highspy.Highs()
    settings = {"output_flag": False, "threads": 1, "random_seed": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver
