"""Agreement in rank: Spearman's ρ and Kendall's τ-b of every two people, and Kendall's W of all.

    ρ = the correlation of mean ranks        τ_b = (C − D) / √((n₀ − n₁)(n₀ − n₂))

C and D are pairs of items in the same and in opposite order, n₀ all pairs, n₁ and n₂ those that one of the two people
has tied. W = 12 Σ (R_i − mean R)² / (k² (n³ − n) − k Σ (t³ − t)), with R_i the sum of the ranks that k people give
item i of n, and t the sizes of groups of ties.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.counts import by_number
from chorale.metrics.agreement.pairs import Ints, PairTable, mean_over_pairs
from chorale.metrics.agreement.result import NO_PAIRS, Agreement
from chorale.metrics.agreement.scales import ranks_of
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.model.plural import plural

_MOST_CELLS = 25_000_000
_ALIKE = "in every pair of workers one gave all items the same rank"


def spearman_rho(judgments: Judgments, *, order: Sequence[str] | None = None, min_common: int = 1) -> Agreement:
    """ρ; of more than two people the mean over all pairs with at least `min_common` items in common.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), [1, 2, 3, 4, 1, 3, 2, 4])
    >>> round(spearman_rho(two).value, 4)
    0.8
    """
    return _of_pairs("spearman", _rho, judgments, order, min_common)


def kendall_tau(judgments: Judgments, *, order: Sequence[str] | None = None, min_common: int = 1) -> Agreement:
    """τ-b; of more than two people the mean over all pairs with at least `min_common` items in common.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), [1, 2, 3, 4, 1, 3, 2, 4])
    >>> round(kendall_tau(two).value, 4)
    0.6667
    """
    return _of_pairs("kendall-tau", _tau, judgments, order, min_common)


_Correlation = Callable[[Ints, Ints, FloatArray], float]
"""From the places of two people's labels of some items, and how often each item is taken."""


def _of_pairs(
    metric: str, correlation: _Correlation, judgments: Judgments, order: Sequence[str] | None, min_common: int
) -> Agreement:
    # Places are those of ranks if a table of pairs has weights.
    table = PairTable(judgments, "linear", order)
    pairs = list(_labels_of(table))

    def coefficients(drawn: FloatArray) -> FloatArray:
        return np.array([correlation(first, second, drawn[items]) for items, first, second in pairs])

    return mean_over_pairs(judgments, metric, table.common, coefficients, min_common, undefined=_ALIKE)


def _labels_of(table: PairTable) -> Iterator[tuple[Ints, Ints, Ints]]:
    for pair in range(len(table.common)):
        items, places = table.labels_of(pair)
        yield items, places[:, 0], places[:, 1]


def _rho(first: Ints, second: Ints, taken: FloatArray) -> float:
    """NaN if one of the two ranks all items the same."""
    one, other = (_mean_ranks(each, taken) for each in (first, second))
    n = taken.sum()
    if not n:
        return float("nan")
    one, other = one - taken @ one / n, other - taken @ other / n
    spread = (taken @ one**2) * (taken @ other**2)
    return float(taken @ (one * other) / np.sqrt(spread)) if spread > 0 else float("nan")


def _mean_ranks(places: Ints, taken: FloatArray) -> FloatArray:
    at = np.bincount(places, weights=taken)
    return np.asarray((np.cumsum(at) - at / 2)[places])


def _tau(first: Ints, second: Ints, taken: FloatArray) -> float:
    """From how often the two gave which places: items above in rows and in columns are in the same order."""
    ones, rows = np.unique(first, return_inverse=True)
    others, columns = np.unique(second, return_inverse=True)
    if len(ones) * len(others) > _MOST_CELLS:
        message = f"two workers gave more than {_MOST_CELLS:,} combinations of different values; use spearman instead"
        raise ValueError(message)
    size = len(ones), len(others)
    table = np.bincount(rows * size[1] + columns, weights=taken, minlength=size[0] * size[1]).reshape(size)
    below = np.zeros(size)
    below[1:] = np.cumsum(table, axis=0)[:-1]
    before = np.cumsum(below, axis=1)
    same = (table[:, 1:] * before[:, :-1]).sum()
    behind = below.sum(axis=1, keepdims=True) - before
    opposite = (table * behind).sum()
    n = taken.sum()
    free = [(n * n - (table.sum(axis=axis) ** 2).sum()) / 2 for axis in (1, 0)]
    spread = free[0] * free[1]
    return float((same - opposite) / np.sqrt(spread)) if spread > 0 else float("nan")


def kendall_w(judgments: Judgments, *, order: Sequence[str] | None = None) -> Agreement:
    """W, over the items that everybody judged.

    >>> three = Judgments.from_columns([1, 2, 3] * 3, list("xxxyyyzzz"), [1, 2, 3, 1, 3, 2, 1, 2, 3])
    >>> round(kendall_w(three).value, 4)
    0.7778
    """
    people = codes_in_use(judgments.workers)
    places = ranks_of(judgments.label_names, order, what="ranks")
    table = np.full((len(judgments.task_names), len(people)), np.nan)
    table[judgments.tasks, np.searchsorted(people, judgments.workers)] = places[judgments.labels]
    complete = ~np.isnan(table).any(axis=1)
    left_out = len(codes_in_use(judgments.tasks)) - int(complete.sum())
    notes: tuple[str, ...] = ()
    if left_out:
        notes = (f"{plural(left_out, 'item does', 'items do')} not count: not everybody judged them.",)
    if len(people) < 2 or complete.sum() < 2:
        why = NO_PAIRS if len(people) < 2 else "fewer than two items were judged by everybody"
        return Agreement("kendall-w", None, judgments, notes=notes, undefined=why)
    coded = np.where(complete[:, None], table, 0).astype(np.int64)
    if not (coded[complete] != coded[complete][0]).any():
        return Agreement("kendall-w", None, judgments, notes=notes, undefined="everybody gave all items the same rank")

    def value(drawn: FloatArray) -> FloatArray:
        return _concordance(coded, drawn * complete)

    def evidence() -> tuple[FloatArray, Metric]:
        return by_number(len(table), value)

    found = float(value(np.ones(len(table))))
    return Agreement("kendall-w", found, judgments, notes=notes, _evidence=evidence)


def _concordance(places: Ints, taken: FloatArray) -> FloatArray:
    """W with every item taken so often; 0 where nobody ranks anything."""
    k, n = places.shape[1], taken.sum()
    sums, ties = np.zeros(len(places)), 0.0
    for person in range(k):
        at = np.bincount(places[:, person], weights=taken)
        sums += (np.cumsum(at) - at / 2)[places[:, person]]
        ties += float((at**3 - at).sum())
    spread = taken @ (sums - taken @ sums / max(n, 1)) ** 2
    return ratio(12 * spread, np.asarray(k * k * (n**3 - n) - k * ties))
