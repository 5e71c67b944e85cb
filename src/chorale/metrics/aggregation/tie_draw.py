"""The draw that decides a tie, without NumPy: a server that only weighs votes starts without it."""

from hashlib import blake2b

TIE = 1e-9
"""Probabilities closer than this are the same number computed in another order."""


def draw_of(seed: int, *names: str) -> int:
    """A random number above 0 from the seed and some names, to break a tie on its own."""
    digest = blake2b("\0".join((str(seed), *names)).encode(), digest_size=7).digest()
    return 1 + int.from_bytes(digest, "big")
