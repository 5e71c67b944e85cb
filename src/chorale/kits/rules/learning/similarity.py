"""Similarity and coverage of predicates, from the common fillers of their slots.

For slots a and b with weights mi over their fillers:

    lin(a, b)   = Σ over shared w of (mi(a, w) + mi(b, w)) / (Σ mi(a) + Σ mi(b))     Lin (1998)
    cover(a, b) = Σ over shared w of mi(a, w) / Σ mi(a)                              Weeds and Weir (2003)

For a rule p → q, slot X of p is compared with X of q, and Y with Y; with swapped arguments, X with Y and Y with X. The
two slots are combined by the geometric mean:

    dirt(p → q)  = √( lin(X, X') · lin(Y, Y') )        Lin and Pantel (2001), the same both ways
    cover(p → q) = √( cover(X, X') · cover(Y, Y') )
    binc(p → q)  = √( dirt(p → q) · cover(p → q) )     Szpektor and Dagan (2008)

One join yields all three: for each pair of predicates and each matching of slots, it sums the shared weights of both.
"""

from typing import Any

import ibis
from ibis import _

from chorale.kits.rules.learning.counting import X, Y
from chorale.kits.rules.learning.settings import Pruning

_WAYS = (("xx", X, X), ("yy", Y, Y), ("xy", X, Y), ("yx", Y, X))
_MATCHES = ((False, "xx", "yy"), (True, "xy", "yx"))


def totals_of(features: Any) -> Any:
    """`p` and the total weight of its fillers in slot X and in slot Y."""
    return features.group_by("p").agg(
        x=_.mi.sum(where=_.slot == X).coalesce(0.0), y=_.mi.sum(where=_.slot == Y).coalesce(0.0)
    )


def joined_pairs(features: Any) -> Any:
    """Number of pairs of slots with a common filler, counted once per filler: the size of the join below."""
    fillers = features.group_by("w").agg(slots=_.slots.max())
    return fillers.agg(pairs=(_.slots * (_.slots - 1) / 2).sum().cast("int64"))


def shared_weights(features: Any, bucket: int, buckets: int, pruning: Pruning) -> Any:
    """Pairs of predicates p ≤ q with common fillers in both slots, for p in one bucket, with their shared weights."""
    shared = features.filter(_.slots > 1)
    left = shared.filter(_.p % buckets == bucket).select(_.w, p=_.p, of_p=_.slot, mi_p=_.mi)
    right = shared.select(_.w, q=_.p, of_q=_.slot, mi_q=_.mi)
    pairs = left.inner_join(right, ["w", left.p <= right.q]).filter((_.p != _.q) | (_.of_p != _.of_q))
    sums = {}
    for name, of_p, of_q in _WAYS:
        here = (pairs.of_p == of_p) & (pairs.of_q == of_q)
        sums[f"{name}_p"] = pairs.mi_p.sum(where=here).coalesce(0.0)
        sums[f"{name}_q"] = pairs.mi_q.sum(where=here).coalesce(0.0)
        if pruning.min_shared > 1:
            sums[f"{name}_n"] = pairs.w.count(where=here)
    table = pairs.group_by(["p", "q"]).agg(**sums)
    return table.filter(_enough(table, "xx", "yy", pruning) | _enough(table, "xy", "yx", pruning))


def _enough(table: Any, first: str, second: str, pruning: Pruning) -> Any:
    if pruning.min_shared > 1:
        return (table[f"{first}_n"] >= pruning.min_shared) & (table[f"{second}_n"] >= pruning.min_shared)
    return (table[f"{first}_p"] > 0) & (table[f"{second}_p"] > 0)


def rule_scores(shared: Any, totals: Any, pruning: Pruning) -> Any:
    """`lhs`, `rhs`, `turned`, `dirt`, `cover`, `binc`, and `back`, the cover of the inverse rule."""
    of_p = totals.select(p=_.p, x_of_p=_.x, y_of_p=_.y)
    of_q = totals.select(q=_.p, x_of_q=_.x, y_of_q=_.y)
    table = shared.inner_join(of_p, "p").inner_join(of_q, "q")
    rules = []
    for turned, x_match, y_match in _MATCHES:
        pairs = table.filter(_enough(table, x_match, y_match, pruning))
        if not turned:
            pairs = pairs.filter(_.p != _.q)
        first, second = ("y_of_q", "x_of_q") if turned else ("x_of_q", "y_of_q")
        scored = pairs.select(
            p=_.p,
            q=_.q,
            dirt=_mean(_lin(pairs, x_match, "x_of_p", first), _lin(pairs, y_match, "y_of_p", second)),
            p_in_q=_mean(pairs[f"{x_match}_p"] / pairs.x_of_p, pairs[f"{y_match}_p"] / pairs.y_of_p),
            q_in_p=_mean(pairs[f"{x_match}_q"] / pairs[first], pairs[f"{y_match}_q"] / pairs[second]),
        )
        rules += [
            _directed(scored, turned, lhs="p", rhs="q", cover="p_in_q", back="q_in_p"),
            _directed(scored.filter(_.p != _.q), turned, lhs="q", rhs="p", cover="q_in_p", back="p_in_q"),
        ]
    scores = ibis.union(*rules)
    return scores.filter(ibis.greatest(scores.dirt, scores.cover, scores.binc) >= pruning.min_score)


def _lin(pairs: Any, way: str, of_p: str, of_q: str) -> Any:
    return (pairs[f"{way}_p"] + pairs[f"{way}_q"]) / (pairs[of_p] + pairs[of_q])


def _mean(first: Any, second: Any) -> Any:
    return (first * second).sqrt()


def _directed(scored: Any, turned: bool, *, lhs: str, rhs: str, cover: str, back: str) -> Any:
    return scored.select(
        lhs=scored[lhs],
        rhs=scored[rhs],
        turned=ibis.literal(turned),
        dirt=scored.dirt,
        cover=scored[cover],
        binc=_mean(scored.dirt, scored[cover]),
        back=scored[back],
    )
