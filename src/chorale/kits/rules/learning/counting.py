"""Computes the fillers of predicate slots from extractions, weighted by mutual information.

A predicate has two slots, X for the first argument and Y for the second. The mutual information of a filler w and slot
s of predicate p is, following Lin and Pantel (2001),

    mi(p, s, w) = ln( |p, s, w| · |*, s, *| / (|p, s, *| · |*, s, w|) )

where |…| counts extractions and * is a wildcard. Only fillers with mi > 0 are kept, with a margin for rounding, so that
all engines agree.
"""

from typing import Any

import ibis
from ibis import _

from chorale.kits.rules.learning.settings import Normalisation, Pruning

X, Y = 0, 1
_NOTHING = 1e-12
_DETERMINERS = "a|an|the|this|that|these|those|my|your|his|her|its|our|their"


def normalised(extractions: Any, predicates: Normalisation, arguments: Normalisation) -> Any:
    """The valid rows of a table of `arg1`, `predicate`, `arg2` and `count`, with normalised spelling."""
    table = extractions.select(
        arg1=_spelled(extractions.arg1, arguments, determiners=True),
        predicate=_spelled(extractions.predicate, predicates),
        arg2=_spelled(extractions.arg2, arguments, determiners=True),
        count=extractions["count"].cast("int64"),
    )
    return table.filter(_.arg1 != "", _.predicate != "", _.arg2 != "", _["count"] > 0)


def _spelled(text: Any, how: Normalisation, *, determiners: bool = False) -> Any:
    if how == "none":
        return text.strip()
    text = text.lower()
    if how == "plain":
        text = text.re_replace(r"[^\p{L}\p{N}' ]+", " ")
    text = text.re_replace(r"\s+", " ").strip()
    if how == "plain" and determiners:
        text = text.re_replace(rf"^(({_DETERMINERS}) )+", "")
    return text


def slots_of(extractions: Any) -> Any:
    """Frequency of each filler in each slot of each predicate."""
    both = [
        extractions.select(_.predicate, slot=ibis.literal(slot, "int8"), filler=_[column], count=_["count"])
        for slot, column in ((X, "arg1"), (Y, "arg2"))
    ]
    return ibis.union(*both).group_by(["predicate", "slot", "filler"]).agg(count=_["count"].sum().cast("int64"))


def predicates_of(slots: Any, pruning: Pruning) -> Any:
    """The kept predicates, numbered in alphabetical order, with their number of extractions."""
    counted = slots.filter(_.slot == X).group_by("predicate").agg(extractions=_["count"].sum().cast("int64"))
    kept = counted.filter(_.extractions >= pruning.min_predicate)
    return kept.mutate(p=ibis.row_number().over(order_by=kept.predicate).cast("int32"))


def weighed_slots(slots: Any, predicates: Any, extractions: int, pruning: Pruning) -> Any:
    """`p`, `slot`, `filler`, `mi`: the fillers of kept predicates with their mutual information."""
    fillers = slots.group_by(["slot", "filler"]).agg(of_filler=_["count"].sum().cast("int64"))
    kept = slots.filter(_["count"] >= pruning.min_filler).inner_join(predicates, "predicate")
    table = kept.inner_join(fillers, ["slot", "filler"])
    # Divided step by step, because a double cannot hold the product of very large counts exactly.
    share = table["count"].cast("float64") / table.extractions / (table.of_filler.cast("float64") / extractions)
    return table.select(table.p, table.slot, table.filler, mi=share.ln()).filter(_.mi > _NOTHING)


def fillers_of(weighed: Any, pruning: Pruning) -> Any:
    """Fillers that are not too frequent, with their number of slots, numbered in alphabetical order."""
    counted = weighed.group_by("filler").agg(slots=_.count().cast("int64"))
    kept = counted.filter(_.slots <= pruning.max_predicates)
    return kept.mutate(w=ibis.row_number().over(order_by=kept.filler).cast("int32"))


def features_of(weighed: Any, fillers: Any) -> Any:
    """`p`, `slot`, `w`, `slots`, `mi`: the vectors of all slots."""
    table = weighed.inner_join(fillers, "filler")
    return table.select(table.p, table.slot, table.w, table.slots, table.mi)
