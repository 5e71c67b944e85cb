"""What a simulated worker knows about a task: which answers there are, and which is right."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from chorale.contract import Task
from chorale.folder.view_key import view_key
from chorale.model import Answer, UserError

View = Mapping[str, Any]
GUESSES = 7
"""Answers at random to choose from, where answers can't be listed."""


class Knowledge:
    """The right answers, by what a worker sees of an item. Nobody but the simulation has it."""

    def __init__(self, pairs: Iterable[tuple[View, Answer]]) -> None:
        self._answers = {view_key(view): answer for view, answer in pairs}

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self._answers)

    def get(self, view: View) -> Answer | None:
        """The right answer, if it is known."""
        return self.by_key(view_key(view)) if self._answers else None

    def by_key(self, key: str) -> Answer | None:
        """The correct answer to a view with a known key."""
        return self._answers.get(key)


def choices_of(task: Task) -> Sequence[Answer]:
    """All answers a task allows, in the order its form has them.

    Tasks whose answers can't be listed guess them instead (see `prospects`), or need a worker model that makes answers
    up: a crowd takes any function from what a worker sees to an answer.
    """
    choices = task.shape.choices
    if not choices:
        raise UserError(f"the answers of task `{task.name}` can't be listed, so simulated workers can't choose one.")
    return choices


def prospects(task: Task, view: View, known: Answer | None, rng: Random) -> tuple[Answer, Sequence[Answer]]:
    """What somebody who reads an item takes for right, and all they may answer if they do not; first what comes first.

    Where nothing is known, it is one of the choices. Gold may say less than an answer must have: a task that guesses
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
