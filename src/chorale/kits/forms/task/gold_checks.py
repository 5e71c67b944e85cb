"""How a field is compared with gold."""

from enum import StrEnum


class GoldCheck(StrEnum):
    EXACT = "exact"
    """Equal to gold."""
    WITHIN = "within"
    """Near enough by the kind's own measure: `tolerance` of scales and numbers, `match` and `enough` of spans."""
    ONE_OF = "one_of"
    """Gold is a list, and any of it is right."""
    REGEX = "regex"
    """Gold is a regular expression that the whole answer must match, without regard to case."""
    NONE = "none"
    """Gold is shown and not compared."""
