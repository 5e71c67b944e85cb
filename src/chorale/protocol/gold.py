"""When the next item of a worker is gold, how far ahead it is sampled, and when an answer is correct."""

from functools import lru_cache
from math import ceil, expm1, floor, sqrt
from random import Random
from typing import NamedTuple

# Scores are sums of fractions: rounding errors must not decide.
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
    share is kept in the long run, nobody works for long without gold, and a gold item reveals little about the next
    one, which may follow at once. A worker starts in the middle of a gap, so that gold is equally likely at every
    position.
    """
    if share <= 0:
        return False
    # In doubling steps, so that cached positions serve for many items.
    return served in _places(seed, share, 1 << max(6, served.bit_length()))


@lru_cache(maxsize=4096)
def _places(seed: int, share: float, end: int) -> frozenset[int]:
    """All positions of gold up to an end."""
    gaps = Random(seed)
    longest = 2 / share - 1
    # A randomly entered gap is more likely a long one; the worker starts at a random position in it.
    position = gaps.random() * sqrt(1 + gaps.random() * (longest * longest - 1))
    places = set()
    while position < end:
        places.add(floor(position))
        position += gaps.uniform(1, longest)
    return frozenset(places)


FEWEST_AHEAD = 4
"""Minimum of the mean number of gold items from which the next gold item is sampled."""
ITEMS_AHEAD = 16
"""Minimum of the mean number of items from which the next item is sampled, in a stage with gold."""
MOST_ITEMS_AHEAD = 400
"""Maximum number of items from which the next item is sampled, because a search passes all of them."""


class Ahead(NamedTuple):
    """The mean numbers of items and of gold items from which a worker's next item is sampled."""

    items: float
    gold: float


def ahead(share: float, *, compares_workers: bool = False) -> Ahead:
    """How far ahead items and gold are sampled, for a share of gold among a worker's items.

    Both kinds have an order that is the same for everybody, and each item is complete once enough workers have had it.
    Sampling both from the front in proportion to their share makes them come equally early, equally often and in an
    equally random order. So their time and order do not reveal gold. Without gold, nothing must be hidden. If workers
    are compared with each other (`stage.quality`), the order is random as well, so that order effects do not affect all
    answers alike.
    """
    if share <= 0:
        return Ahead(ITEMS_AHEAD if compares_workers else 1, 1)
    gold = max(FEWEST_AHEAD, ITEMS_AHEAD * share / (1 - share))
    return Ahead(min(gold * (1 - share) / share, MOST_ITEMS_AHEAD), gold)


def stopping_chance(places: float) -> float:
    """The probability that a search stops at each position, for a mean distance of this many `places`.

    The distance is exponential. So a search passes the same proportion of gold, which has few positions ahead, as of
    items, which have many. With a probability of 1/`places`, a search among few positions would stop sooner, and gold
    would be complete earlier than items.

    >>> round(stopping_chance(4), 3), round(stopping_chance(36), 4)
    (0.221, 0.0274)
    """
    return -expm1(-1 / places)


class GoldLeft(NamedTuple):
    """Remaining numbers of times that gold and items of a stage are to be shown."""

    begun: int
    """For gold that some workers have seen, but fewer than see an item."""
    fresh: int
    """For gold that nobody has seen."""
    items: int


class GoldPlan(NamedTuple):
    """The share of gold that workers get from here on, and which gold."""

    share: float
    opens: bool = True
    """Whether gold that nobody has seen may be shown."""
    repeats: bool = False
    """Whether gold that was already shown as often as items may be shown again."""


def gold_plan(share: float, left: GoldLeft, judgments: int) -> GoldPlan:
    """Plan the share of gold so that gold and items run out together, and gold is shown as often as items.

    The requested share applies as long as there is enough gold. Towards the end, no new gold is started unless at least
    half of its `judgments` will follow: gold seen by few workers would stand out. The share is then adjusted
    to the gold that was started: it falls, or rises by at most a factor of `MOST_TIMES_THE_SHARE`.

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
"""Maximum factor by which the share of gold may rise at the end of a stage, and the maximum share."""


def gold_needed(items: int, share: float) -> int:
    """The number of gold items needed so that no gold is shown to more workers than an item.

    >>> gold_needed(900, 0.1)
    100
    """
    return ceil(items * share / (1 - share) - _TOLERANCE)
