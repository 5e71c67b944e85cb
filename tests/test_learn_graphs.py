"""The best entailment graph: against brute force, and nearly where it is large."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorale.kits.rules.learning.graphs import Closure, Edge, Weights, components, missing
from chorale.kits.rules.learning.solving import solve_component, solve_graph

pytest.importorskip("highspy")

EDGES = {
    (nodes, turned): [
        Edge(u, v, t)
        for u, v, t in product(range(nodes), range(nodes), (False, True) if turned else (False,))
        if u != v or t
    ]
    for nodes in (2, 3, 4, 5)
    for turned in (False, True)
    if not turned or nodes < 4
}


def transitive_graphs(edges: list[Edge]) -> np.ndarray:
    """Every set of edges that has all that it implies, as a row of zeros and ones. There are 6,942 of five nodes."""
    codes = np.arange(2 ** len(edges))
    place = {edge: number for number, edge in enumerate(edges)}
    sound = np.ones(len(codes), bool)
    for first, second in product(edges, edges):
        if first.rhs != second.lhs:
            continue
        third = Edge(first.lhs, second.rhs, first.turned ^ second.turned)
        if third.is_itself:
            continue
        has = [(codes >> place[edge]) & 1 for edge in (first, second, third)]
        sound &= (has[0] & has[1]) <= has[2]
    kept = codes[sound]
    return (kept[:, None] >> np.arange(len(edges))) & 1


GRAPHS = {key: transitive_graphs(edges) for key, edges in EDGES.items()}


def test_brute_force_knows_all_transitive_graphs() -> None:
    # The numbers of preorders on 2, 3, 4 and 5 labelled elements.
    assert [len(GRAPHS[nodes, False]) for nodes in (2, 3, 4, 5)] == [4, 29, 355, 6942]


@pytest.mark.parametrize(("nodes", "turned"), list(EDGES))
def test_the_solver_equals_brute_force_on_random_graphs(nodes: int, turned: bool) -> None:
    rng = np.random.default_rng(nodes + 10 * turned)
    edges = EDGES[nodes, turned]
    for _ in range(25):
        other = -rng.uniform(0.05, 1.5)
        drawn = rng.normal(rng.uniform(-0.5, 0.5), 1, len(edges))
        known = rng.random(len(edges)) < 0.8
        weight = np.where(known, drawn, other)
        best = (GRAPHS[nodes, turned] @ weight).max()
        weights = Weights({edge: float(w) for edge, w, k in zip(edges, drawn, known, strict=True) if k}, float(other))
        solved = solve_graph(weights)
        assert solved.exact
        assert solved.objective == pytest.approx(best, abs=1e-9)
        assert solved.bound == pytest.approx(best, abs=1e-9)
        assert not any(missing(solved.edges))


def test_the_approximation_is_transitive_and_its_bound_holds() -> None:
    rng = np.random.default_rng(7)
    edges, graphs = EDGES[5, False], GRAPHS[5, False]
    gaps = []
    for _ in range(40):
        weight = rng.normal(0, 1, len(edges))
        weights = Weights(dict(zip(edges, map(float, weight), strict=True)), -1.0)
        near = solve_graph(weights, exact_up_to=0)
        best = (graphs @ weight).max()
        assert not any(missing(near.edges))
        assert near.objective <= best + 1e-9
        assert near.bound >= best - 1e-6
        gaps.append((best - near.objective) / best)
    assert np.mean(gaps) < 0.05


def test_without_time_there_is_still_a_graph_and_a_bound() -> None:
    rng = np.random.default_rng(3)
    edges = EDGES[5, False]
    weights = Weights({edge: float(w) for edge, w in zip(edges, rng.normal(0.3, 1, len(edges)), strict=True)}, -1.0)
    solved = solve_component(weights, seconds=0)
    assert not solved.exact
    assert not any(missing(solved.edges))
    assert 0 < solved.objective <= solved.bound == pytest.approx(sum(w for w in weights.known.values() if w > 0))


def test_a_chain_is_cut_where_that_costs_least() -> None:
    # a→b (3), b→c (1), a→c −2. All three: 3 + 1 − 2 = 2. Without b→c: 3.
    weights = Weights({Edge(0, 1): 3.0, Edge(1, 2): 1.0, Edge(0, 2): -2.0}, -5.0)
    solved = solve_graph(weights)
    assert solved.edges == {Edge(0, 1)}
    assert solved.objective == pytest.approx(3)


def test_exchanged_arguments_compose() -> None:
    # "X employ Y" → "Y work for X" → "X pay Y": the first and the last have their arguments the same way round.
    weights = Weights({Edge(0, 1, True): 2.0, Edge(1, 2, True): 2.0, Edge(0, 2, False): -1.0}, -5.0)
    assert solve_graph(weights).edges == {Edge(0, 1, True), Edge(1, 2, True), Edge(0, 2, False)}


def test_parts_without_positive_edges_between_them_are_solved_apart() -> None:
    weights = Weights({Edge(0, 1): 1.0, Edge(1, 2): -1.0, Edge(2, 3): 1.0, Edge(4, 5): -1.0}, -5.0)
    assert components(weights) == [{Edge(0, 1): 1.0}, {Edge(2, 3): 1.0}]


def test_edges_of_which_nothing_is_known_must_cost() -> None:
    with pytest.raises(ValueError, match="negative weight"):
        Weights({}, 0.0)


@settings(max_examples=60)
@given(st.lists(st.builds(Edge, st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=8))
def test_a_graph_that_grows_stays_transitive(edges: list[Edge]) -> None:
    graph = Closure()
    for edge in edges:
        if edge.is_itself:
            continue
        graph.add(graph.needed_for(edge))
        assert edge in graph.edges
        assert not any(missing(graph.edges))
