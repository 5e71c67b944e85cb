"""Writing questions about a verb and marking their answers: the first step of QA-SRL (Roit et al. 2020).

Workers ask every question about the marked verb that the sentence answers. Questions follow a grammar
(`chorale.kits.qasrl.grammar`), and answers are spans of the sentence. An empty list means that there is nothing to ask.
"""

from dataclasses import replace
from pathlib import Path

from pydantic import Field

from chorale.contract.task import Example, Grading, Shape, Simulating, Task
from chorale.kits.qasrl.tasks.shared import form_of
from chorale.kits.qasrl.tasks.shared.answers import (
    MOST_QUESTIONS,
    OwnQuestionAnswer,
    QuestionAnswer,
    as_gold,
    canonical,
    own_misfit,
    roles,
)
from chorale.kits.qasrl.tasks.shared.comparing import COMBINING, EXPLAINING, grade
from chorale.kits.qasrl.tasks.shared.predicates import EXAMPLE, PredicateItem, StrictModel, view_of
from chorale.kits.qasrl.tasks.shared.prompting import WRITING
from chorale.kits.qasrl.tasks.shared.simulating import guess, imitate, revise
from chorale.kits.qasrl.tasks.shared.tables import ANNOTATORS
from chorale.model.wording import worded
from chorale.text.inflections import VerbForms


class WrittenQuestions(StrictModel):
    """Empty if there is nothing to ask: the word is not a verb, or the sentence answers no question about it."""

    answer: tuple[OwnQuestionAnswer, ...] = Field(max_length=MOST_QUESTIONS)


class ExpertWritten(StrictModel):
    answer: tuple[QuestionAnswer, ...] = Field(max_length=MOST_QUESTIONS)


QASRL_WRITE = Task(
    name="qasrl-write",
    version=1,
    summary=worded("Ask about a verb and mark the answers"),
    shape=Shape(
        PredicateItem,
        WrittenQuestions,
        gold_type=ExpertWritten,
        misfit=own_misfit,
        canonical=canonical,
        gold_at=as_gold,
    ),
    form=replace(form_of(Path(__file__).parent, "write.js", view_of), written_words=4, suggests=True),
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
                "forms": VerbForms("cover", "covers", "covering", "covered", "covered").as_bank(),
            },
            answer=[
                {"question": "What might cover something?", "answers": [[0, 1]]},
                {"question": "What might something cover?", "answers": [[3, 5], [6, 8]]},
            ],
        ),
        Example(
            row={
                "sentence_id": "example:3",
                "tokens": ["The", "running", "costs", "were", "low", "."],
                "verb_index": 1,
                "verb": "running",
                "forms": VerbForms("run", "runs", "running", "ran", "run").as_bank(),
            },
            answer=[],
        ),
    ),
    grading=Grading(grade=grade, parts=roles, most_parts=MOST_QUESTIONS),
    combining=COMBINING,
    simulating=Simulating(guess=guess, imitate=imitate, revise=revise),
    explaining=EXPLAINING,
    prompting=WRITING,
    exports=(ANNOTATORS,),
)
