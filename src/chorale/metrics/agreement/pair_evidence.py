"""Evidence for the coefficients of two people: joint counts of their labels, item by item."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray, Metric, Tally
from chorale.metrics.agreement.pairs import PairTable
from chorale.metrics.agreement.scales import Weights
from chorale.metrics.judgments import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class PairEvidence:
    """Two people: a tally over the items both judged, and the metric with `percent`, `kappa` and `pi`.

    In resamples where κ or π is undefined, it counts as 0.
    """

    first: str
    second: str
    items: int
    tally: Tally
    metric: Metric


def pair_evidence(
    judgments: Judgments,
    *,
    weights: Weights = "none",
    order: Sequence[str] | None = None,
    only: frozenset[tuple[str, str]] | None = None,
) -> Iterator[PairEvidence]:
    """Evidence of all pairs, or only of some."""
    table = PairTable(judgments, weights, order)
    for place, first, second in _named(table, judgments, only):
        items, cells, metric = _cells(table, place)
        rows = _by_item(items, cells)[1]
        yield PairEvidence(first, second, len(rows), Tally.of(rows), metric)


def pair_evidence_beside(
    both: Judgments, n_tasks: int, *, weights: Weights = "none", order: Sequence[str] | None = None
) -> Iterator[PairEvidence]:
    """Evidence of pairs in two files, over the items both judged in each. `both` is from `side_by_side`."""
    table = PairTable(both, weights, order)
    for place, first, second in _named(table, both, None):
        items, cells, metric = _cells(table, place)
        here = items < n_tasks
        names, rows = _by_item(items[here], cells[here])
        other_names, other_rows = _by_item(items[~here] - n_tasks, cells[~here])
        common, at, other_at = np.intersect1d(names, other_names, assume_unique=True, return_indices=True)
        if len(common):
            tally = Tally.of(np.hstack([rows[at], other_rows[other_at]]))
            yield PairEvidence(first, second, len(common), tally, metric)


def _named(
    table: PairTable, judgments: Judgments, only: frozenset[tuple[str, str]] | None
) -> Iterator[tuple[int, str, str]]:
    names = judgments.worker_names
    for place, (first, second) in enumerate(zip(*(each.tolist() for each in table.workers), strict=True)):
        if only is None or (names[first], names[second]) in only:
            yield place, names[first], names[second]


def _cells(table: PairTable, place: int) -> tuple[NDArray[np.int64], FloatArray, Metric]:
    """The items, the labels of both people as one-hot rows, and the metric over their sums."""
    items, places = table.labels_of(place)
    kinds, cell = np.unique(places, axis=0, return_inverse=True)
    metric = _metric(kinds[:, 0], kinds[:, 1], kinds[:, 2].astype(np.float64), table.weights)
    return items, np.eye(len(kinds))[cell.reshape(-1)], metric


def _by_item(items: NDArray[np.int64], cells: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """One row per item, because a person may have judged an item twice."""
    names, place = np.unique(items, return_inverse=True)
    if len(names) == len(items):
        return names, cells[np.argsort(items)]
    rows = np.zeros((len(names), cells.shape[1]))
    np.add.at(rows, place.reshape(-1), cells)
    return names, rows


def _metric(first: NDArray[np.int64], second: NDArray[np.int64], same: FloatArray, weights: Weights) -> Metric:
    values = np.unique(np.r_[first, second])
    by_first, by_second = ((said[:, None] == values).astype(np.float64) for said in (first, second))
    apart = np.abs(values[:, None] - values).astype(np.float64)
    distances = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    observed = distances[np.searchsorted(values, first), np.searchsorted(values, second)]
    differ = (first != second).astype(np.float64)

    def formula(sums: FloatArray) -> dict[str, FloatArray | float]:
        n, ones, others = sums.sum(axis=-1), sums @ by_first, sums @ by_second
        by_chance = ((ones @ distances) * others).sum(axis=-1)
        of_both = n**2 - ((ones + others) ** 2).sum(axis=-1) / 4
        return {
            "percent": (sums @ same) / np.maximum(n, 1),
            "kappa": _beyond(sums @ observed, n, by_chance),
            "pi": _beyond(sums @ differ, n, of_both),
        }

    return Metric(formula, wholes=lambda sums: {"percent": sums.sum(axis=-1)})


def _beyond(observed: FloatArray, n: FloatArray, expected: FloatArray) -> FloatArray:
    share = np.divide(observed * n, expected, out=np.ones(np.shape(observed)), where=expected > 0)
    return 1 - share
