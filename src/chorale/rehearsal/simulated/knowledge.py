"""The knowledge of simulated workers: possible and correct answers."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from chorale.contract import Task
from chorale.folder.view_key import view_key
from chorale.model import Answer, UserError

View = Mapping[str, Any]
GUESSES = 7
"""Number of random answers to choose from, if answers can't be listed."""


class Knowledge:
    """The correct answers, by the view of an item. Only the simulation has them."""

    def __init__(self, pairs: Iterable[tuple[View, Answer]]) -> None:
        self._answers = {view_key(view): answer for view, answer in pairs}

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self._answers)

    def get(self, view: View) -> Answer | None:
        """The correct answer, if known."""
        return self.by_key(view_key(view)) if self._answers else None

    def by_key(self, key: str) -> Answer | None:
        """The correct answer to a view with a known key."""
        return self._answers.get(key)


def choices_of(task: Task) -> Sequence[Answer]:
    """All answers of a task, in the order of its form.

    Tasks whose answers can't be listed guess them (see `prospects`), or need a worker model that makes up answers: a
    crowd accepts any function from a view to an answer.
    """
    choices = task.shape.choices
    if not choices:
        raise UserError(f"The answers of task `{task.name}` can't be listed, so simulated workers can't choose one.")
    return choices


def prospects(task: Task, view: View, known: Answer | None, rng: Random) -> tuple[Answer, Sequence[Answer]]:
    """The correct answer of an item for a worker who reads it, and all possible answers in order.

    If the correct answer is unknown, one of the choices replaces it. Gold may lack required fields: a task that guesses
    fills in the rest.
    """
    if task.simulating.guess is None:
        choices = choices_of(task)
        return (rng.choice(choices) if known is None else known), choices
    guesses = [
        task.simulating.guess(view, None, None),
        *(task.simulating.guess(view, None, rng) for _ in range(GUESSES)),
    ]
    return task.simulating.guess(view, known, rng), guesses
