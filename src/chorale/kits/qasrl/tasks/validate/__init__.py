"""Validation of another writer's questions about a verb, following the protocol of the QA-SRL Bank's Dense set.

Items are the questions of one writer about a verb, without the answers (`of = "answers"` of a writing stage). Each
validator marks their own answers or calls the question invalid (FitzGerald et al. 2018). A question is valid if enough
validators agree; its answers are all spans that any of them marked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from pydantic import Field

from chorale.contract.combined import Combined
from chorale.contract.exporting import StageResults
from chorale.contract.task import (
    Combining,
    Deriving,
    Example,
    Explaining,
    GradeResult,
    Grading,
    Options,
    Shape,
    Simulating,
    Task,
)
from chorale.kits.qasrl.files import JUDGES, VALID
from chorale.kits.qasrl.tasks.shared import form_of
from chorale.kits.qasrl.tasks.shared.answers import MOST_QUESTIONS, OwnSpans, QuestionAnswer, Spans, in_words, misplaced
from chorale.kits.qasrl.tasks.shared.comparing import agreement
from chorale.kits.qasrl.tasks.shared.predicates import (
    EXAMPLE,
    PredicateItem,
    StrictModel,
    caption,
    only_predicate,
    view_of,
)
from chorale.kits.qasrl.tasks.shared.prompting import VALIDATING
from chorale.kits.qasrl.tasks.shared.simulating import own_answers, some_words
from chorale.kits.qasrl.tasks.shared.tables import SENTENCES, BankQuestion, bank_table, behind_each, gold_standard_of
from chorale.model import Answer, Judgment, Payload, SourceItem
from chorale.model.wording import worded

_OFTEN_VALID = 0.85
_ALMOST = 1e-9


class QasrlValidateOptions(StrictModel):
    valid: float = Field(
        default=VALID / JUDGES,
        gt=0,
        le=1,
        description="Fraction of a question's validators who must judge it valid. Default: five of six, as in the "
        "evaluation of the QA-SRL Bank's Dense set, where the writer is one of the six. With this default, up to five "
        "validators must all judge it valid; 0.8 means four of five.",
    )


class AskedQuestions(PredicateItem):
    """A predicate with the questions of one writer."""

    questions: tuple[QuestionAnswer, ...] = Field(min_length=1, max_length=MOST_QUESTIONS)


class QuestionVerdict(StrictModel):
    """The judgment of a validator on one question."""

    question: str = Field(min_length=1, max_length=200)
    valid: bool
    answers: Spans = ()


class OwnVerdict(QuestionVerdict):
    answers: OwnSpans = ()


class Validated(StrictModel):
    answer: tuple[OwnVerdict, ...] = Field(min_length=1, max_length=MOST_QUESTIONS)


class ExpertValidated(StrictModel):
    answer: tuple[QuestionVerdict, ...] = Field(min_length=1, max_length=MOST_QUESTIONS)


def _gathered(item: Payload, answers: Sequence[Answer], _rng: Random) -> dict[str, Any]:
    asked = [one for answer in answers for one in answer if not one.get("redundant")]
    kept = [{name: value for name, value in one.items() if name != "redundant"} for one in asked]
    return {**only_predicate(item), "questions": kept}


def _view(item: Payload) -> dict[str, Any]:
    return {**view_of(item), "questions": [one["question"] for one in item["questions"]]}


def _misfit(given: Answer, item: Payload) -> str | None:
    if [judged["question"] for judged in given] != [judged["question"] for judged in item["questions"]]:
        return "must have one judgment per question, in the same order"
    for number, judged in enumerate(given, 1):
        wrong = misplaced(judged["answers"], item)
        if wrong is None and judged["valid"] and not judged["answers"]:
            wrong = "has no answer: mark it in the sentence, or mark the question as not answerable"
        if wrong is None and not judged["valid"] and judged["answers"]:
            wrong = "has an answer but is marked as not answerable: remove one of them"
        if wrong is not None:
            return f"is invalid: question {number} {wrong}"
    return None


def _alike(left: Mapping[str, Any], right: Mapping[str, Any]) -> float:
    if left["valid"] != right["valid"] or left["question"] != right["question"]:
        return 0.0
    return agreement([left], [right]) if left["valid"] else 1.0


def _agreement(left: Answer, right: Answer) -> float:
    pairs = list(zip(left, right, strict=False))
    return sum(_alike(*pair) for pair in pairs) / max(len(left), len(right))


def _distance(left: Answer, right: Answer) -> float:
    return max(0.0, 1 - _agreement(left, right))


def _grade(answer: Answer, gold: Answer) -> GradeResult:
    score = _agreement(answer, gold)
    reasons = [
        f"answered “{expert['question']}” differently from the expert"
        if judged["valid"] and expert["valid"]
        else f"“{expert['question']}” {'can' if expert['valid'] else 'cannot'} be answered"
        for judged, expert in zip(answer, gold, strict=False)
        if _alike(judged, expert) < 1
    ]
    return GradeResult(score, tuple(reasons))


def _combiner(share: float) -> Any:
    def combine(judgments: Sequence[Judgment]) -> Combined | None:
        weight = sum(judgment.trust for judgment in judgments)
        if weight <= 0:
            return None
        settled, sure = [], []
        for number, first in enumerate(judgments[0].answer):
            given = [(judgment.answer[number], judgment.trust) for judgment in judgments]
            called_valid = sum(trust for one, trust in given if one["valid"]) / weight
            valid = called_valid >= share - _ALMOST
            # Workers with a gold accuracy of 0 contribute no spans.
            spans = {(start, end) for one, trust in given if valid and trust > 0 for start, end in one["answers"]}
            answers = [list(span) for span in sorted(spans)]
            settled.append({"question": first["question"], "valid": valid, "answers": answers})
            sure.append(called_valid if valid else 1 - called_valid)
        return Combined(settled, fmean(sure))

    return combine


def _presented(item: Payload, given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    valid = [one for one in given if one["valid"]]
    invalid = [one["question"] for one in given if not one["valid"]]
    return {"questions": in_words(item, valid), "invalid": "\n".join(invalid)}


def _guess(view: Mapping[str, Any], known: Answer, rng: Random | None) -> Answer:
    if known is not None:
        return own_answers(known)
    judged = []
    for question in view["questions"]:
        valid = rng is None or rng.random() < _OFTEN_VALID
        answers = ([[0, 1]] if rng is None else [some_words(view, rng)]) if valid else []
        judged.append({"question": question, "valid": valid, "answers": answers})
    return judged


def _imitate(view: Mapping[str, Any], truth: Answer, accuracy: float, rng: Random) -> Answer:
    """Judges each question independently with the given accuracy."""
    other = _guess(view, None, rng)
    right = own_answers(truth)
    return [one if rng.random() < accuracy else another for one, another in zip(right, other, strict=True)]


def _bank_questions(items: Sequence[SourceItem], results: StageResults) -> Iterator[BankQuestion]:
    """Every question with all judgments: its writer's own answers, and those of the validators."""
    for item, writers in behind_each(items, results):
        validators = results.judgments(item)
        for number, asked in enumerate(item.payload["questions"]):
            own = tuple((start, end) for start, end in asked["answers"])
            judged: list[tuple[str, tuple[tuple[int, int], ...] | None]] = [(writer.worker, own) for writer in writers]
            for validator in validators:
                judgment = validator.answer[number]
                spans = tuple((start, end) for start, end in judgment["answers"])
                judged.append((validator.worker, spans if judgment["valid"] else None))
            yield BankQuestion(item.payload, asked["question"], tuple(w.worker for w in writers), tuple(judged))


