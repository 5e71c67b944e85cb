"""When the next item of a worker's stream is gold, how far ahead it is sampled, and when an answer is correct."""

from functools import lru_cache
from math import ceil, expm1, floor, sqrt
from random import Random
from typing import NamedTuple

# Scores are sums of shares: the last digit must not make the difference.
_TOLERANCE = 1e-9


def lowest_correct(pass_score: float) -> float:
    """The lowest score of a correct answer to gold.

    >>> 0.7 + 0.2 + 0.1 < 1.0, 0.7 + 0.2 + 0.1 >= lowest_correct(1.0)
    (True, True)
    """
    return pass_score - _TOLERANCE


def gold_due(seed: int, served: int, share: float) -> bool:
    """Whether the item after `served` others should be gold.

    The gaps between gold items are sampled with the worker's own seed, uniformly between 1 and 2/share - 1. So the
    share is kept in the long run, nobody works for long without gold, and a gold item says little about when the next
    comes: it may be the very next item. A worker enters in the middle of a gap, so that gold is as likely at any place.
    """
    if share <= 0:
        return False
    # In doubling steps, so that what is remembered serves for many items.
    return served in _places(seed, share, 1 << max(6, served.bit_length()))


@lru_cache(maxsize=4096)
def _places(seed: int, share: float, end: int) -> frozenset[int]:
    """All places of a stream before its end where gold comes."""
    gaps = Random(seed)
    longest = 2 / share - 1
    # Of a gap that is found by chance, long ones are the likelier; somewhere in it the worker enters.
    position = gaps.random() * sqrt(1 + gaps.random() * (longest * longest - 1))
    places = set()
    while position < end:
        places.add(floor(position))
        position += gaps.uniform(1, longest)
    return frozenset(places)


FEWEST_AHEAD = 4
"""Gold items that the next is drawn from, about."""
ITEMS_AHEAD = 16
"""Items that the next is drawn from, about, and at the least."""
MOST_ITEMS_AHEAD = 400
"""Items that the next is drawn from at the most: a search passes all of them."""


class Ahead(NamedTuple):
    """How many items, and how many gold items, the next one is sampled from, on average."""

    items: float
    gold: float


def ahead(share: float, *, compares_workers: bool = False) -> Ahead:
    """How far ahead items and gold are sampled, for a share of gold among a worker's items.

    Both kinds stand in an order that is the same for everybody, and each is complete once enough workers had it.
    Sampled from the front in proportion to their share, both come equally early, equally often and in an equally loose
    order. So the time and order in which workers get them do not reveal which is gold. Where there is no gold, nothing
    is to be hidden. Where workers are measured by each other (`stage.quality`), their order is loose as well: what they
    met before may sway an answer, and is not to sway all answers alike.
    """
    if share <= 0:
        return Ahead(ITEMS_AHEAD if compares_workers else 1, 1)
    gold = max(FEWEST_AHEAD, ITEMS_AHEAD * share / (1 - share))
    return Ahead(min(gold * (1 - share) / share, MOST_ITEMS_AHEAD), gold)


def stopping_chance(places: float) -> float:
    """The probability that a search stops at each place, if it is to go this many `places` ahead on average.

    The search goes an exponential way and takes what stands at its end. So gold, with few places ahead, is passed in
    the same proportion as items, with many. One in `places` would stop sooner among few, and complete gold faster.

    >>> round(stopping_chance(4), 3), round(stopping_chance(36), 4)
    (0.221, 0.0274)
    """
    return -expm1(-1 / places)


class GoldLeft(NamedTuple):
    """How many times gold and items of a stage are still to be shown."""

    begun: int
    """Gold that some workers have seen, and as many as see an item have not."""
    fresh: int
    """Gold that nobody has seen."""
    items: int


class GoldPlan(NamedTuple):
    """How much gold workers get from here on, and which."""

    share: float
    opens: bool = True
    """Whether gold may be shown that nobody has seen."""
    repeats: bool = False
    """Whether gold that was shown as often as items are is shown again."""


def gold_plan(share: float, left: GoldLeft, judgments: int) -> GoldPlan:
    """How much gold to show so that gold and items end together, and no gold is shown more or less often than items.

    The share is as asked for, as long as there is enough gold. Towards the end no more gold is begun unless at least
    half of the `judgments` that each takes will come. Once all items are complete, gold that few have seen would stand
    out. What was begun then comes a little more often, or a little less often, than the share says.

    >>> gold_plan(0.1, GoldLeft(6, 300, 900), 3), gold_plan(0.1, GoldLeft(6, 44, 950), 3)
    (GoldPlan(share=0.1, opens=True, repeats=False), GoldPlan(share=0.05, opens=True, repeats=False))
    >>> gold_plan(0.1, GoldLeft(6, 300, 42), 3)
    GoldPlan(share=0.125, opens=False, repeats=False)
    """
    due = left.items * share / (1 - share)
    there = left.begun + left.fresh
    if left.fresh and there < due:
        return GoldPlan(there / (there + left.items))
    if left.fresh and left.begun + judgments / 2 <= due:
        return GoldPlan(share)
    both = left.begun + left.items
    most = min(MOST_TIMES_THE_SHARE * share, MOST_SHARE)
    return GoldPlan(min(left.begun / both, most) if both else share, opens=False)


MOST_TIMES_THE_SHARE = 2
MOST_SHARE = 0.75
"""How much the share of gold may rise at the end of a stage, and up to which share."""


def gold_needed(items: int, share: float) -> int:
    """Gold items from which on none has to be shown to more workers than an item is.

    >>> gold_needed(900, 0.1)
    100
    """
    return ceil(items * share / (1 - share) - _TOLERANCE)
