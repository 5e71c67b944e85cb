"""Optimal alignment of several people's spans in a text: the disorder of Mathet et al. (2015).

An alignment puts every span in one group, with at most one span per person; people without a span in a group have an
empty span there. The cost of a group is the mean over all pairs of people: the dissimilarity of their two spans, or 1
if one or both are empty. The alignment with the lowest cost is found by integer programming. Groups that would cost
less if one of their spans were split off are left out.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.model.extras import need

MOST_GROUPS = 2_000_000
"""Maximum number of candidate groups, limited by memory and time."""
_TOLERANCE = 1e-6

Spans = FloatArray
"""One person's spans, one per row: start, end and category code."""
Groups = NDArray[np.intp]
"""For every group, the index of each person's span; the index after the last span means none."""


def least_cost(people: Sequence[Spans]) -> float:
    """Cost of the best alignment: the sum over its groups.

    >>> least_cost([np.array([[0.0, 2.0, 0.0]]), np.array([[0.0, 2.0, 0.0], [5.0, 6.0, 0.0]])])
    1.0
    """
    # People without spans are in every group with an empty span and do not affect the alignment.
    marking = [spans for spans in people if len(spans)]
    pairs = len(people) * (len(people) - 1) / 2
    if len(marking) < 2:
        return float(sum(map(len, marking)))
    groups, costs = _candidates(marking, pairs)
    sizes = np.array([len(spans) for spans in marking])
    return _least(groups, costs / pairs, sizes)


def dissimilarities(first: Spans, second: Spans) -> FloatArray:
    """Dissimilarity of all pairs of spans of two people: squared distance of their ends relative to their lengths, plus
    1 if categories differ.
    """
    left, right = first[:, None, :], second[None, :, :]
    apart = np.abs(left[..., 0] - right[..., 0]) + np.abs(left[..., 1] - right[..., 1])
    lengths = left[..., 1] - left[..., 0] + right[..., 1] - right[..., 0]
    distances: FloatArray = (apart / lengths) ** 2 + (left[..., 2] != right[..., 2])
    return distances


def _candidates(people: Sequence[Spans], pairs: float) -> tuple[Groups, FloatArray]:
    """Groups that can be in a best alignment, and sums over their pairs. `pairs` counts pairs of people."""
    count = len(people)
    # A pair with an empty span costs 1. Its row and column come last.
    tables = {
        (one, other): np.pad(dissimilarities(people[one], people[other]), (0, 1), constant_values=1.0)
        for one, other in combinations(range(count), 2)
    }
    groups = np.arange(len(people[0]) + 1)[:, None]
    costs = np.full(len(groups), pairs - count * (count - 1) / 2)
    for added in range(1, count):
        size = len(people[added])
        if len(groups) * (size + 1) > MOST_GROUPS:
            raise ValueError(
                f"a text has too many overlapping spans by {count} people, with more than {MOST_GROUPS:,} possible "
                "groups. Use shorter texts as items, or --metric alpha with --distance span"
            )
        costs = (costs[:, None] + sum(tables[one, added][groups[:, one]] for one in range(added))).reshape(-1)
        groups = np.column_stack([np.repeat(groups, size + 1, axis=0), np.tile(np.arange(size + 1), len(groups))])
        useful = _is_useful(groups, tables, people, pairs)
        groups, costs = groups[useful], costs[useful]
    marked = (groups < [len(spans) for spans in people]).any(axis=1)
    return groups[marked], costs[marked]


def _is_useful(
    groups: Groups, tables: dict[tuple[int, int], FloatArray], people: Sequence[Spans], pairs: float
) -> NDArray[np.bool_]:
    """Whether no span of a group is so far from the others that splitting it off would cost less."""
    places = range(groups.shape[1])
    there = [groups[:, place] < len(people[place]) for place in places]
    # Each span still to be added can reduce the cost by at most 1.
    room = pairs + (len(people) - groups.shape[1]) + _TOLERANCE
    useful = np.ones(len(groups), dtype=np.bool_)
    for place in places:
        excess = np.zeros(len(groups))
        for other in places:
            if other != place:
                lower, upper = sorted((place, other))
                excess += np.where(there[other], tables[lower, upper][groups[:, lower], groups[:, upper]] - 1, 0.0)
        useful &= ~there[place] | (excess <= room)
    return useful


def _least(groups: Groups, costs: FloatArray, sizes: NDArray[np.intp]) -> float:
    """Minimum cost of groups that contain every span once."""
    marked = groups < sizes
    rows = (groups + np.cumsum(sizes) - sizes)[marked]
    starts = np.concatenate([[0], np.cumsum(marked.sum(axis=1))])
    solver = _solver()
    solver.passModel(_program(costs, rows, starts, int(sizes.sum())))
    solver.run()
    values = np.asarray(solver.getSolution().col_value)
    if (np.minimum(values, 1 - values) > _TOLERANCE).any():
        _ask_for_whole_numbers(solver, len(costs))
        solver.run()
    return float(solver.getInfo().objective_function_value)


@cache
def _solver() -> Any:
    """Shared solver, because creating one takes longer than solving a small program."""
    need("highspy")
    import highspy  # noqa: PLC0415 - of the extra `rules`

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    return solver


def _program(costs: FloatArray, rows: NDArray[np.intp], starts: NDArray[np.intp], spans: int) -> Any:
    """One variable per group, and one constraint per span: exactly one of its groups is selected."""
    import highspy  # noqa: PLC0415 - of the extra `rules`

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(costs), spans
    program.col_cost_ = costs
    program.col_lower_, program.col_upper_ = np.zeros(len(costs)), np.ones(len(costs))
    program.row_lower_ = program.row_upper_ = np.ones(spans)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = starts.astype(np.int32), rows.astype(np.int32)
    program.a_matrix_.value_ = np.ones(len(rows))
    return program


def _ask_for_whole_numbers(solver: Any, columns: int) -> None:
    import highspy  # noqa: PLC0415 - of the extra `rules`

    kinds = [highspy.HighsVarType.kInteger] * columns
    solver.changeColsIntegrality(columns, np.arange(columns, dtype=np.int32), np.array(kinds))
