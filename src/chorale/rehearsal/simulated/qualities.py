"""The quality of simulated answers, and its effect on those who use them.

The quality of an answer is its score against that of a perfect worker, from 0 to 1. Only the simulation knows it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract import AnswerError, Task
from chorale.model import Answer

UNCLEAR = 0.5
"""Relative accuracy in judging answers of quality 0, compared with good ones."""
TOLERANCE = 0.25
"""A grade with a larger error teaches nothing."""


def ability_at(accuracy: float, quality: float) -> float:
    """The accuracy in judging an answer of this quality: bad answers are harder to judge."""
    return accuracy * (UNCLEAR + (1 - UNCLEAR) * quality)


def mistakes_explained(grade: float, quality: float) -> float:
    """The fraction of a mistake that a grade explains to its recipient.

    A perfect answer teaches nothing. Worse answers teach more, if their grade is accurate: a wrong grade misses errors
    or criticises what was correct.

    >>> mistakes_explained(0.2, 0.2), mistakes_explained(1.0, 1.0), mistakes_explained(0.9, 0.2)
    (0.8, 0.0, 0.0)
    """
    return max(0.0, 1 - abs(grade - quality) / TOLERANCE) * (1 - quality)


def fair_grade(task: Task, guesses: Sequence[Answer], quality: float) -> Answer:
    """The answer to a rubric that best matches a quality, made from possible answers."""
    marks = task.grading.marks
    if marks is None:
        raise ValueError(f"task `{task.name}` is not a rubric")

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
    """The distance of the mean of some grades from a quality."""
    return abs(sum(criteria.values()) / len(criteria) - quality) if criteria else 1.0


def _criterion_by_criterion(
    graded: Sequence[tuple[dict[str, Any], Mapping[str, float]]], like: dict[str, Any], quality: float
) -> dict[str, Any]:
    """A copy of an answer, with every criterion set to the guess that is closest to the quality."""
    best: dict[str, tuple[float, Any]] = {}
    for guess, criteria in graded:
        for name, mark in criteria.items():
            off = abs(mark - quality)
            if name in guess and (name not in best or off < best[name][0]):
                best[name] = (off, guess[name])
    return {**like, **{name: value for name, (_, value) in best.items()}}
