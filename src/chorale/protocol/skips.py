"""The number of items a worker may still skip."""

from math import floor

from chorale.model import SkipSettings


def skips_left(rule: SkipSettings, answered: int, skipped: int) -> int:
    """The number of skips left after these numbers of answers and skips.

    >>> skips_left(SkipSettings(), answered=10, skipped=4)
    3
    """
    return max(0, rule.first + floor(rule.share * answered + 1e-9) - skipped)
