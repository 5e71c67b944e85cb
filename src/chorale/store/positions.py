"""Positions of items in their stage: a random order, reproducible with the seed."""

from hashlib import blake2b


def shuffled_position(seed: int, stage_name: str, key: str) -> int:
    """The position of an item in its stage: random, but the same on every call."""
    digest = blake2b(f"{seed}:{stage_name}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def drawn_share(seed: int, stage_name: str, key: str) -> float:
    """A fixed random number from 0 to 1 for an item: below the share, the item is in the sample."""
    return shuffled_position(seed, f"{stage_name}:sample", key) / 2**63


def audit_number(seed: int, stage_name: str, key: str) -> float:
    """A fixed random number from 0 to 1 for an item, which decides whether it is in the audit sample."""
    return shuffled_position(seed, f"{stage_name}:audit", key) / 2**63
