"""When the next item of a worker's stream is a gold one, and when an answer to it is correct."""

from functools import lru_cache
from math import floor
from random import Random

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

    The gaps between gold items are drawn from the worker's own seed, evenly between 1 and 2/share - 1. So the share is
    kept in the long run, nobody goes on for long without gold, and having met gold says little about when the next
    comes: it may be the very next item.
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
    position = gaps.uniform(1, longest) - 1
    places = set()
    while position < end:
        places.add(floor(position))
        position += gaps.uniform(1, longest)
    return frozenset(places)
