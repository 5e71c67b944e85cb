"""The questions a parser can ask, in three parts: shape, tense and polarity, and preposition.

The grammar combines the parts, so every question is one that people could have written.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.grammar import NotAQuestion, Slots, parse, render
from chorale.kits.qasrl.grammar.sentence import Clause, conjugated
from chorale.kits.qasrl.grammar.table import table
from chorale.kits.qasrl.metrics.questions import is_modal
from chorale.metrics import FloatArray
from chorale.text.inflections import inflect

_AT_LEAST = 3
"""Minimum number of occurrences to keep a part."""
_MOST_TRIED = 12
_ANY_VERB = "give"
"""Verb used to check grammar. Its five forms all differ, so it accepts every question that any other verb accepts."""


class QuestionShape(NamedTuple):
    """The slots of a question, without tense, polarity and the preposition."""

    wh: str
    subj: str
    passive: bool
    obj: str
    misc: str
    with_preposition: bool

    @classmethod
    def of(cls, slots: Slots) -> "QuestionShape":
        return cls(slots.wh, slots.subj, slots.is_passive, slots.obj, slots.misc, bool(slots.prep))


Polarity = tuple[str, bool, bool, bool]
"""Tense or modal, perfect, progressive and negation of a clause. The voice belongs to the shape."""


def polarity_of(slots: Slots) -> Polarity:
    return slots.tense, slots.is_perfect, slots.is_progressive, slots.is_negated


_Part = TypeVar("_Part", QuestionShape, Polarity, str)


@dataclass(frozen=True, slots=True)
class QuestionInventory:
    """The parts that are frequent enough in training, in a fixed order."""

    shapes: tuple[QuestionShape, ...]
    polarities: tuple[Polarity, ...]
    prepositions: tuple[str, ...]

    @classmethod
    def of(cls, questions: Iterable[Slots], at_least: int = _AT_LEAST) -> "QuestionInventory":
        listed = list(questions)
        return cls(
            _kept(map(QuestionShape.of, listed), at_least),
            _kept(map(polarity_of, listed), at_least),
            _kept((slots.prep for slots in listed if slots.prep), at_least),
        )

    def choose(self, shape: FloatArray, polarity: FloatArray, preposition: FloatArray) -> "list[ChosenQuestion | None]":
        """The likeliest grammatical question of each span, from the logits of all parts, or None.

        First selects the likeliest role, summed over all questions that are equal under STRICT-MATCH, then its
        likeliest wording.
        """
        roles = _roles_of(self.shapes, self.polarities)
        of_shapes, of_polarities = (
            _summed(logits, role) for logits, role in zip((shape, polarity), roles, strict=True)
        )
        shapes, clauses = _best(shape, of_shapes, roles[0]), _best(polarity, of_polarities, roles[1])
        words = preposition.argmax(axis=1).tolist() if self.prepositions else [-1] * len(shape)
        chosen: list[ChosenQuestion | None] = []
        for row, (first, clause, word) in enumerate(zip(shapes, clauses, words, strict=True)):
            likely = self.polarities[clause], self.prepositions[word] if word >= 0 else ""
            place, made = first, _made(self.shapes[first], *likely)
            if made is None:  # Few are ungrammatical. Only then are all combinations ranked.
                order = np.lexsort((-shape[row], -of_shapes[row, roles[0]]))[:_MOST_TRIED].tolist()
                tried = ((other, _made(self.shapes[other], *likely)) for other in order)
                place, made = next((one for one in tried if one[1]), (first, None))
            sure = of_polarities[row, roles[1][clause]] * of_shapes[row, roles[0][place]]
            chosen.append(None if made is None else ChosenQuestion(made, float(sure)))
        return chosen


class ChosenQuestion(NamedTuple):
    slots: Slots
    probability: float
    """Probability that the question asks for the correct role."""


def _role(shape: QuestionShape) -> tuple[str, str, bool, str]:
    return shape.wh, "something" if shape.subj == "it" else shape.subj, shape.passive, shape.obj


def _factuality(polarity: Polarity) -> tuple[bool, bool]:
    tense, _, _, negated = polarity
    return negated, is_modal(tense)


@lru_cache(8)
def _roles_of(shapes: tuple[QuestionShape, ...], polarities: tuple[Polarity, ...]) -> tuple[NDArray[np.int64], ...]:
    """Role number of each shape, and factuality of each polarity."""
    return np.array(_numbered(map(_role, shapes))), np.array(_numbered(map(_factuality, polarities)))


def _numbered(parts: Iterable[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(part, len(numbers)) for part in parts]


def _best(logits: FloatArray, of_group: FloatArray, group: NDArray[np.int64]) -> list[int]:
    """For each row, the likeliest column of its likeliest group."""
    inside = group == of_group.argmax(axis=1)[:, None]
    best: list[int] = np.where(inside, logits, -np.inf).argmax(axis=1).tolist()
    return best


def _summed(logits: FloatArray, group: NDArray[np.int64]) -> FloatArray:
    """Rows × groups: the probability of each group of columns."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 1))
    summed: FloatArray = np.add.reduceat(shares[:, order], starts, axis=1)
    return summed


def _kept(parts: Iterable[_Part], at_least: int) -> tuple[_Part, ...]:
    return tuple(sorted(part for part, count in Counter(parts).items() if count >= at_least))


@lru_cache(2**14)
def _made(shape: QuestionShape, polarity: Polarity, preposition: str) -> Slots | None:
    tense, perfect, progressive, negated = polarity
    clause = Clause(tense, perfect, progressive, negated, shape.passive)
    inverted = bool(shape.subj) or shape.wh not in table()["groups"]["argument"]
    aux, verb = conjugated(clause, inverted=inverted)
    preposition = preposition if shape.with_preposition else ""
    slots = Slots(shape.wh, aux, shape.subj, verb, shape.obj, preposition, shape.misc)
    forms = inflect(_ANY_VERB)
    return None if isinstance(parse(render(slots, forms), forms, preposition.split()), NotAQuestion) else slots


def codes_of(inventory: QuestionInventory, questions: Sequence[Slots]) -> list[tuple[int, int, int]]:
    """The part numbers of each question; −1 for a part that is not in the inventory, or for no preposition."""
    shapes = {shape: place for place, shape in enumerate(inventory.shapes)}
    polarities = {polarity: place for place, polarity in enumerate(inventory.polarities)}
    prepositions = {word: place for place, word in enumerate(inventory.prepositions)}
    return [
        (
            shapes.get(QuestionShape.of(slots), -1),
            polarities.get(polarity_of(slots), -1),
            prepositions.get(slots.prep, -1),
        )
        for slots in questions
    ]
