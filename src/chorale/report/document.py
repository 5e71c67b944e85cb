"""The parts of a report: sections with sentences, tables and figures, and the numbers behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale.metrics.score_table import ScoreTable

NUMBERS_IN_TABLE = "The numbers are in a table of this report."
"""The text that screen readers read after a picture's title."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with the table behind it. Without a picture, only the table is shown."""

    caption: str
    table: ScoreTable
    svg: str | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture without a table: the numbers are written in the picture, or in a table of the appendix."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Bullets:
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class PaperParagraph:
    """A paragraph to copy into a paper, with a heading of its own."""

    heading: str
    text: str


Part = str | ScoreTable | Figure | Drawn | Bullets | PaperParagraph


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a heading; `json` is its part of `--json`."""

    name: str
    title: str
    parts: Sequence[Part]
    """The content in the main part of the report; without it, a section is in the appendix only."""
    json: Any
    details: Sequence[Part] = ()
    """The content in the appendix."""


@dataclass(frozen=True, slots=True)
class SectionContent:
    """The content of a kit's section: tables and figures for the main part, details for the appendix."""

    tables: Sequence[ScoreTable]
    json: Mapping[str, Any]
    notes: Sequence[str] = ()
    """Notes on the details, in the appendix."""
    figures: Sequence[Figure] = ()
    details: Sequence[ScoreTable | Figure] = ()
    of_workers: Sequence[ScoreTable] = ()
    """Tables about single workers, for `chorale status` only, never for reports."""
    keys_of_workers: frozenset[str] = frozenset()
    """The keys of `json` that are about single workers."""


OTHER_KEYS = ("title", "croissant", "notes")
"""The keys of a report's JSON that are not sections."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of a report."""

    charts: bool = True
    """Whether to draw charts."""
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
