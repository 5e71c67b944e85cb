"""Random tie-breaking without NumPy, so that a server that only weights votes starts without it."""

from hashlib import blake2b

TIE = 1e-9
"""Probabilities closer than this count as equal, because they may differ by rounding."""


def draw_of(seed: int, *names: str) -> int:
    """A random number above 0, derived from the seed and some names, to break a tie independently of others."""
    digest = blake2b("\0".join((str(seed), *names)).encode(), digest_size=7).digest()
    return 1 + int.from_bytes(digest, "big")
