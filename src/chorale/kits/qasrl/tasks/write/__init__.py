"""Write questions about a verb and mark their answers: the first step of QA-SRL (Roit et al. 2020).

Everybody asks as many different questions about the marked verb as the sentence answers. Questions keep to a grammar
(`chorale.kits.qasrl.grammar`); answers are spans of the sentence.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.task import Combining, Example, Explaining, Grading, Shape, Simulating, Task
from chorale.kits.qasrl.tasks.shared import form_of
from chorale.kits.qasrl.tasks.shared.answers import (
    MOST_QUESTIONS,
    OwnQuestionAnswer,
    QuestionAnswer,
    canonical,
    misfit,
    presented,
)
from chorale.kits.qasrl.tasks.shared.comparing import combine, distance, feedback, grade, reasons
from chorale.kits.qasrl.tasks.shared.predicates import EXAMPLE, PredicateItem, caption, view_of
from chorale.kits.qasrl.tasks.shared.simulating import guess, imitate
from chorale.kits.qasrl.tasks.shared.tables import ANNOTATORS
from chorale.model import Answer


class WrittenQuestions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: tuple[OwnQuestionAnswer, ...] = Field(min_length=1, max_length=MOST_QUESTIONS)


class ExpertWritten(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: tuple[QuestionAnswer, ...] = Field(min_length=1, max_length=MOST_QUESTIONS)


def _questions(given: Answer) -> int:
    return len(given)


QASRL_WRITE = Task(
    name="qasrl-write",
    version=1,
    summary="Ask about a verb and mark the answers",
    shape=Shape(
        item_type=PredicateItem,
        answer_type=WrittenQuestions,
        gold_type=ExpertWritten,
        misfit=misfit,
        canonical=canonical,
    ),
    form=form_of(Path(__file__).parent, "write.js", view_of),
    examples=(
        Example(
            row=EXAMPLE,
            answer=[
                {"question": "Who sold something?", "answers": [[0, 2]]},
                {"question": "What did someone sell?", "answers": [[3, 4]]},
                {"question": "When did someone sell something?", "answers": [[4, 6]]},
            ],
        ),
        Example(
            row={
                "sentence_id": "example:2",
                "tokens": ["Snow", "might", "cover", "the", "road", "and", "the", "bridge", "."],
                "verb_index": 2,
                "verb": "cover",
                "forms": {
                    "stem": "cover",
                    "presentSingular3rd": "covers",
                    "presentParticiple": "covering",
                    "past": "covered",
                    "pastParticiple": "covered",
                },
            },
            answer=[
                {"question": "What might cover something?", "answers": [[0, 1]]},
                {"question": "What might something cover?", "answers": [[3, 5], [6, 8]]},
            ],
        ),
    ),
    grading=Grading(grade=grade, parts=_questions, most_parts=MOST_QUESTIONS),
    combining=Combining(distance=distance, combine=combine),
    simulating=Simulating(guess=guess, imitate=imitate),
    explaining=Explaining(
        feedback=feedback,
        reasons=reasons,
        present=presented,
        caption=caption,
    ),
    exports=(ANNOTATORS,),
)

__all__ = ["QASRL_WRITE"]
