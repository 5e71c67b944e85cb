"""Writing multiple-choice questions about a passage (Nangia et al. 2021, sections 3.1 and 3.2).

With `justify`, writers also explain every question in a few sentences. Hints appear while they write and never block
submission. `rubric` and `hints` can be turned off, because they would train the writers of a trial.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.combined import Combined
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
    LONGEST_TEXT,
    LONGEST_WHY,
    McqPassage,
    QuestionsOptions,
    questions_in,
    questions_type,
    same_questions,
)
from chorale.kits.questions.tasks.prompting import writing
from chorale.kits.questions.tasks.shared import answer_type, page_of
from chorale.kits.questions.tasks.write.filler import good_questions, worsened
from chorale.kits.questions.tasks.write.tables import WRITTEN_TABLE
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Answer, Judgment, NewItem, Payload
from chorale.model.wording import worded

_HERE = Path(__file__).parent


class WriteOptions(QuestionsOptions):
    justify: bool = Field(
        default=False,
        description="Whether writers also explain every question, in the fields `why_1`, `why_2` and so on.",
    )
    rubric: bool = Field(
        default=True, description="Whether the page has a short rubric with a good and a bad example above the form."
    )
    hints: bool = Field(
        default=True, description="Whether hints appear while people write, for example about copied words."
    )


class PassageItem(BaseModel):
    """All other columns of a row are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    passage: McqPassage


def _expand(row: Payload, key: str) -> list[NewItem]:
    """Rows with the same passage belong together: several people write about it, but nobody twice."""
    text = " ".join(row["passage"].split())
    return [NewItem(key=key, payload=row, group=f"text-{sha256(text.encode()).hexdigest()[:16]}")]


def _view(payload: Payload) -> dict[str, Any]:
    return {"passage": payload["passage"]}


def _combine(judgments: Sequence[Judgment]) -> Combined | None:
    """Questions are not merged. With several answers, that of the worker with the highest gold accuracy is used."""
    if len(judgments) == 1:
        return Combined(judgments[0].answer, 1.0)
    answers: dict[Hashable, Answer] = {json.dumps(one.answer, sort_keys=True): one.answer for one in judgments}
    ordered = sorted(judgments, key=lambda judgment: judgment.worker)
    votes = ((json.dumps(one.answer, sort_keys=True), one.trust) for one in ordered)
    share = trust_weighted_share(votes, ordered[0].draw if ordered else 0)
    # The text of one person is not a vote that others could confirm.
    return None if share is None else Combined(answers[share.answer], 1.0)


def _grade(answer: Answer, gold: Answer) -> GradeResult:
    """The fraction of equal questions. Only simulations have questions to compare with."""
    differ = _different(answer, gold)
    return GradeResult(1 - len(differ) / max(1, _parts(gold)), tuple(f"question {number} differs" for number in differ))


def _distance(left: Answer, right: Answer) -> float:
    return len(_different(left, right)) / max(1, _parts(left), _parts(right))


def _different(left: Answer, right: Answer) -> list[int]:
    ours, theirs = ({one.number: one for one in questions_in(answer)} for answer in (left, right))
    return [number for number in sorted({*ours, *theirs}) if ours.get(number) != theirs.get(number)]


def _parts(answer: Answer) -> int:
    return sum(name.startswith("question_") for name in answer)


def _quoted(_passage: Payload, answer: Answer) -> str:
    """Every question with its options, and the option its writer marked as correct."""
    return " · ".join(
        f"“{question.text}” "
        + "; ".join(
            f"({letter}{', correct' if question.right == f'option{place}' else ''}) {text}"
            for place, (letter, text) in enumerate(zip("abcdefgh", question.options, strict=False), 1)
        )
        for question in questions_in(answer)
    )


def _task(options: WriteOptions) -> Task:
    shape = questions_type("Questions", options, passage=False, right=True, why=options.justify)

    def guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
        questions: Answer = known or good_questions(view["passage"], options, rng, justify=options.justify)
        return questions

    def imitate(view: Mapping[str, Any], answer: Answer, able: float, rng: Random) -> Answer:
        return worsened(view["passage"], answer, options, able, rng)

    return Task(
        name="mcq-write",
        version=1,
        summary=worded("Write questions about a text"),
        shape=Shape(item_type=PassageItem, answer_type=answer_type(shape), expand=_expand),
        form=Form(
            page=page_of(_HERE, options=options, longest=LONGEST_TEXT, longest_why=LONGEST_WHY),
            module=_HERE / "write.js",
            style=_HERE / "write.css",
            view=_view,
            # Ten for the question, two for each option.
            written_words=10 + 2 * options.choices,
        ),
        examples=_EXAMPLES,
        options=Options(model=WriteOptions, configure=_task, example={"justify": True}),
        grading=Grading(grade=_grade, parts=_parts, most_parts=options.questions),
        combining=Combining(distance=_distance, combine=_combine),
        deriving=Deriving(source_problem=same_questions),
        simulating=Simulating(guess=guess, imitate=imitate),
        explaining=Explaining(quote=_quoted),
        prompting=writing(options, justify=options.justify),
        exports=(WRITTEN_TABLE,),
    )


_EXAMPLES = (
    Example(
        row={
            "passage": "The museum is free on the first Sunday of the month. The second, guards say, is quiet.",
            "genre": "travel",
        },
        answer={
            "question_1": "When would somebody who dislikes crowds go?",
            "options_1": [
                "A week after entry costs nothing",
                "When no ticket is needed",
                "On the last day of the month",
                "Before the guards arrive",
            ],
            "right_1": "option1",
            "why_1": "Free entry draws people on the first Sunday, and the guards call the second one quiet.",
            "question_2": "What does the passage leave open?",
            "options_2": [
                "How much a ticket costs",
                "Whether guards are there",
                "Whether one can get in for nothing",
                "On which day it is free",
            ],
            "right_2": "option1",
            "why_2": "No price is named; the other three are all answered by one of the sentences.",
        },
    ),
    Example(
        row={"passage": "Two of the three keys fit the same lock. Nobody knows what the third is for."},
        answer={
            "question_1": "How many locks can be opened for certain?",
            "options_1": ["At least a single one", "No fewer than two", "Precisely three", "None of them"],
            "right_1": "option1",
            "why_1": "Two keys share a lock, and the third may fit nothing.",
            "question_2": "Which key could be thrown away without loss?",
            "options_2": ["Either of a matching pair", "Only the unknown one", "All of them", "Not one"],
            "right_2": "option1",
            "why_2": "Both keys of the pair do the same, so one is enough; the unknown one may matter.",
        },
    ),
)
# The examples are of writing with explanations, which is the larger form.
MCQ_WRITE = _task(WriteOptions(justify=True))
