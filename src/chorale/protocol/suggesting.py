"""Who sees a model's suggestions, and which of them are wrong on purpose."""

from hashlib import blake2b

from chorale.model import StageModels


def suggests_to(rule: StageModels, arm: str | None) -> bool:
    """Whether a worker of this arm sees suggestions."""
    return rule.role == "suggest" and (not rule.arms or arm in rule.arms)


def wrong_on_purpose(rule: StageModels, seed: int, stage: str, worker: str, item: str) -> bool:
    """Whether the suggestion at a worker's gold item is wrong on purpose, determined by the seed.

    >>> rule = StageModels(role="suggest", wrong=0.5)
    >>> sum(wrong_on_purpose(rule, 1, "main", "w1", f"g{number}") for number in range(100))
    50
    """
    digest = blake2b(f"{seed}:{stage}:{worker}:{item}:wrong".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < rule.wrong * 2**64
