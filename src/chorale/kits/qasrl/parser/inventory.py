"""The questions a parser can ask, in three parts: what is asked for, the clause's tense and polarity, a preposition.

The parts are put together by the grammar, so every question that comes out is one that people could have written.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from chorale.kits.qasrl.grammar import NotAQuestion, Slots, parse, render
from chorale.kits.qasrl.grammar.sentence import Clause, conjugated
from chorale.kits.qasrl.grammar.table import table
from chorale.metrics import FloatArray
from chorale.text.inflections import inflect

_AT_LEAST = 3
"""Times a part must be seen to be kept."""
_MOST_TRIED = 12
_ANY_VERB = "give"
"""Its five forms all differ: a question is grammatical for it if it is for any verb."""


class Shape(NamedTuple):
    """What a question asks for, without tense, polarity and the preposition itself."""

    wh: str
    subj: str
    passive: bool
    obj: str
    misc: str
    with_preposition: bool

    @classmethod
    def of(cls, slots: Slots) -> "Shape":
        return cls(slots.wh, slots.subj, slots.is_passive, slots.obj, slots.misc, bool(slots.prep))


Polarity = tuple[str, bool, bool, bool]
"""Of a clause: tense or modal, perfect, progressive, negated. The voice belongs to the shape."""


def polarity_of(slots: Slots) -> Polarity:
    return slots.tense, slots.is_perfect, slots.is_progressive, slots.is_negated


_Part = TypeVar("_Part", Shape, Polarity, str)


@dataclass(frozen=True, slots=True)
class QuestionInventory:
    """The parts that were seen often enough in training, in a fixed order."""

    shapes: tuple[Shape, ...]
    polarities: tuple[Polarity, ...]
    prepositions: tuple[str, ...]

    @classmethod
    def of(cls, questions: Iterable[Slots], at_least: int = _AT_LEAST) -> "QuestionInventory":
        listed = list(questions)
        return cls(
            _kept(map(Shape.of, listed), at_least),
            _kept(map(polarity_of, listed), at_least),
            _kept((slots.prep for slots in listed if slots.prep), at_least),
        )

    def slots(self, shape: FloatArray, polarity: FloatArray, preposition: FloatArray) -> Slots | None:
        """The likeliest grammatical question, from the scores of all parts; None if no likely one is grammatical."""
        clause = self.polarities[int(polarity.argmax())]
        word = self.prepositions[int(preposition.argmax())] if self.prepositions else ""
        for place in islice(np.argsort(-shape, kind="stable").tolist(), _MOST_TRIED):
            made = _made(self.shapes[place], clause, word)
            if made is not None:
                return made
        return None


def _kept(parts: Iterable[_Part], at_least: int) -> tuple[_Part, ...]:
    return tuple(sorted(part for part, count in Counter(parts).items() if count >= at_least))


@lru_cache(2**14)
def _made(shape: Shape, polarity: Polarity, preposition: str) -> Slots | None:
    tense, perfect, progressive, negated = polarity
    clause = Clause(tense, perfect, progressive, negated, shape.passive)
    inverted = bool(shape.subj) or shape.wh not in table()["groups"]["argument"]
    aux, verb = conjugated(clause, inverted=inverted)
    preposition = preposition if shape.with_preposition else ""
    slots = Slots(shape.wh, aux, shape.subj, verb, shape.obj, preposition, shape.misc)
    forms = inflect(_ANY_VERB)
    return None if isinstance(parse(render(slots, forms), forms, preposition.split()), NotAQuestion) else slots


def codes_of(inventory: QuestionInventory, questions: Sequence[Slots]) -> list[tuple[int, int, int]]:
    """The numbers of each question's parts; −1 for one that is not in the inventory, or no preposition."""
    shapes = {shape: place for place, shape in enumerate(inventory.shapes)}
    polarities = {polarity: place for place, polarity in enumerate(inventory.polarities)}
    prepositions = {word: place for place, word in enumerate(inventory.prepositions)}
    return [
        (
            shapes.get(Shape.of(slots), -1),
            polarities.get(polarity_of(slots), -1),
            prepositions.get(slots.prep, -1),
        )
        for slots in questions
    ]
