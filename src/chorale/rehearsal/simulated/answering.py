"""Possible and correct answers for simulated workers."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from random import Random
from typing import Any

from chorale.contract import Task
from chorale.folder.view_key import view_key
from chorale.model import Answer
from chorale.rehearsal.simulated.chance import Chance
from chorale.rehearsal.simulated.knowledge import Knowledge
from chorale.rehearsal.simulated.models import Hardness, draw_hardness
from chorale.rehearsal.simulated.qualities import fair_grade

MOST_PLAUSIBLE = 50
GUESSES = 15
LOWEST_QUALITY = 0.5
"""Lowest quality of an answer about which nothing is known."""


class AnswerSheet:
    """One stage's answers, for one crowd.

    If the correct answer of an item is unknown, a random answer is treated as correct, and accuracy is not reported. If
    answers can't be listed, as in free text, the task guesses some for the item. If the task can't guess, people choose
    from the known answers to other items and the answers of the task's examples. Item difficulty has the standard
    deviation `spread`. Items with the same view have the same correct answer and difficulty.
    """

    def __init__(
        self, task: Task, known: Iterable[tuple[Mapping[str, Any], Answer]], seed: str, spread: float = 0.0
    ) -> None:
        pairs = list(known)
        self._task = task
        self._guess = task.simulating.guess
        self._known = Knowledge(pairs)
        self._seed = seed
        self._chance = Chance()
        self._spread = spread
        self._hardness: dict[str, Hardness] = {}
        self._prospects: dict[str, tuple[Answer, Sequence[Answer]]] = {}
        self._graded: dict[str, tuple[Answer, Sequence[Answer]]] = {}
        self._listed = listed_answers(task)
        self._choices: Sequence[Answer] = self._listed or plausible_answers(task, (answer for _, answer in pairs))

    def prospects(self, payload: str, view: Mapping[str, Any]) -> tuple[Answer, Sequence[Answer]]:
        """The answer of a perfect worker, and all possible answers; `payload` is the stored item."""
        prospects = self._prospects.get(payload)
        if prospects is None:
            prospects = self._prospects[payload] = self._worked_out(view)
        return prospects

    def fair_grade(self, payload: str, view: Mapping[str, Any], quality: float) -> tuple[Answer, Sequence[Answer]]:
        """The fair grade of an item of known quality, and the possible answers."""
        graded = self._graded.get(payload)
        if graded is None:
            truth, choices = self.prospects(payload, view)
            if self._known.get(view) is None:
                truth = fair_grade(self._task, choices, quality)
            graded = self._graded[payload] = truth, choices
        return graded

    def likely_grade(self, payload: str, view: Mapping[str, Any]) -> tuple[Answer, Sequence[Answer]]:
        """A grade for an item of unknown quality, and the possible answers: few answers are bad."""
        self._chance.seed(f"{self._seed}:quality:{view_key(view)}")
        return self.fair_grade(payload, view, LOWEST_QUALITY + (1 - LOWEST_QUALITY) * self._chance.random())

    def hardness(self, payload: str, view: Mapping[str, Any]) -> Hardness | None:
        """The difficulty of an item, shared by all workers; None if all items are equally hard."""
        if not self._spread:
            return None
        hardness = self._hardness.get(payload)
        if hardness is None:
            self._chance.seed(f"{self._seed}:hardness:{view_key(view)}")
            hardness = self._hardness[payload] = draw_hardness(self._spread, self._chance)
        return hardness

    def _worked_out(self, view: Mapping[str, Any]) -> tuple[Answer, Sequence[Answer]]:
        key = view_key(view)
        known = self._known.by_key(key)
        # Hashed, since the guesses keep it.
        seed = blake2b(f"{self._seed}:{key}".encode(), digest_size=16).hexdigest()
        chance = self._chance
        chance.seed(seed)
        if self._guess is None:
            return (chance.choice(self._choices) if known is None else known), self._choices
        # Known answers may lack required fields: the task fills in the rest.
        guesses = self._listed or _Guesses(partial(self._guess, view, None), chance, seed)
        return self._guess(view, known, chance), guesses


class _Guesses(Sequence[Answer]):
    """Possible answers, made up only when needed: most simulated answers are correct and need none."""

    def __init__(self, guess: Callable[[Random | None], Answer], chance: Chance, seed: str) -> None:
        self._guess = guess
        self._chance = chance
        self._seed = seed
        self._made: dict[int, Answer] = {}

    def __len__(self) -> int:
        return GUESSES + 1

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index <= GUESSES:
            raise IndexError(index)
        if index not in self._made:
            if index:
                self._chance.seed(f"{self._seed}:{index}")
            self._made[index] = self._guess(self._chance if index else None)
        return self._made[index]


def listed_answers(task: Task) -> Sequence[Answer] | None:
    """All possible answers, also for a form with one choice; None if they can't be listed."""
    if task.shape.choices is not None:
        return task.shape.choices
    fields = task.shape.answer_schema.get("properties", {})
    if len(fields) != 1 or list(fields) != list(task.shape.answer_schema.get("required", ())):
        return None
    [(name, field)] = fields.items()
    return [{name: value} for value in field["enum"]] if "enum" in field else None


def plausible_answers(task: Task, known: Iterable[Answer]) -> list[Answer]:
    """Some valid answers of the task, each once."""
    distinct: dict[str, Answer] = {}
    for answer in (*(example.answer for example in task.examples), *known):
        distinct.setdefault(json.dumps(answer, sort_keys=True, ensure_ascii=False), answer)
        if len(distinct) == MOST_PLAUSIBLE:
            break
    return list(distinct.values())
