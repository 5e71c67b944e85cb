"""Answers that grade other answers, as numbers."""

from collections.abc import Mapping
from typing import NamedTuple


class Marks(NamedTuple):
    """An answer to a rubric as numbers."""

    criteria: Mapping[str, float]
    """By criterion, between 0 and 1."""
    comments: tuple[str, ...] = ()
    """The grader's comment to the worker."""


class Kept(NamedTuple):
    """The parts of an earlier answer that a later answer keeps."""

    criteria: Mapping[str, float]
    """Shares between 0 and 1, by name."""
    parts: int
    """Number of kept parts, counted as by `Grading.parts`."""
