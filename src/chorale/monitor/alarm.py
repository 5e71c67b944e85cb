"""What an alarm is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that is not as it should be, and what to do about it."""

    kind: str
    title: str
    advice: str
    workers: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    """Stage and key."""
    stages: tuple[str, ...] = ()
    """The names of those it is about; none if it is about all."""
    serious: bool = False
