"""Assigns workers to arms: randomly, balanced, and reproducibly.

It uses permuted blocks: within every stratum, people fill blocks in the order of arrival, and a block contains every
arm in proportion to its weight. The size of a block and the order within it follow from a seed, the stratum and the
block's number. docs/protocols.md publishes the algorithm.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from random import Random

from chorale.model import ArmsSettings

_AT_ONCE = 256
"""Number of blocks whose sizes are computed and cached together."""


@dataclass(frozen=True, slots=True)
class ArmDraw:
    arm: str
    block: int


def draw_arm(rule: ArmsSettings, seed: int, stratum: str, number: int) -> ArmDraw:
    """The arm of the `number`-th person of a stratum, counted from 0."""
    weights = rule.weights or (1,) * len(rule.names)
    once = [name for name, weight in zip(rule.names, weights, strict=True) for _ in range(weight)]
    if len(rule.blocks) == 1:
        size = len(once) * rule.blocks[0]
        return ArmDraw(_block(once, rule, seed, stratum, number // size)[number % size], number // size)
    first = 0
    while number >= (ends := _ends(len(once), rule.blocks, seed, stratum, first))[-1]:
        number -= ends[-1]
        first += _AT_ONCE
    place = bisect_right(ends, number)
    arms = _block(once, rule, seed, stratum, first + place)
    return ArmDraw(arms[number - (ends[place - 1] if place else 0)], first + place)


@lru_cache(maxsize=1024)
def _ends(once: int, blocks: tuple[int, ...], seed: int, stratum: str, first: int) -> tuple[int, ...]:
    """The ends of blocks, counted from the start of the `first`."""
    sizes = (once * _times(blocks, seed, stratum, block) for block in range(first, first + _AT_ONCE))
    return tuple(accumulate(sizes))


def _times(blocks: tuple[int, ...], seed: int, stratum: str, block: int) -> int:
    """The multiple of the weights in a block."""
    return blocks[_number(f"{seed}:arms:{stratum}:{block}:size") % len(blocks)]


def _block(once: list[str], rule: ArmsSettings, seed: int, stratum: str, block: int) -> list[str]:
    """The arms of a block in their order."""
    arms = once * _times(rule.blocks, seed, stratum, block)
    Random(_number(f"{seed}:arms:{stratum}:{block}")).shuffle(arms)
    return arms


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
