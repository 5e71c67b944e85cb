"""Grading of written questions with the rubric of Nangia et al. (2021, figure 2)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from pydantic import Field, create_model

from chorale.contract.exporting import StageResults, TaskExport
from chorale.contract.peoples_grades import Marks
from chorale.contract.reveal import Reveal
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
    questions_in,
    questions_type,
    same_questions,
    shown_questions,
)
from chorale.kits.questions.tasks.grade.prompting import grading
from chorale.kits.questions.tasks.grade.rubric import CRITERIA, RUBRIC, points_of
from chorale.kits.questions.tasks.shared import STRICT, answer_type, combine_parts, page_of
from chorale.model import Answer, Payload
from chorale.model.wording import worded

_OWN_ANSWER = "answer"
"""Name of the field for the grader's own answer, followed by the number of the question."""


def _rubric_part(answer: Answer) -> Iterator[tuple[str, str]]:
    """The rubric grades of an answer, without the grader's own answers to the questions."""
    return ((name, level) for name, level in answer.items() if name.rpartition("_")[0] in CRITERIA)


def _rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    for item in stage.items:
        origin = stage.origin(item)
        for judgment in stage.judgments(item):
            for name, level in _rubric_part(judgment.answer):
                criterion, _, number = name.rpartition("_")
                yield {
                    "task": f"{item.key}/{number}/{criterion}",
                    "worker": judgment.worker,
                    "label": list(CRITERIA[criterion].levels).index(level) + 1,
                    "criterion": criterion,
                    "level": level,
                    "points": points_of(name)[level],
                    "question_id": f"{item.key}/{number}",
                    "writer": origin.worker if origin else None,
                    "arm": origin.arm if origin else None,
                    "stage": origin.stage if origin else None,
                }


GRADES_TABLE = TaskExport(
    name="mcq-grades",
    summary="all grades of every question and grader, one row per criterion, as CSV",
    file_name="mcq-grades.csv",
    columns=("task", "worker", "label", "criterion", "level", "points", "question_id", "writer", "arm", "stage"),
    rows=_rows,
    describes={
        "task": "The graded question and the criterion.",
        "worker": "Participant ID of the grader.",
        "label": "The level as a number, from 1.",
        "criterion": "Criterion of the rubric.",
        "level": "The level that the grader chose.",
        "points": "Points of the level, from 0 to 1.",
        "question_id": "Unique ID of the question in this study.",
        "writer": "Participant ID of the writer.",
        "arm": "Arm of the writer.",
        "stage": "Stage in which the question was written.",
    },
)


_HERE = Path(__file__).parent


class GradeOptions(QuestionsOptions):
    answer_first: bool = Field(
        default=False,
        description="Whether graders answer every question themselves, in the fields `answer_1`, `answer_2` and so "
        "on. They see which option the writer marked as correct only after they have answered.",
    )


def _everything(payload: Payload) -> dict[str, Any]:
    """The questions, and the options their writer marked as correct."""
    return {**shown_questions(payload), **_writers_answers(payload)}


def _writers_answers(payload: Payload) -> dict[str, Any]:
    """The option the writer marked as correct, and the explanation, if any."""
    view: dict[str, Any] = {}
    for question in questions_in(payload):
        place = int((question.right or "option1").removeprefix("option"))
        view[f"right_{question.number}"] = "abcdefgh"[place - 1]
        view[f"why_{question.number}"] = question.why or ""
    return view


def _marks(answer: Answer) -> Marks:
    return Marks({column: points_of(column)[level] for column, level in _rubric_part(answer)})


def _grade(answer: Answer, gold: Answer) -> GradeResult:
    known = dict(_rubric_part(gold))
    wrong = [name for name, right in known.items() if answer.get(name) != right]
    reasons = (
        f"question {number}, “{CRITERIA[criterion].ask}”: answered {_level_in_words(criterion, answer.get(name))}; "
        f"the correct answer is {_level_in_words(criterion, known[name])}"
        for name in wrong
        for criterion, _, number in (name.rpartition("_"),)
    )
    return GradeResult(1 - len(wrong) / len(known), tuple(reasons))


def _level_in_words(criterion: str, level: str | None) -> str:
    return "nothing" if level is None else f"“{CRITERIA[criterion].levels[level]}”"


def _distance(left: Answer, right: Answer) -> float:
    """Mean distance of two graders over all criteria; 1 is the full length of a scale."""
    ours, theirs = dict(_rubric_part(left)), dict(_rubric_part(right))
    apart = [
        abs(_place(name, ours[name]) - _place(name, theirs[name])) if name in ours and name in theirs else 1.0
        for name in sorted({*ours, *theirs})
    ]
    return sum(apart) / len(apart)


def _place(name: str, level: str) -> float:
    levels = list(CRITERIA[name.rpartition("_")[0]].levels)
    return levels.index(level) / (len(levels) - 1)


