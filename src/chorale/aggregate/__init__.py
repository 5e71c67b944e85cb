"""From many answers to one: one algorithm a file."""

from chorale.aggregate.confidence import Share, trust_weighted_share

__all__ = ["Share", "trust_weighted_share"]
