"""Which arm of a study a worker is put in: by chance, balanced, and so that it can be recomputed.

Permuted blocks: within every stratum people are taken in the order they come, a block at a time, and a block holds
every arm as often as its weight. The order within a block follows from the study's seed, the stratum and the block's
number.
"""

from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from chorale.model import ArmsSettings


@dataclass(frozen=True, slots=True)
class ArmDraw:
    arm: str
    block: int


def draw_arm(rule: ArmsSettings, seed: int, stratum: str, number: int) -> ArmDraw:
    """The arm of the `number`-th person of a stratum, counted from 0."""
    weights = rule.weights or (1,) * len(rule.names)
    arms = [name for name, weight in zip(rule.names, weights, strict=True) for _ in range(weight)]
    block, place = divmod(number, len(arms))
    digest = blake2b(f"{seed}:arms:{stratum}:{block}".encode(), digest_size=8).digest()
    Random(int.from_bytes(digest, "big")).shuffle(arms)
    return ArmDraw(arms[place], block)
