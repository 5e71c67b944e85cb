"""Alarms about problems of a running study."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alarm:
    """A problem of a study, and what to do about it."""

    kind: str
    title: str
    advice: str
    workers: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    """Stage and key."""
    stages: tuple[str, ...] = ()
    """The names of the affected stages; empty for all."""
    serious: bool = False
