"""Alarms about problems of a running study."""

from dataclasses import dataclass

MOST_NAMED = 5
"""The number of workers, and of items, that pages and the terminal show; they say how many more there are."""


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
