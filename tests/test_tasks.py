"""The contract every task keeps, built in or not."""

import json
from dataclasses import replace
from random import Random
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, create_model

from chorale.contract import BUILT_IN, AnswerError, Example, ItemError, Seeds, Task, installed_tasks
from chorale.contract.task import NoOptions
from chorale.kits.rules.tasks.entailment import MeaninglessLeft, Outcome, application_outcome
from chorale.model import Judgment, Label, SourceItem

TASKS = pytest.mark.parametrize(
    "task",
    [
        replace(task.configured(task.options_type.model_validate(task.example_options)), examples=task.examples)
        for task in BUILT_IN.values()
    ],
    ids=list(BUILT_IN),
)


def test_built_in_tasks_are_installed() -> None:
    assert set(BUILT_IN) <= set(installed_tasks())
    assert all(name == task.name for name, task in BUILT_IN.items())


@TASKS
def test_examples_round_trip(task: Task) -> None:
    assert task.examples
    for example in task.examples:
        row = task.parse_row(example.row)
        assert task.parse_row(json.loads(json.dumps(row))) == row
        items = task.expand(row, "k1")
        assert items
        for item in items:
            assert task.parse_item(json.loads(json.dumps(item.payload))) == dict(item.payload)
            json.dumps(task.view(item.payload))
        answer = task.parse_answer(example.answer, items[0].payload)
        assert task.parse_answer(json.loads(json.dumps(answer)), items[0].payload) == answer
        assert task.parse_gold(answer, items[0].payload) == answer
        if task.guess is not None:
            view = json.loads(json.dumps(task.view(items[0].payload)))
            assert task.guess(view, answer, Random(1)) == answer
            for rng in (None, Random(1)):
                task.parse_answer(task.guess(view, None, rng), items[0].payload)
        if task.arrange is not None:
            seeds = Seeds.of(1, "stage", "worker", "item")
            assert task.arrange(items[0].payload, seeds) == task.arrange(items[0].payload, seeds)


@TASKS
def test_distance_grade_and_combine_agree(task: Task) -> None:
    answers = [task.parse_answer(example.answer) for example in task.examples]
    for left in answers:
        assert task.distance(left, left) == 0
        assert task.grade(left, left).score == 1
        combined = task.combine([Judgment(f"w{number}", left, 0.8) for number in range(3)])
        assert combined is not None
        assert (combined.answer, combined.confidence) == (left, 1.0)
        for right in answers:
            assert task.distance(left, right) == task.distance(right, left)
            assert (task.grade(left, right).score == 1) == (task.distance(left, right) == 0)
    assert task.combine([]) is None


@TASKS
def test_no_answer_has_more_parts_than_a_budget_is_told(task: Task) -> None:
    counts = [task.parts(task.parse_answer(example.answer)) for example in task.examples]
    assert task.most_parts is None or max(counts) <= task.most_parts


@TASKS
def test_bad_answers_and_rows_are_told_apart(task: Task) -> None:
    bad: Any
    for bad in ({"x": 1}, [[]], "\x00", 10**40, None):
        with pytest.raises(AnswerError, match=r"^must be"):
            task.parse_answer(bad)
    with pytest.raises(ItemError) as refused:
        task.parse_row({})
    assert refused.value.messages


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        (Literal["yes", "no"], "maybe", "must be 'yes' or 'no'"),
        (str, 1, "must be text"),
        (int, "many", "must be a whole number"),
        (float, "many", "must be a number"),
        (bool, "many", "must be true or false"),
        (list[str], "many", "must be a list"),
        (dict[str, str], "many", "must be a table"),
        (Annotated[int, Field(ge=1)], 0, "must be at least 1"),
        (Annotated[int, Field(le=5)], 6, "must be at most 5"),
        (Annotated[int, Field(gt=0)], 0, "must be above 0"),
        (Annotated[int, Field(lt=5)], 5, "must be below 5"),
        (Annotated[str, Field(min_length=1)], "", "must not be empty"),
        (Annotated[str, Field(min_length=3)], "no", "must have at least 3 characters"),
        (Annotated[str, Field(max_length=3)], "maybe", "must have at most 3 characters"),
        (Annotated[str, Field(pattern=r"\S")], " ", "must not be blank"),
        (Annotated[str, Field(pattern=r"^\d{4}$")], "x", r"must match the regular expression ^\d{4}$"),
        (Annotated[list[str], Field(min_length=1)], [], "must have at least one entry"),
        (NoOptions, {"x": 1}, "must have nothing more than is asked for"),
        (Example, {"row": {}}, "must be filled in"),
    ],
)
def test_workers_read_plain_words(kind: Any, given: Any, read: str) -> None:
    answer_type = create_model("Given", answer=(kind, ...))
    with pytest.raises(AnswerError) as refused:
        replace(BUILT_IN["rules-meaningful"], answer_type=answer_type).parse_answer(given)
    assert str(refused.value) == read


