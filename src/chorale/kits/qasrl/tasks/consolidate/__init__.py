"""Consolidates the work of two writers into one complete list of questions and answers without duplicates.

Items are made from the answers of a writing stage (`of = "together"`) or read from a file with the sets. The sets are
anonymous and in random order per item.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from pydantic import Field

from chorale.contract.exporting import StageResults
from chorale.contract.task import Deriving, Example, Grading, Shape, Simulating, Task
from chorale.kits.qasrl.metrics.matching import iou
from chorale.kits.qasrl.tasks.shared import form_of
from chorale.kits.qasrl.tasks.shared.answers import MOST_QUESTIONS, QuestionAnswer, canonical, misfit, roles
from chorale.kits.qasrl.tasks.shared.comparing import COMBINING, EXPLAINING, KEPT, grade, groups, kept
from chorale.kits.qasrl.tasks.shared.predicates import EXAMPLE, PredicateItem, StrictModel, only_predicate, view_of
from chorale.kits.qasrl.tasks.shared.prompting import CONSOLIDATING
from chorale.kits.qasrl.tasks.shared.tables import (
    ANNOTATORS,
    DECISION,
    GOLD_STANDARD,
    SENTENCES,
    BankQuestion,
    author_of,
    bank_table,
    behind_each,
)
from chorale.model import Answer, Payload, SourceItem
from chorale.model.wording import worded

MOST_SETS = 10
_SAME = 0.5


class SetsOfQuestions(PredicateItem):
    """A predicate with the questions of each writer."""

    sets: tuple[tuple[QuestionAnswer, ...], ...] = Field(min_length=1, max_length=MOST_SETS)


class SettledQuestion(QuestionAnswer):
    redundant: bool = False
    """Correct, but asks for the same information as another question. Stored but not counted."""


class Consolidated(StrictModel):
    answer: tuple[SettledQuestion, ...] = Field(max_length=MOST_QUESTIONS)


def _gathered(item: Payload, answers: Sequence[Answer], rng: Random) -> dict[str, Any]:
    sets = list(answers)
    rng.shuffle(sets)
    return {**only_predicate(item), "sets": sets}


def _view(item: Payload) -> dict[str, Any]:
    shown = [[{"question": one["question"], "answers": one["answers"]} for one in each] for each in item["sets"]]
    return {**view_of(item), "sets": shown, "groups": groups([_with_slots(each, item) for each in item["sets"]])}


def _with_slots(asked: Sequence[Mapping[str, Any]], item: Payload) -> Sequence[Mapping[str, Any]]:
    """Adds slots, which sets from a file lack. Questions that the grammar does not know are compared by their words."""
    return asked if misfit(asked, item) is not None else canonical(asked, item)


def _guess(view: Mapping[str, Any], known: Answer, _rng: Random | None) -> Answer:
    """The known answer; without one, a simple consolidation of the sets.

    For each group, the first question is kept with its answers, and later ones with the answers they add. The result
    is empty if most writers found nothing to ask.
    """
    if known is not None:
        return known
    if 2 * sum(not written for written in view["sets"]) > len(view["sets"]):
        return []
    settled: dict[str, list[tuple[int, int]]] = {}
    for group in view["groups"]:
        covered: list[tuple[int, int]] = []
        for number, at in group["members"]:
            asked = view["sets"][number][at]
            spans = [(start, end) for start, end in asked["answers"]]
            new = [span for span in spans if all(iou(span, old) < _SAME for old in covered)]
            covered += new
            if new:
                settled.setdefault(asked["question"], []).extend(new)
    return [{"question": question, "answers": sorted(map(list, spans))} for question, spans in settled.items()]


def _imitate(view: Mapping[str, Any], truth: Answer, accuracy: float, rng: Random) -> Answer:
    """Questions that a simulated consolidator keeps: those of several writers, and most of those by one writer.

    Reviewing is easier than writing, so questions by several writers are always kept.
    """
    of_question: dict[str, set[int]] = {}
    for group in view["groups"]:
        writers = {number for number, _ in group["members"]}
        for number, at in group["members"]:
            of_question.setdefault(view["sets"][number][at]["question"], set()).update(writers)
    return [one for one in truth if len(of_question.get(one["question"], ())) > 1 or rng.random() < accuracy]


def _bank_questions(items: Sequence[SourceItem], results: StageResults) -> Iterator[BankQuestion]:
    """Every final question with its writer. The consolidator is recorded as the judge who calls it valid.

    If an answer decided in the console was not given by any consolidator, it replaces their answers.
    """
    for item, written in behind_each(items, results):
        if item.label is None:
            continue
        given = results.judgments(item)
        author = author_of(item.label, given)
        for judgment in [author] if author.worker == DECISION else given:
            for asked in judgment.answer:
                if asked.get("redundant"):
                    continue
                writers = {
                    each.worker for each in written if any(asked["question"] == q["question"] for q in each.answer)
                }
                spans = tuple((start, end) for start, end in asked["answers"])
                sources = tuple(sorted(writers or {judgment.worker}))
                yield BankQuestion(item.payload, asked["question"], sources, ((judgment.worker, spans),))


_WHO = {"question": "Who sold something?", "answers": [[0, 2]]}
_WHAT = {"question": "What did someone sell?", "answers": [[3, 4]]}
_WHEN = {"question": "When was something sold?", "answers": [[4, 6]]}
_ROW = {**EXAMPLE, "sets": [[_WHO, _WHAT], [{**_WHO, "answers": [[1, 2]]}, _WHAT, _WHEN]]}

QASRL_CONSOLIDATE = Task(
    name="qasrl-consolidate",
    version=1,
    summary=worded("Combine two people's questions and answers"),
    shape=Shape(SetsOfQuestions, Consolidated, misfit=misfit, canonical=canonical),
    form=form_of(Path(__file__).parent, "consolidate.js", _view),
    examples=(Example(row=_ROW, answer=[_WHO, _WHAT, _WHEN]), Example(row=_ROW, answer=[_WHAT])),
    grading=Grading(grade=grade, parts=roles, most_parts=MOST_QUESTIONS, kept=kept, criteria=KEPT),
    combining=COMBINING,
    deriving=Deriving(gather=_gathered),
    simulating=Simulating(guess=_guess, imitate=_imitate),
    explaining=EXPLAINING,
    prompting=CONSOLIDATING,
    exports=(GOLD_STANDARD, bank_table(_bank_questions), SENTENCES, ANNOTATORS),
)
