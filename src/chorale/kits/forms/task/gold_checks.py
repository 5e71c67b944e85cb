"""Comparison of a field with gold."""

from enum import StrEnum


class GoldCheck(StrEnum):
    EXACT = "exact"
    """Equal to gold."""
    WITHIN = "within"
    """Close enough for this kind of field: `tolerance` for scales and numbers, `match` and `enough` for spans."""
    ONE_OF = "one_of"
    """Gold is a list of correct answers."""
    REGEX = "regex"
    """Gold is a regular expression that the whole answer must match, ignoring case."""
    NONE = "none"
    """Any answer is correct, and feedback to workers leaves the gold out."""
