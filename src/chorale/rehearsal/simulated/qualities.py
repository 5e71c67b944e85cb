"""How good what simulated people make is, and what others make of that.

The quality of an answer is its score by what somebody who never errs would have answered, from 0 to 1. Nobody but the
simulation knows it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract import AnswerError, Task
from chorale.model import Answer

UNCLEAR = 0.5
"""How often people are right about what was made as badly as can be, next to what was made well."""
TOLERANCE = 0.25
"""A grade that is farther off than this teaches nothing."""


def ability_at(accuracy: float, quality: float) -> float:
    """How often somebody is right about something of that quality: what is made badly is hard to judge."""
    return accuracy * (UNCLEAR + (1 - UNCLEAR) * quality)


def mistakes_explained(grade: float, quality: float) -> float:
    """How much of a mistake a grade explains to the person who gets it.

    Of an answer that deserves full marks nothing is to be learned. Of others, the more the worse they are, as long as
    the grade says so: one that is far off misses what was wrong, or finds fault with what was not.

    >>> mistakes_explained(0.2, 0.2), mistakes_explained(1.0, 1.0), mistakes_explained(0.9, 0.2)
    (0.8, 0.0, 0.0)
    """
    return max(0.0, 1 - abs(grade - quality) / TOLERANCE) * (1 - quality)


def fair_grade(task: Task, guesses: Sequence[Answer], quality: float) -> Answer:
    """The answer to a rubric that says best how good something is, made from some answers to choose from."""
    marks = task.grading.marks
    if marks is None:
        raise ValueError(f"task `{task.name}` is no rubric")

    graded = [(guess, marks(guess).criteria) for guess in guesses]
    nearest, given = min(graded, key=lambda one: _off(one[1], quality))
    if not isinstance(nearest, dict):
        return nearest
    put_together = _criterion_by_criterion(graded, nearest, quality)
    try:
        fair = task.shape.parse_answer(put_together)
    except AnswerError:
        # Fields that depend on each other can't be taken from different answers.
        return nearest
    return fair if _off(marks(fair).criteria, quality) <= _off(given, quality) else nearest


def _off(criteria: Mapping[str, float], quality: float) -> float:
    """How far the mean of some grades is from a quality."""
    return abs(sum(criteria.values()) / len(criteria) - quality) if criteria else 1.0


def _criterion_by_criterion(
    graded: Sequence[tuple[dict[str, Any], Mapping[str, float]]], like: dict[str, Any], quality: float
) -> dict[str, Any]:
    """An answer like another, with every criterion as one of the guesses has it that comes nearest to the quality."""
    best: dict[str, tuple[float, Any]] = {}
    for guess, criteria in graded:
        for name, mark in criteria.items():
            off = abs(mark - quality)
            if name in guess and (name not in best or off < best[name][0]):
                best[name] = (off, guess[name])
    return {**like, **{name: value for name, (_, value) in best.items()}}
