"""Questions as model input, optionally with parts hidden."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chorale.kits.questions.files.questions import MISSING, McqQuestions

Given = Literal["pqa", "pa", "qa", "a"]
"""Parts that a model may see: passage, question and answers, or only some of them."""
GIVEN: tuple[Given, ...] = ("pqa", "pa", "qa", "a")

Gold = Literal["majority", "writer"]
"""Source of the correct answer: the majority of validators and writer, or the writer."""


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question with its correct answer, counted from 0."""

    id: str
    passage: str
    question: str
    options: tuple[str, ...]
    right: int

    def seen(self, given: Given) -> "ChoiceExample":
        """The example with only these parts shown."""
        passage, question = self.passage if "p" in given else "", self.question if "q" in given else ""
        return replace(self, passage=passage, question=question)


def examples_of(questions: McqQuestions, gold: Gold = "majority") -> list[ChoiceExample]:
    """The questions with a correct answer, ordered by ID.

    By majority, the votes of all validators and the writer count. Questions without a majority, or with a majority for
    “invalid”, are left out. Questions without validations keep the writer's answer.
    """
    answers = (questions.majority() if gold == "majority" else questions.writers).tolist()
    return [
        ChoiceExample(name, text.passage, text.question, text.options, right)
        for name, text, right in zip(questions.ids, questions.texts, answers, strict=True)
        if right != MISSING
    ]


def lacking(examples: Sequence[ChoiceExample], given: Given) -> list[str]:
    """IDs of examples that lack a part to be shown."""
    return [
        example.id
        for example in examples
        if ("p" in given and not example.passage.strip()) or ("q" in given and not example.question.strip())
    ]
