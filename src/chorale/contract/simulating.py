"""How simulated workers answer a task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from chorale.model import Answer


class Keeping(NamedTuple):
    """How often a simulated worker keeps what a model suggests."""

    right: float
    wrong: float


class Revision(NamedTuple):
    """A suggestion in front of a simulated worker."""

    suggested: Answer
    truth: Answer
    alone: Answer
    """What they would answer without the suggestion."""


@dataclass(frozen=True)
class Simulating:
    """How simulated workers answer."""

    guess: Callable[[Mapping[str, Any], Answer, Random | None], Answer] | None = None
    """For answers that cannot be listed: from a view, a known answer (or None) and random numbers (or None) to an
    answer. It is like the known answer where there is one, and fixed without random numbers. The random numbers are for
    this answer alone: the next answer gets its own."""
    imitate: Callable[[Mapping[str, Any], Answer, float, Random], Answer] | None = None
    """For answers that can be right in part: from a view, the right answer, an accuracy and random numbers to what
    somebody answers who gets each part right that often."""
    revise: Callable[[Mapping[str, Any], Revision, Keeping, Random], Answer] | None = None
    """For answers of several parts that a model suggests: from a view, the suggestion and what it is compared with, how
    often parts are kept, and random numbers to what somebody submits. Default: the suggestion is kept as a whole, or
    not at all."""


PLAIN_SIMULATING = Simulating()
"""Answers are chosen from a list, and are right or wrong as a whole."""