def _valid_ones(item: SourceItem) -> list[Mapping[str, Any]]:
    return [one for one in item.label.answer if one["valid"]] if item.label is not None else []


def _configured(options: QasrlValidateOptions) -> Task:
    return replace(
        QASRL_VALIDATE, combining=replace(QASRL_VALIDATE.combining, combine=_combiner(options.valid)), examples=()
    )


QASRL_VALIDATE = Task(
    name="qasrl-validate",
    version=1,
    summary=worded("Answer questions about a verb"),
    shape=Shape(AskedQuestions, Validated, gold_type=ExpertValidated, misfit=_misfit),
    form=form_of(Path(__file__).parent, "validate.js", _view),
    examples=(
        Example(
            row={
                **EXAMPLE,
                "questions": [
                    {"question": "Who sold something?", "answers": [[0, 2]]},
                    {"question": "Why did someone sell something?", "answers": [[4, 6]]},
                ],
            },
            answer=[
                {"question": "Who sold something?", "valid": True, "answers": [[0, 2]]},
                {"question": "Why did someone sell something?", "valid": False, "answers": []},
            ],
        ),
    ),
    options=Options(model=QasrlValidateOptions, configure=_configured),
    grading=Grading(grade=_grade, parts=len, most_parts=MOST_QUESTIONS),
    combining=Combining(distance=_distance, combine=_combiner(VALID / JUDGES)),
    deriving=Deriving(gather=_gathered),
    simulating=Simulating(guess=_guess, imitate=_imitate),
    explaining=Explaining(present=_presented, caption=caption),
    prompting=VALIDATING,
    exports=(gold_standard_of(_valid_ones), bank_table(_bank_questions), SENTENCES),
)
