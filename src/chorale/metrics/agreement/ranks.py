"""Rank agreement: Spearman's ρ and Kendall's τ-b of all pairs of people, and Kendall's W of all people.

    ρ = the correlation of mean ranks        τ_b = (C − D) / √((n₀ − n₁)(n₀ − n₂))

C and D are pairs of items in the same and in opposite order, n₀ all pairs, n₁ and n₂ those tied by one of the two
people. W = 12 Σ (R_i − mean R)² / (k² (n³ − n) − k Σ (t³ − t)), with R_i the sum of the ranks that k people give item i
of n, and t the sizes of groups of ties.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.counts import by_number, sums_at
from chorale.metrics.agreement.pairs import Ints, PairTable, mean_over_pairs
from chorale.metrics.agreement.result import NO_PAIRS, Agreement
from chorale.metrics.agreement.scales import ranks_of
from chorale.metrics.judgments import Judgments, codes_in_use
from chorale.model.plural import plural

_MOST_CELLS = 25_000_000
"""Maximum size of a table of two people's values."""
_AT_ONCE = 2**20
_ROUNDING = 1e-9
_ALIKE = "one worker gave all items the same rank"


def spearman_rho(judgments: Judgments, *, order: Sequence[str] | None = None, min_common: int = 1) -> Agreement:
    """Spearman's ρ; for more than two people, the mean over all pairs with at least `min_common` common items.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), [1, 2, 3, 4, 1, 3, 2, 4])
    >>> round(spearman_rho(two).value, 4)
    0.8
    """
    return _of_pairs("spearman", _rhos, judgments, order, min_common)


def kendall_tau(judgments: Judgments, *, order: Sequence[str] | None = None, min_common: int = 1) -> Agreement:
    """Kendall's τ-b; for more than two people, the mean over all pairs with at least `min_common` common items.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), [1, 2, 3, 4, 1, 3, 2, 4])
    >>> round(kendall_tau(two).value, 4)
    0.6667
    """
    return _of_pairs("kendall-tau", _taus, judgments, order, min_common)


def _of_pairs(
    metric: str,
    correlations: Callable[[PairTable], Callable[[FloatArray], FloatArray]],
    judgments: Judgments,
    order: Sequence[str] | None,
    min_common: int,
) -> Agreement:
    # If a table of pairs has weights, indices are ranks.
    table = PairTable(judgments, "linear", order)
    of_pairs, why = correlations(table), f"in every pair, {_ALIKE}"
    return mean_over_pairs(judgments, metric, table.common, of_pairs, min_common, undefined=why, left_out=_ALIKE)


def _rhos(table: PairTable) -> Callable[[FloatArray], FloatArray]:
    """ρ of all pairs for given sampling counts of items; NaN if one person ranks all items equally."""
    items, pair, first, second = table.rows()
    n_pairs = len(table.common)
    ties = [
        np.unique(pair * (places.max(initial=0) + 1) + places, return_inverse=True)[1] for places in (first, second)
    ]
    pair_of_tie = [pair[np.unique(tie, return_index=True)[1]] for tie in ties]

    def ranks(tie: Ints, owner: Ints, taken: FloatArray) -> FloatArray:
        """Mean ranks within each pair."""
        at = sums_at(tie, taken, len(owner))
        up_to = np.cumsum(at)
        before = np.concatenate([[0.0], np.cumsum(sums_at(owner, at, n_pairs))[:-1]])
        return np.asarray((up_to - at / 2 - before[owner])[tie])

    def rho(drawn: FloatArray) -> FloatArray:
        taken = drawn[items]
        n = sums_at(pair, taken, n_pairs)
        sides = []
        for tie, owner in zip(ties, pair_of_tie, strict=True):
            ranked = ranks(tie, owner, taken)
            sides.append(ranked - ratio(sums_at(pair, taken * ranked, n_pairs), n)[pair])
        left, right = sides
        spread = sums_at(pair, taken * left**2, n_pairs) * sums_at(pair, taken * right**2, n_pairs)
        return _over_root(sums_at(pair, taken * left * right, n_pairs), spread)

    return rho


