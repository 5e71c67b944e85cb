"""Random numbers for something small, such as an item: seeded by a text, and only a few are used."""

from hashlib import blake2b
from random import Random
from typing import Any

_BITS = 512
_MORE_BITS = 64
"""More than a choice needs: with so many, none is taken more often than another by one in a billion billions."""


class Chance(Random):
    """Bits of a hash of its text, and of that hash, and so on.

    To seed a `Random` with a text takes as long as to draw hundreds of numbers from it. Most items need two or three.

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
        # What `Random` draws choices and samples by. It would ask for bits again and again until they are below.
        bits = n.bit_length() + _MORE_BITS
        return self.getrandbits(bits) * n >> bits

    def random(self) -> float:
        return self.getrandbits(53) * 2**-53

    def getstate(self) -> Any:
        """Nor can it be copied: what `Random` would keep is not what this one goes by."""
        raise NotImplementedError("seed it with the text instead")

    def setstate(self, state: Any) -> None:
        raise NotImplementedError("seed it with the text instead")
