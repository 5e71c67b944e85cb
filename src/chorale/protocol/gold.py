"""When the next item of a worker's stream is a gold one."""

from math import floor
from random import Random


def gold_due(seed: int, served: int, share: float) -> bool:
    """Whether the item after `served` others should be gold.

    The stream is cut into stretches of 1/share items, and each stretch holds one gold item at a position drawn from
    the worker's own seed: the share is exact in the long run, no worker goes long without gold, and the positions
    can't be guessed.
    """
    if share <= 0:
        return False
    stretch = floor(served * share)
    # Stretches begin at whole items, so the one around `served` may be a neighbour of the one computed.
    for number in (stretch - 1, stretch, stretch + 1):
        begin, end = floor(number / share), floor((number + 1) / share)
        if begin <= served < end:
            return served == begin + floor(Random(f"{seed}:{number}").random() * (end - begin))
    return False
