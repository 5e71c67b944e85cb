"""Where items stand in their stage: a random order that anybody with the seed can make again."""

from hashlib import blake2b


def shuffled_position(seed: int, stage_name: str, key: str) -> int:
    """Where an item stands in its stage: random, and the same whenever it is asked."""
    digest = blake2b(f"{seed}:{stage_name}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def drawn_share(seed: int, stage_name: str, key: str) -> float:
    """A number between 0 and 1 for an item, by chance and the same whenever it is asked: below a share, it is drawn."""
    return shuffled_position(seed, f"{stage_name}:sample", key) / 2**63


def audit_number(seed: int, stage_name: str, key: str) -> float:
    """The random number from 0 to 1 that decides whether an item is in the audit sample: always the same."""
    return shuffled_position(seed, f"{stage_name}:audit", key) / 2**63