def _taus(table: PairTable) -> Callable[[FloatArray], FloatArray]:
    """τ-b of all pairs for given sampling counts of items; NaN if one person ranks all items equally."""
    items, pair, first, second = table.rows()
    places = int(max(first.max(initial=0), second.max(initial=0))) + 1
    if places**2 > _MOST_CELLS:
        message = f"kendall-tau supports at most {int(_MOST_CELLS**0.5):,} different values, but there are {places:,}"
        raise ValueError(f"{message}. Use spearman instead")
    step = max(1, _AT_ONCE // places**2)
    starts = np.searchsorted(pair, np.arange(0, len(table.common) + step, step))

    def tau(drawn: FloatArray) -> FloatArray:
        taus = []
        for block, (start, stop) in enumerate(pairwise(starts.tolist())):
            rows = slice(start, stop)
            size = min(step, len(table.common) - block * step)
            cells = ((pair[rows] - block * step) * places + first[rows]) * places + second[rows]
            met = sums_at(cells, drawn[items[rows]], size * places**2).reshape(size, places, places)
            taus.append(_tau(met))
        return np.concatenate(taus) if taus else np.zeros(0)

    return tau


def _tau(met: FloatArray) -> FloatArray:
    """τ-b from the joint counts of two people's values. Items higher in both rows and columns are concordant."""
    below = np.cumsum(met, axis=1) - met
    before = np.cumsum(below, axis=2)
    same = (met[:, :, 1:] * before[:, :, :-1]).sum(axis=(1, 2))
    opposite = (met * (before[:, :, -1:] - before)).sum(axis=(1, 2))
    n = met.sum(axis=(1, 2))
    free = [(n * n - (met.sum(axis=axis) ** 2).sum(axis=1)) / 2 for axis in (2, 1)]
    return _over_root(same - opposite, free[0] * free[1])


def _over_root(above: FloatArray, below: FloatArray) -> FloatArray:
    """A fraction; NaN if the denominator is only a rounding error."""
    quotient: FloatArray = np.full(len(above), np.nan)
    np.divide(above, np.sqrt(np.maximum(below, 0)), out=quotient, where=below > _ROUNDING)
    return quotient


def kendall_w(judgments: Judgments, *, order: Sequence[str] | None = None) -> Agreement:
    """Kendall's W, over the items that everybody judged.

    >>> three = Judgments.from_columns([1, 2, 3] * 3, list("xxxyyyzzz"), [1, 2, 3, 1, 3, 2, 1, 2, 3])
    >>> round(kendall_w(three).value, 4)
    0.7778
    """
    people = codes_in_use(judgments.workers)
    places = ranks_of(judgments.label_names, order, purpose="ranks")
    table = np.full((len(judgments.task_names), len(people)), np.nan)
    table[judgments.tasks, np.searchsorted(people, judgments.workers)] = places[judgments.labels]
    complete = ~np.isnan(table).any(axis=1)
    left_out = len(codes_in_use(judgments.tasks)) - int(complete.sum())
    notes: tuple[str, ...] = ()
    if left_out:
        left, them = plural(left_out, "item does", "items do"), "it" if left_out == 1 else "them"
        notes = (f"{left} not count, because not everybody judged {them}.",)
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

    w = float(value(np.ones(len(table))))
    return Agreement("kendall-w", w, judgments, notes=notes, _evidence=evidence)


def _concordance(places: Ints, taken: FloatArray) -> FloatArray:
    """W for given sampling counts of items; 0 if nobody ranks any item."""
    k, n = places.shape[1], taken.sum()
    sums, ties = np.zeros(len(places)), 0.0
    for person in range(k):
        at = np.bincount(places[:, person], weights=taken)
        sums += (np.cumsum(at) - at / 2)[places[:, person]]
        ties += float((at**3 - at).sum())
    spread = taken @ (sums - taken @ sums / max(n, 1)) ** 2
    return ratio(12 * spread, np.asarray(k * k * (n**3 - n) - k * ties))
