"""Alarms about problems of a running study."""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_NAMED = 5
"""The number of workers, and of items, that pages and the terminal list; more are only counted."""


def first_names(names: Sequence[str]) -> str:
    """The first five entries of a list, and the number of the other entries.

    >>> first_names(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


@dataclass(frozen=True, slots=True)
class Alarm:
    """A problem of a study, and what to do about it."""

    kind: str
    title: str
    advice: str
    workers: tuple[str, ...] = ()
    """All workers concerned, the most suspicious first."""
    items: tuple[tuple[str, str], ...] = ()
    """Stage and key."""
    stages: tuple[str, ...] = ()
    """The names of the affected stages; empty for all."""
    serious: bool = False


def alarm_line(alarm: Alarm) -> str:
    """An alarm as a line of the terminal, with its first workers and items."""
    items = first_names([key for _, key in alarm.items])
    named = "; ".join(filter(None, (first_names(alarm.workers), f"items {items}" if items else "")))
    of = f" ({named})" if named else ""
    return f"Warning: {alarm.title}{of}. {alarm.advice}"
