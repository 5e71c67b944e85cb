"""Fast random numbers for an item: seeded by a text, for only a few values."""

from hashlib import blake2b
from random import Random
from typing import Any

_BITS = 512
_MORE_BITS = 64
"""More bits than a choice needs, so that the bias is below 1e-18."""


class Chance(Random):
    """Random bits from repeated hashes of a text.

    Seeding a `Random` with a text takes as long as generating hundreds of numbers. Most items need two or three.

    >>> chance = Chance("item 1")
    >>> first = chance.random(), chance.choice("abc"), chance.getrandbits(1000)
    >>> chance.seed("item 1")
    >>> (chance.random(), chance.choice("abc"), chance.getrandbits(1000)) == first
    True
    """

    def seed(self, a: Any = None, version: int = 2) -> None:  # noqa: ARG002 - as `Random` has it
        self._digest = blake2b(("" if a is None else str(a)).encode()).digest()
        self._pool = int.from_bytes(self._digest, "big")
        self._left = _BITS
        self.gauss_next = None

    def getrandbits(self, k: int, /) -> int:
        while self._left < k:
            self._digest = blake2b(self._digest).digest()
            self._pool |= int.from_bytes(self._digest, "big") << self._left
            self._left += _BITS
        bits = self._pool & ((1 << k) - 1)
        self._pool >>= k
        self._left -= k
        return bits

    def _randbelow(self, n: int) -> int:
        # Used by `Random` for choices and samples. Its own version uses rejection sampling.
        bits = n.bit_length() + _MORE_BITS
        return self.getrandbits(bits) * n >> bits

    def random(self) -> float:
        return self.getrandbits(53) * 2**-53

    def getstate(self) -> Any:
        """Not supported: the state of `Random` is not used here."""
        raise NotImplementedError("seed it with the text instead")

    def setstate(self, state: Any) -> None:
        raise NotImplementedError("seed it with the text instead")
