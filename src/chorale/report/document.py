"""What a report is made of: sections with sentences, tables and figures, and the numbers behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale.metrics.score_table import ScoreTable

NUMBERS_BELOW = "The table below has its numbers."
"""What assistive software reads of a picture, after its title."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with the table behind it. Without a picture, the table stands alone."""

    caption: str
    table: ScoreTable
    svg: str | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawing that needs no table: it has all its words in it."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Bullets:
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text to be copied as it is."""

    text: str


Part = str | ScoreTable | Figure | Drawn | Bullets | Quoted


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading; `json` is what `--json` has of it."""

    name: str
    title: str
    parts: Sequence[Part]
    json: Any


@dataclass(frozen=True, slots=True)
class SectionContent:
    """What a kit's section is made of."""

    tables: Sequence[ScoreTable]
    json: Mapping[str, Any]
    notes: Sequence[str] = ()
    figures: Sequence[Figure] = ()


OTHER_KEYS = ("title", "croissant", "notes")
"""What a report's JSON has beside its sections."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What may be asked of a report."""

    charts: bool = True
    """Whether to draw charts beside their tables."""
    arms: bool = False
    """Whether to show each arm. Callers should record that they did (`note_arms_shown`)."""
    licence: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class StudyReport:
    title: str
    subtitle: str
    sections: Sequence[Section]
    croissant: Mapping[str, Any]
    notes: Sequence[str] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Every number of the report, by section."""
        return {
            "title": self.title,
            **{section.name: section.json for section in self.sections},
            "croissant": dict(self.croissant),
            "notes": list(self.notes),
        }
