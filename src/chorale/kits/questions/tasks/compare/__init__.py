"""Pairwise comparison of questions by one criterion, as in the quizzes of Nangia et al. (2021, section 3.3)."""

from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from chorale.contract.exporting import Seeds
from chorale.contract.task import Example, Form, Options, Shape, Task
from chorale.kits.questions.files.columns import QuestionsOptions, questions_type, shown_questions
from chorale.kits.questions.tasks.prompting import COMPARING
from chorale.kits.questions.tasks.shared import STRICT, page_of
from chorale.model import Payload
from chorale.model.wording import worded

_HERE = Path(__file__).parent
Criterion = Literal["ambiguous", "difficult", "creative", "distracting"]
ASKED: dict[str, str] = {
    "ambiguous": "Which question is less ambiguous?",
    "difficult": "Which question is more difficult?",
    "creative": "Which question is more creative?",
    "distracting": "Which question has the more misleading options?",
}


class CompareOptions(BaseModel):
    model_config = STRICT

    choices: int = Field(default=4, ge=2, le=8, description="Number of options of each of the two questions.")


class Better(BaseModel):
    model_config = STRICT

    answer: Literal["first", "second"]


def _view(payload: Payload) -> dict[str, Any]:
    return {"asked": ASKED[payload["criterion"]], **shown_questions(payload)}


def _arrange(_payload: Payload, seeds: Seeds) -> dict[str, Any]:
    """Random order of the two questions, per item and worker."""
    order = ["first", "second"]
    Random(f"{seeds.item}:sides").shuffle(order)
    return {"order": order}


def _task(options: CompareOptions) -> Task:
    two = QuestionsOptions(questions=2, choices=options.choices)
    pair = questions_type("TwoQuestions", two, passage=True, right=False)
    items = create_model("Pair", __base__=pair, criterion=(Criterion, ...))
    return Task(
        name="mcq-compare",
        version=1,
        summary=worded("Which of two questions is better?"),
        shape=Shape(item_type=items, answer_type=Better),
        form=Form(
            page=page_of(_HERE, options=two),
            module=_HERE / "compare.js",
            style=_HERE / "compare.css",
            view=_view,
            arrange=_arrange,
        ),
        examples=_EXAMPLES,
        options=Options(model=CompareOptions, configure=_task),
        prompting=COMPARING,
    )


_EXAMPLES = (
    Example(
        row={
            "criterion": "ambiguous",
            "passage": "The choir sang outside, since the hall was being painted. The neighbours asked for more.",
            "question_1": "Why was the concert not held indoors?",
            "options_1": [
                "The usual room was being redone",
                "It was too warm",
                "Too many came",
                "The choir preferred it",
            ],
            "right_1": "option1",
            "question_2": "What was it like?",
            "options_2": ["Nice", "Loud", "Long", "Unusual"],
            "right_2": "option4",
        },
        answer="first",
    ),
    Example(
        row={
            "criterion": "difficult",
            "passage": "The choir sang outside, since the hall was being painted. The neighbours asked for more.",
            "question_1": "Where did the choir sing?",
            "options_1": ["Outside", "In the hall", "In a church", "At a school"],
            "right_1": "option1",
            "question_2": "What would most likely have been missed had the painters come later?",
            "options_2": ["Praise from next door", "A full hall", "A rehearsal", "The new paint"],
            "right_2": "option1",
        },
        answer="second",
    ),
)
MCQ_COMPARE = _task(CompareOptions())
