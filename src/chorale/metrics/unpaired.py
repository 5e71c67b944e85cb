"""Comparison of two unpaired sets of items, such as the questions of two arms.

Each set is resampled separately (bootstrap), and units are reassigned to the two sets (permutation test). Units in both
sets, such as writers who worked in both arms, are sampled together, and their work is swapped randomly.
"""

from math import sqrt

import numpy as np

from chorale.metrics.bootstrap import resampled
from chorale.metrics.clusters import Clusters
from chorale.metrics.comparison import UnpairedComparison, around_difference, differences
from chorale.metrics.sampling import Narrowness, share_at_least, times_assigned, times_swapped, times_taken
from chorale.metrics.statistics import FloatArray, Metric, Statistics, Tally, stacked
from chorale.metrics.support import Support, codes_of, difference_support, support

_Sides = tuple[Statistics, Statistics]
_BothClusters = tuple[Clusters | None, Clusters | None]


def compare_apart(
    first: tuple[Statistics, Metric],
    second: tuple[Statistics, Metric],
    *,
    resamples: int = 1000,
    seed: int = 1,
    clusters: _BothClusters = (None, None),
) -> dict[str, UnpairedComparison]:
    """Compares every common score. Both sets must have the same statistics, because units move between them."""
    sides, metric = (first[0], second[0]), first[1]
    if sides[0].rows.shape[1] != sides[1].rows.shape[1]:
        raise ValueError("both sets of items must have the same statistics")
    ours, theirs = first[1].scores(first[0]), second[1].scores(second[0])
    both = _shared(sides, clusters) if metric.additive else None
    if both is None:
        drawn = _drawn_apart(first, second, clusters, resamples, seed)
        carried = _carried_apart(first, second, clusters)
    else:
        rng = np.random.default_rng(seed)
        sums = [times @ both.rows for times in times_taken(both.counts, resamples, rng)]
        drawn = differences(np.concatenate(sums), metric)
        units = Narrowness.of_units(int(both.counts.sum()))
        carried = {name: (one.carrying, units) for name, one in difference_support(both, metric).items()}
    permuted = _permuted(sides, metric, clusters, resamples, np.random.default_rng([seed, 2]))
    compared = {}
    for name in (name for name in ours if name in theirs):
        difference = ours[name] - theirs[name]
        around, p_bootstrap = around_difference(drawn[name], difference, *carried[name])
        p_permutation = share_at_least(permuted[name], difference)
        compared[name] = UnpairedComparison(ours[name], theirs[name], difference, around, p_bootstrap, p_permutation)
    return compared


def _drawn_apart(
    first: tuple[Statistics, Metric],
    second: tuple[Statistics, Metric],
    clusters: _BothClusters,
    resamples: int,
    seed: int,
) -> dict[str, FloatArray]:
    drawn = resampled(*first, resamples=resamples, seed=seed, clusters=clusters[0])
    others = resampled(*second, resamples=resamples, seed=seed + 1, clusters=clusters[1])
    return {name: drawn[name] - others[name] for name in drawn if name in others}


def _carried_apart(
    first: tuple[Statistics, Metric], second: tuple[Statistics, Metric], clusters: _BothClusters
) -> dict[str, tuple[float, Narrowness]]:
    """Effective number of units of each difference, and the correction of its resamples (Welch's t)."""
    ones, others = support(*first, clusters[0]), support(*second, clusters[1])
    return {name: _welch(ones[name], others[name]) for name in ones if name in others}


def _welch(first: Support, second: Support) -> tuple[float, Narrowness]:
    squares = [each.error**2 for each in (first, second)]
    total, units = sum(squares), [each.units for each in (first, second)]
    if not total or min(units) < 2:
        return 0.0, Narrowness(1.0, 1.0)
    parts = list(zip(squares, units, (first.carrying, second.carrying), strict=True))
    carrying = total**2 / sum(square**2 / carried for square, _, carried in parts if square)
    freedom = total**2 / sum(square**2 / (count - 1) for square, count, _ in parts)
    of_resamples = sum(square * (count - 1) / count for square, count, _ in parts)
    return carrying, Narrowness(sqrt(total / of_resamples), freedom)


def _shared(sides: _Sides, clusters: _BothClusters) -> Tally | None:
    """Sums of every cluster in the first and then in the second set; None if no cluster is in both."""
    units = _units_of_both(sides, clusters)
    if units is None:
        return None
    only, shared = units
    return Tally.of(np.vstack([*(_on_side(rows, side) for side, rows in enumerate(only)), shared]))


def _on_side(rows: FloatArray, side: int) -> FloatArray:
    nothing = np.zeros_like(rows)
    return np.hstack([nothing, rows] if side else [rows, nothing])


def _units_of_both(sides: _Sides, clusters: _BothClusters) -> tuple[tuple[FloatArray, FloatArray], FloatArray] | None:
    """Sums of clusters in only one set, for each set, and of clusters in both, concatenated."""
    if clusters[0] is None or clusters[1] is None:
        return None
    ones, others = clusters[0].sums(sides[0]), clusters[1].sums(sides[1])
    both = sorted({*ones.items} & {*others.items})
    if not both:
        return None
    places = [{name: place for place, name in enumerate(each.items)} for each in (ones, others)]
    chosen = [[place[name] for name in both] for place in places]
    alone = tuple(np.delete(each.rows, some, axis=0) for each, some in zip((ones, others), chosen, strict=True))
    return (alone[0], alone[1]), np.hstack([ones.rows[chosen[0]], others.rows[chosen[1]]])


def _permuted(
    sides: _Sides, metric: Metric, clusters: _BothClusters, resamples: int, rng: "np.random.Generator"
) -> dict[str, FloatArray]:
    """Differences after units are randomly reassigned to the two sets, with the same set sizes."""
    if not metric.additive:
        return _permuted_items(sides, metric, clusters, resamples, rng)
    units = _units_of_both(sides, clusters)
    if units is None:
        alone = tuple(
            (each if some is None else some.sums(each)).rows for each, some in zip(sides, clusters, strict=True)
        )
        shift = np.zeros((resamples, sides[0].rows.shape[1]))
    else:
        alone, shared = units
        a, b = np.split(shared, 2, axis=1)
        times = times_swapped(np.ones(len(shared), dtype=np.int64), resamples, rng)
        shift = a.sum(axis=0) + np.concatenate([each @ (b - a) for each in times])
    pooled = Tally.of(np.vstack(alone))
    dealt = times_assigned(pooled.counts.astype(np.int64), len(alone[0]), resamples, rng)
    ones = shift + np.concatenate([each @ pooled.rows for each in dealt])
    everything = sides[0].rows.sum(axis=0) + sides[1].rows.sum(axis=0)
    return differences(np.hstack([ones, everything - ones]), metric)


def _permuted_items(
    sides: _Sides, metric: Metric, clusters: _BothClusters, resamples: int, rng: "np.random.Generator"
) -> dict[str, FloatArray]:
    """Permutation differences of a metric that needs the items."""
    rows = np.vstack([each.rows for each in sides])
    own, others = (codes_of(each, some) for each, some in zip(sides, clusters, strict=True))
    units = int(own.max()) + 1
    codes = np.concatenate([own, units + others])
    scored = []
    for _ in range(resamples):
        inside = (rng.permutation(int(codes.max()) + 1) < units)[codes]
        of_first, of_second = metric.formula(rows[inside]), metric.formula(rows[~inside])
        scored.append({name: float(of_first[name]) - float(of_second[name]) for name in of_first})
    return stacked(scored)
