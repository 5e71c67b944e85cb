"""Validation of questions: workers answer questions of other writers without seeing the writer's answer.

Follows Nangia et al. (2021, section 4). Workers can mark a question as invalid or without a correct option.
"""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from pydantic import create_model

from chorale.contract.task import (
    Combining,
    Deriving,
    Example,
    Explaining,
    Form,
    GradeResult,
    Grading,
    Options,
    Shape,
    Simulating,
    Task,
)
from chorale.kits.questions.files.columns import (
    INVALID,
    QuestionsOptions,
    one_of,
    questions_type,
    same_questions,
    shown_questions,
)
from chorale.kits.questions.metrics.wording import likely_answer
from chorale.kits.questions.tasks.prompting import VALIDATING
from chorale.kits.questions.tasks.shared import STRICT, answer_type, combine_parts, page_of
from chorale.kits.questions.tasks.validate.tables import RELEASED_TABLE
from chorale.model import Answer, Payload
from chorale.model.wording import worded

_HERE = Path(__file__).parent


class McqValidateOptions(QuestionsOptions):
    pass


def _grade(answer: Answer, gold: Answer) -> GradeResult:
    """The fraction of questions to which the worker gave the expert's answer."""
    wrong = [name for name, right in gold.items() if answer.get(name) != right]
    reasons = tuple(
        f"question {name.rpartition('_')[2]}: answered {_in_words(answer.get(name))}; "
        f"the correct answer is {_in_words(gold[name])}"
        for name in wrong
    )
    return GradeResult(1 - len(wrong) / len(gold), reasons)


def _in_words(name: Any) -> str:
    if name is None:
        return "nothing"
    return "“no correct option”" if name == INVALID else f"option {'abcdefgh'[int(name.removeprefix('option')) - 1]}"


def _quoted(questions: Payload, answer: Answer) -> str:
    """The chosen option of every question, with its text."""
    quoted = []
    for name, chosen in answer.items():
        number = name.rpartition("_")[2]
        text = (
            "" if chosen == INVALID else f" “{questions[f'options_{number}'][int(chosen.removeprefix('option')) - 1]}”"
        )
        quoted.append(f"question {number}: {_in_words(chosen)}{text}")
    return " · ".join(quoted)


def _distance(left: Answer, right: Answer) -> float:
    """The fraction of questions that two people answer differently."""
    names = sorted({*left, *right})
    return float(sum(left.get(name) != right.get(name) for name in names) / len(names))


class _Guessed(dict[str, str]):
    """Placeholder for an unknown answer."""

    by_words: dict[str, str] | None = None
    """The wrong option that simulated workers choose, the same for all of them."""


def _by_words(view: Mapping[str, Any], options: McqValidateOptions) -> dict[str, str]:
    """The option that simulated workers choose if no answer is known: the one most related to the question."""
    answers = {}
    for number in options.numbers:
        texts = tuple(view[f"option_{number}_{place}"] for place in range(1, options.choices + 1))
        place = likely_answer(view[f"question_{number}"], texts)
        answers[f"answer_{number}"] = INVALID if place is None else options.names[place]
    return answers


def _task(options: McqValidateOptions) -> Task:
    items = questions_type("Questions", options, passage=True, right=False)
    choices = (*options.names, INVALID)
    columns: Mapping[str, Any] = {f"answer_{number}": (one_of(choices), ...) for number in options.numbers}
    names = list(columns)

    def guess(_view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
        answers = known or {}
        guessed = {name: answers.get(name) or (rng.choice(choices) if rng else choices[0]) for name in names}
        return guessed if known else _Guessed(guessed)

    def imitate(view: Mapping[str, Any], answer: Answer, able: float, rng: Random) -> Answer:
        right = answer
        if isinstance(answer, _Guessed):
            right = answer.by_words = answer.by_words or _by_words(view, options)
        return {name: right[name] if rng.random() < able else rng.choice(choices) for name in names}

    return Task(
        name="mcq-validate",
        version=1,
        summary=worded("Which option is right?"),
        shape=Shape(item_type=items, answer_type=answer_type(create_model("Chosen", __config__=STRICT, **columns))),
        form=Form(
            page=page_of(_HERE, options=options, invalid=INVALID),
            style=_HERE / "validate.css",
            view=shown_questions,
        ),
        examples=_EXAMPLES,
        options=Options(model=McqValidateOptions, configure=_task),
        grading=Grading(grade=_grade, gold_parts=options.questions),
        combining=Combining(distance=_distance, combine=combine_parts),
        deriving=Deriving(source_problem=same_questions),
        simulating=Simulating(guess=guess, imitate=imitate),
        explaining=Explaining(quote=_quoted),
        prompting=VALIDATING,
        exports=(RELEASED_TABLE,),
    )


_EXAMPLES = (
    Example(
        row={
            "passage": "The baker closed at noon because the flour had not come. By two, six people had knocked.",
            "question_1": "Why was the shop shut in the afternoon?",
            "options_1": [
                "Something needed for baking was missing",
                "Everything had been sold",
                "Nobody came to buy",
                "The baker was ill",
            ],
            "right_1": "option1",
            "question_2": "How many people entered the shop after noon?",
            "options_2": ["Six", "Two", "Some of those who knocked", "All who knocked"],
            "right_2": "option1",
        },
        answer={"answer_1": "option1", "answer_2": INVALID},
    ),
    Example(
        row={
            "passage": "The new guide did not know that the tower had two staircases, and his group split up.",
            "question_1": "What might the guide have wished for?",
            "options_1": ["A hint from the other guides", "A smaller tower", "A louder voice", "Another profession"],
            "question_2": "What happened to the visitors?",
            "options_2": ["They got separated", "They got stuck", "They complained", "They left early"],
        },
        answer={"answer_1": "option1", "answer_2": "option1"},
    ),
)
MCQ_VALIDATE = _task(McqValidateOptions())