@TASKS
def test_the_form_is_there_and_asks_for_an_answer(task: Task) -> None:
    html = task.html
    assert "<script" not in html
    assert " style=" not in html
    if task.module is not None:
        assert "export function mount" in task.module.read_text("utf-8")
        return
    assert 'name="answer' in html
    view = task.view(task.expand(task.parse_row(task.examples[0].row), "k")[0].payload)
    for field in view:
        assert f'data-text="{field}"' in html


def label(answer: str, confidence: float = 1.0, released: bool | None = None) -> Label:
    return Label(answer, confidence, 3, confidence >= 0.7 if released is None else released)


YES, NO, UNSURE = label("yes"), label("no", 0.8), label("yes", 0.6)


@pytest.mark.parametrize(
    ("lhs", "rhs", "entailment", "outcome", "confidence"),
    [
        (YES, YES, label("yes", 0.9), Outcome.ENTAILING, 0.9),
        (YES, YES, label("no", 0.9), Outcome.NON_ENTAILING, 0.9),
        (YES, YES, label("no", 0.6), Outcome.UNCERTAIN, 0.6),
        (YES, YES, None, Outcome.UNFINISHED, None),
        (YES, NO, None, Outcome.NON_ENTAILING, 0.8),
        (YES, UNSURE, None, Outcome.UNCERTAIN, None),
        (UNSURE, YES, None, Outcome.UNCERTAIN, None),
        (UNSURE, NO, None, Outcome.UNCERTAIN, None),
        (NO, None, None, Outcome.SET_ASIDE, 0.8),
        (NO, NO, None, Outcome.SET_ASIDE, 0.8),
        (None, NO, None, Outcome.UNFINISHED, None),
        (YES, None, None, Outcome.UNFINISHED, None),
    ],
)
def test_what_becomes_of_an_application(
    lhs: Label | None, rhs: Label | None, entailment: Label | None, outcome: Outcome, confidence: float | None
) -> None:
    found = application_outcome(lhs, rhs, entailment, 0.7, MeaninglessLeft.SET_ASIDE)
    assert found == (outcome, confidence)


def test_a_meaningless_left_side_can_count_against_the_rule() -> None:
    found = application_outcome(NO, YES, None, 0.7, MeaninglessLeft.NON_ENTAILING)
    assert found == (Outcome.NON_ENTAILING, 0.8)


def test_deriving_needs_both_sides() -> None:
    derive = BUILT_IN["rules-entailment"].derive
    assert derive is not None
    application = {"lhs": "l", "rhs": "r", "rule_lhs": "a", "rule_rhs": "b"}

    def side(name: str, given: Label | None) -> SourceItem:
        number = 1 if name == "lhs" else 2
        return SourceItem(number, f"k:{name}", "k", {"side": name, "application": application}, given)

    (made,) = derive([side("lhs", YES), side("rhs", YES)], 0.7)
    assert (made.key, made.payload, made.sources) == ("k", application, (1, 2))
    for other in (None, NO, UNSURE):
        assert derive([side("lhs", YES), side("rhs", other)], 0.7) == []
    assert derive([side("lhs", YES)], 0.7) == []
    assert derive([side("lhs", label("yes", 0.75)), side("rhs", YES)], 0.8) == []
