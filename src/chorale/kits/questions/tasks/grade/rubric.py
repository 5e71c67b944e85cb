"""The criteria of the grading rubric, and the points of every answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from chorale.model.wording import worded


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    ask: str
    levels: Mapping[str, str]
    """Levels as stored and in words, from one end of the scale to the other."""
    points: tuple[float, ...]
    """Points of each level, from 0 to 1. The paper averages grades without stating their values; these are ours."""


RUBRIC = (
    Criterion(
        "answerable",
        worded("Does the text give exactly one correct answer?"),
        {"yes": worded("Yes"), "label": worded("Yes, but not the one the writer marked"), "no": worded("No")},
        (1.0, 0.5, 0.0),
    ),
    Criterion(
        "reading",
        worded("How closely do you need to read the text to answer it?"),
        {
            "none": worded("Not at all"),
            "words": worded("A few words or a sentence"),
            "sentences": worded("A few sentences"),
            "whole": worded("The whole text"),
            "again": worded("Possibly more than once"),
        },
        (0.0, 0.25, 0.5, 0.75, 1.0),
    ),
    Criterion(
        "creative",
        worded("How creative is it?"),
        {"not": worded("Not at all"), "little": worded("A little"), "fairly": worded("Fairly"), "very": worded("Very")},
        (0.0, 1 / 3, 2 / 3, 1.0),
    ),
    Criterion(
        "distracting",
        worded("Could the wrong options mislead someone who only skims the text?"),
        {"yes": worded("Yes"), "no": worded("No")},
        (1.0, 0.0),
    ),
)
CRITERIA: Mapping[str, Criterion] = {one.name: one for one in RUBRIC}
_POINTS = {one.name: dict(zip(one.levels, one.points, strict=True)) for one in RUBRIC}


@lru_cache(maxsize=64)
def points_of(column: str) -> Mapping[str, float]:
    """Points of each level of a column, which is a criterion followed by the number of the question."""
    return _POINTS[column.rpartition("_")[0]]
