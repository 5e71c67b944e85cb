"""Alarms: problems of a running study."""

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
    """The names of the stages it is about; empty if it is about all."""
    serious: bool = False
