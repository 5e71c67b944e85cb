"""Questions as a reader gets them, perhaps with parts missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chorale.kits.questions.files.questions import McqQuestions
from chorale.kits.questions.metrics import DISCARDED, outcomes_of

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
        return ChoiceExample(
            self.id,
            self.passage if "p" in given else "",
            self.question if "q" in given else "",
            self.options,
            self.right,
        )


def examples_of(questions: McqQuestions, gold: Gold = "majority") -> list[ChoiceExample]:
    """The questions that have a right answer, in the order of their ids.

    By majority, all votes and the writer's are counted; a question without a majority, or that most hold invalid, is
    left out. One that nobody validated has its writer's answer.
    """
    examples = []
    for place, text in enumerate(questions.texts):
        right = int(questions.writers[place])
        if gold == "majority":
            votes = tuple(questions.votes[place].tolist())
            right = outcomes_of(votes, right, drawn=max(1, sum(votes)))[0].gold
        if right != DISCARDED:
            examples.append(ChoiceExample(questions.ids[place], text.passage, text.question, text.options, right))
    return examples


def lacking(examples: Sequence[ChoiceExample], given: Given) -> list[str]:
    """The ids of examples that lack a part which is to be shown."""
    return [
        example.id
        for example in examples
        if ("p" in given and not example.passage.strip()) or ("q" in given and not example.question.strip())
    ]
