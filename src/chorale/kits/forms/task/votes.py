"""Answers of several people to one field, each with the trust they have."""

from collections.abc import Sequence
from typing import Any

Votes = Sequence[tuple[Any, float]]
"""At least one, and not all without trust."""


def half_of(votes: Votes) -> float:
    """What a majority must exceed."""
    return sum(trust for _, trust in votes) / 2
