"""Questions as a reader gets them, perhaps with parts missing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chorale.kits.questions.files.questions import MISSING, McqQuestions

Given = Literal["pqa", "pa", "qa", "a"]
"""What a reader may see: passage, question and answers, or only some of them."""
GIVEN: tuple[Given, ...] = ("pqa", "pa", "qa", "a")

Gold = Literal["majority", "writer"]
"""Whose answer is right: that of a majority of validators and writer together, or the writer's."""


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question with its right answer, counted from 0."""

    id: str
    passage: str
    question: str
    options: tuple[str, ...]
    right: int

    def seen(self, given: Given) -> "ChoiceExample":
        """What is left of it when only so much is shown."""
        passage, question = self.passage if "p" in given else "", self.question if "q" in given else ""
        return replace(self, passage=passage, question=question)


def examples_of(questions: McqQuestions, gold: Gold = "majority") -> list[ChoiceExample]:
    """The questions that have a right answer, in the order of their ids.

    By majority, all votes and the writer's are counted; a question without a majority, or that most hold invalid, is
    left out. One that nobody validated has its writer's answer.
    """
    answers = (questions.majority() if gold == "majority" else questions.writers).tolist()
    return [
        ChoiceExample(name, text.passage, text.question, text.options, right)
        for name, text, right in zip(questions.ids, questions.texts, answers, strict=True)
        if right != MISSING
    ]


def lacking(examples: Sequence[ChoiceExample], given: Given) -> list[str]:
    """The ids of examples that lack a part which is to be shown."""
    return [
        example.id
        for example in examples
        if ("p" in given and not example.passage.strip()) or ("q" in given and not example.question.strip())
    ]
