"""Parts of a report on questions that are only there when they are asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chorale.metrics.score import Score
from chorale.metrics.score_table import ScoreTable


@dataclass(frozen=True, slots=True)
class McqSection:
    """One part: what `--json` calls it, and what it says."""

    name: str
    json: Mapping[str, Any]
    tables: Sequence[ScoreTable]
    notes: Sequence[str] = field(default=())


def with_sections(scored: Score, sections: Sequence[McqSection]) -> Score:
    """A result with more parts at its end."""
    return replace(
        scored,
        json={**scored.json, **{one.name: one.json for one in sections}},
        tables=[*scored.tables, *(table for one in sections for table in one.tables)],
        notes=[*scored.notes, *(note for one in sections for note in one.notes)],
    )