def _quoted(_written: Payload, answer: Answer) -> str:
    """The grades of every question, each with its level in words."""
    by_question: dict[str, list[str]] = {}
    for name, level in answer.items():
        criterion, _, number = name.rpartition("_")
        words = CRITERIA[criterion].levels[level].lower() if criterion in CRITERIA else level
        by_question.setdefault(number, []).append(f"{criterion.replace('_', ' ')}: {words}")
    return " · ".join(f"question {number}: {', '.join(grades)}" for number, grades in by_question.items())


def _as_the_writer(view: Mapping[str, Any], options: GradeOptions) -> dict[str, str]:
    """Own answers of simulated graders: the writer's answer, unless they make an error."""
    if not options.answer_first:
        return {}
    rights = ((number, view.get(f"right_{number}")) for number in options.numbers)
    return {f"{_OWN_ANSWER}_{number}": options.names["abcdefgh".index(right)] for number, right in rights if right}


def _task(options: GradeOptions) -> Task:
    items = questions_type("Written", options, passage=True, right=True)
    names = {f"{criterion.name}_{number}": criterion for number in options.numbers for criterion in RUBRIC}
    levels = [(name, tuple(criterion.levels)) for name, criterion in names.items()]
    own = [f"{_OWN_ANSWER}_{number}" for number in options.numbers] if options.answer_first else []
    levels += [(name, (*options.names, INVALID)) for name in own]
    columns: Mapping[str, Any] = {name: (one_of(some), ...) for name, some in levels}
    shape = create_model("Grades", __config__=STRICT, **columns)

    def guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
        marks = {**_as_the_writer(view, options), **(known or {})}
        return {name: marks.get(name) or (rng.choice(some) if rng else some[0]) for name, some in levels}

    def imitate(_view: Mapping[str, Any], answer: Answer, able: float, rng: Random) -> Answer:
        return {name: answer[name] if rng.random() < able else rng.choice(some) for name, some in levels}

    return Task(
        name="mcq-grade",
        version=1,
        summary=worded("How good are these questions?"),
        shape=Shape(item_type=items, answer_type=answer_type(shape)),
        form=Form(
            page=page_of(_HERE, options=options, rubric=RUBRIC, invalid=INVALID, own=_OWN_ANSWER),
            style=_HERE / "grade.css",
            module=_HERE / "grade.js",
            view=shown_questions if options.answer_first else _everything,
            reveal=Reveal(tuple(own), _writers_answers) if options.answer_first else None,
        ),
        examples=_EXAMPLES,
        options=Options(model=GradeOptions, configure=_task),
        grading=Grading(
            grade=_grade,
            marks=_marks,
            criteria=tuple(names),
            asks={name: criterion.ask for name, criterion in names.items()},
        ),
        # Grades are means of points. The majority is only for the table of results.
        combining=Combining(distance=_distance, combine=combine_parts),
        deriving=Deriving(source_problem=same_questions),
        simulating=Simulating(guess=guess, imitate=imitate),
        explaining=Explaining(quote=_quoted),
        prompting=grading(answer_first=options.answer_first),
        exports=(GRADES_TABLE,),
    )


_PASSAGE = (
    "The lighthouse keeper painted the door red every spring. The year he forgot, two boats went past the harbour."
)
_EXAMPLES = (
    Example(
        row={
            "passage": _PASSAGE,
            "question_1": "What does the passage suggest about the colour of the door?",
            "options_1": [
                "Sailors found their way by it",
                "It was chosen by the sailors",
                "It faded within a year",
                "It was the same as that of the boats",
            ],
            "right_1": "option1",
            "question_2": "What colour was the door?",
            "options_2": ["Red", "Blue", "Green", "White"],
            "right_2": "option1",
        },
        answer={
            "answerable_1": "yes",
            "reading_1": "whole",
            "creative_1": "fairly",
            "distracting_1": "yes",
            "answerable_2": "yes",
            "reading_2": "words",
            "creative_2": "not",
            "distracting_2": "no",
        },
    ),
    Example(
        row={
            "passage": _PASSAGE,
            "question_1": "Was he a good man?",
            "options_1": ["Yes", "No", "Perhaps", "Mostly"],
            "right_1": "option3",
            "question_2": "When was the door painted?",
            "options_2": ["Every spring", "Every summer", "Once", "Never"],
            "right_2": "option2",
            "why_2": "One has to notice that it happened again and again.",
        },
        answer={
            "answerable_1": "no",
            "reading_1": "none",
            "creative_1": "little",
            "distracting_1": "no",
            "answerable_2": "label",
            "reading_2": "sentences",
            "creative_2": "very",
            "distracting_2": "yes",
        },
    ),
)
MCQ_GRADE = _task(GradeOptions())
