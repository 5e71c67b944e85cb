"""What may be asked of a report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportOptions:
    charts: bool = True
    """Whether to draw charts beside their tables."""
    arms: bool = False
    """Whether to show each arm. Callers should record that they did (`note_arms_shown`)."""
    licence: str | None = None
    url: str | None = None
