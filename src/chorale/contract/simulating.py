"""How simulated workers answer a task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from chorale.model import Answer


class Keeping(NamedTuple):
    """How often a simulated worker keeps a model's suggestion."""

    right: float
    wrong: float


class Revision(NamedTuple):
    """A suggestion shown to a simulated worker."""

    suggested: Answer
    truth: Answer
    alone: Answer
    """Their answer without the suggestion."""


@dataclass(frozen=True)
class Simulating:
    """How simulated workers answer."""

    guess: Callable[[Mapping[str, Any], Answer, Random | None], Answer] | None = None
    """For answers that cannot be listed. Takes a view, a known answer (or None) and random numbers (or None). Returns
    an answer that matches the known answer, if there is one. Without random numbers, the result is always the same.
    Each answer gets its own random numbers."""
    imitate: Callable[[Mapping[str, Any], Answer, float, Random], Answer] | None = None
    """For answers that can be partly correct. Takes a view, the correct answer, an accuracy and random numbers. Returns
    an answer in which each part is correct with that probability."""
    revise: Callable[[Mapping[str, Any], Revision, Keeping, Random], Answer] | None = None
    """For suggested answers with several parts. Takes a view, a `Revision` (the suggestion, the correct answer, and the
    worker's own answer), the probabilities of keeping parts, and random numbers. Returns the submitted answer. Default:
    the suggestion is kept completely or not at all."""
    unanswered: tuple[str, ...] = ()
    """Elements of the form that `guess` leaves empty, such as `<crowd-input>`. Simulations of the study warn about
    them."""

    def warning(self, stage: str) -> str | None:
        """A sentence on the elements that simulated workers leave empty in a stage; None if they answer everything."""
        if not self.unanswered:
            return None
        return (
            f"Simulated people leave these elements of stage {stage} empty: {', '.join(self.unanswered)}. Labels and "
            "agreement of a simulation do not include them. Answer a few items yourself with `chorale serve`."
        )


PLAIN_SIMULATING = Simulating()
"""The default: answers are chosen from a list, and are right or wrong as a whole."""
