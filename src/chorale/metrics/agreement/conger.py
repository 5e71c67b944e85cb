"""Conger's κ: chance agreement from each person's own label shares, over all pairs of people.

    κ = (P_a − P_e) / (1 − P_e),    P_e = Σ_{g≠h} Σ_kl w_kl p_gk p_hl / (r (r − 1))

P_a is the fraction of agreeing pairs, averaged over items with two or more judgments, p_gk the share of label k among
all judgments of person g, and r the number of people (Conger 1980; Gwet 2014 for missing data). For two people who
judged the same items, it is Cohen's κ.
"""

from collections.abc import Sequence

import numpy as np

from chorale.metrics import FloatArray, Metric, ratio
from chorale.metrics.agreement.chance import Categories, agreeing, categories_of, log_scale_from
from chorale.metrics.agreement.counts import by_number, sums_at, value_counts
from chorale.metrics.agreement.result import NO_PAIRS, Agreement, one_value
from chorale.metrics.agreement.scales import Weights
from chorale.metrics.judgments import Judgments, codes_in_use

_MOST_COLUMNS = 256
_DENSE_CELLS = 2**24


def conger_kappa(judgments: Judgments, *, weights: Weights = "none", order: Sequence[str] | None = None) -> Agreement:
    """Conger's κ.

    >>> two = Judgments.from_columns([1, 2, 3, 4] * 2, list("xxxxyyyy"), list("yynnynnn"))
    >>> conger_kappa(two).value
    0.5
    """
    categories = categories_of(judgments, weights, order)
    coded = categories.judgments
    counts = value_counts(coded, least=1)
    agree, disagreement = agreeing(categories, counts)
    own = np.column_stack([agree, (counts.sizes > 1).astype(np.float64)])
    if not own[:, 1].any():
        return Agreement("conger", None, judgments, disagreement, undefined=NO_PAIRS)
    people = np.zeros(len(coded.worker_names), dtype=np.int64)
    used = codes_in_use(coded.workers)
    people[used] = np.arange(len(used))
    cells = people[coded.workers] * categories.count + coded.labels
    shape = len(used), categories.count
    said = sums_at(cells, np.ones(len(cells)), shape[0] * shape[1])
    if float(_room(categories, said.reshape(shape))) <= 0:
        return Agreement("conger", None, judgments, disagreement, undefined=one_value(judgments))
    value = float(_kappa(categories, own.sum(axis=0), said.reshape(shape)))

    def evidence() -> tuple[FloatArray, Metric]:
        return _evidence(categories, own, cells, shape, log_scale_from(categories, counts))

    return Agreement("conger", value, judgments, disagreement, _evidence=evidence, counts_singles=True)


def _evidence(
    categories: Categories, own: FloatArray, cells: np.ndarray, shape: tuple[int, int], least: int | None
) -> tuple[FloatArray, Metric]:
    """Statistics per item (agreement, and the label of each person), and the metric over them.

    With many labels and people, a row only contains the item number, and the metric looks up the rest.
    """
    columns, tasks = shape[0] * shape[1], categories.judgments.tasks
    if columns <= _MOST_COLUMNS and columns * len(own) <= _DENSE_CELLS:
        said = np.zeros((len(own), columns))
        np.add.at(said, (tasks, cells), 1)
        return np.hstack([own, said]), Metric(
            lambda sums: {"value": _kappa(categories, sums[..., :2], sums[..., 2:].reshape(*sums.shape[:-1], *shape))},
            log_scale_from=least,
        )

    def of_drawn(drawn: FloatArray) -> FloatArray:
        return _kappa(categories, drawn @ own, sums_at(cells, drawn[tasks], columns).reshape(shape))

    return by_number(len(own), of_drawn)


def _room(categories: Categories, said: FloatArray) -> FloatArray:
    """1 − P_e, from the number of times each person gave each label, without people who gave none."""
    shares = ratio(said, said.sum(axis=-1, keepdims=True))
    there = (said.sum(axis=-1) > 0).sum(axis=-1)
    together = shares.sum(axis=-2)
    same_person = categories.expected_apart(shares, shares).sum(axis=-1)
    return ratio(categories.expected_apart(together, together) - same_person, there * (there - 1.0))


def _kappa(categories: Categories, own: FloatArray, said: FloatArray) -> FloatArray:
    left = _room(categories, said)
    return np.asarray(np.where(left > 0, 1 - ratio(1 - ratio(own[..., 0], own[..., 1]), left), 0.0))
