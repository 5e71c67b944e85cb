"""The number of items a worker may still skip. Items whose time runs out count as skipped."""

from math import floor

from chorale.model import SkipSettings


def skips_left(rule: SkipSettings, answered: int, skipped: int) -> int:
    """The number of skips left after these numbers of answers and skips.

    >>> skips_left(SkipSettings(), answered=10, skipped=4)
    3
    """
    return max(0, _allowed(rule, answered) - skipped)


def skips_exceeded(rule: SkipSettings, answered: int, skipped: int) -> bool:
    """Whether a worker skipped more than they may, which is possible only by letting items expire.

    >>> skips_exceeded(SkipSettings(), answered=0, skipped=5), skips_exceeded(SkipSettings(), answered=0, skipped=6)
    (False, True)
    """
    return skipped > _allowed(rule, answered)


def _allowed(rule: SkipSettings, answered: int) -> int:
    return rule.first + floor(rule.share * answered + 1e-9)
