"""When the next item of a worker's stream is a gold one."""

from math import floor
from random import Random


def gold_due(seed: int, served: int, share: float) -> bool:
    """Whether the item after `served` others should be gold.

    The gaps between gold items are drawn from the worker's own seed, evenly between 1 and 2/share - 1. So the share is
    kept in the long run, nobody goes on for long without gold, and having met gold says little about when the next
    comes: it may be the very next item.
    """
    if share <= 0:
        return False
    gaps = Random(seed)
    longest = 2 / share - 1
    position = gaps.uniform(1, longest) - 1
    while floor(position) < served:
        position += gaps.uniform(1, longest)
    return floor(position) == served
