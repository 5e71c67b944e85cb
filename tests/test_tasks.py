"""The contract every task keeps, built in or not."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from itertools import cycle, product
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from chorale.contract import (
    AnswerError,
    Combined,
    Combining,
    Deriving,
    Example,
    Explaining,
    Form,
    GradeResult,
    Grading,
    ItemError,
    Marks,
    Options,
    Reveal,
    Shape,
    Simulating,
    Task,
    TaskExport,
    installed_tasks,
)
from chorale.contract.combined import by_confidence
from chorale.contract.task import NoOptions, as_it_is
from chorale.kits.rules.tasks.entailment import ApplicationOutcome, MeaninglessLeft, application_outcome
from chorale.model import Label, NewItem, SourceItem
from chorale.testing import TASK_CHECKS, ContractError, TaskCheck, check_task

TASKS = pytest.mark.parametrize(
    "task",
    [
        replace(task.configured(task.options.model.model_validate(task.options.example)), examples=task.examples)
        for task in installed_tasks().values()
    ],
    ids=list(installed_tasks()),
)


def test_built_in_tasks_are_installed() -> None:
    assert set(installed_tasks()) <= set(installed_tasks())
    assert all(name == task.name for name, task in installed_tasks().items())


@TASKS
@pytest.mark.parametrize("check", TASK_CHECKS, ids=repr)
def test_every_built_in_task_keeps_its_promises(check: TaskCheck, task: Task) -> None:
    check(task)


@TASKS
def test_an_answer_is_right_exactly_if_it_is_no_distance_away(task: Task) -> None:
    answers = [task.shape.parse_answer(example.answer) for example in task.examples]
    for left, right in product(answers, repeat=2):
        assert (task.grading.grade(left, right).score == 1) == (task.combining.distance(left, right) == 0)


@TASKS
def test_bad_answers_and_rows_are_told_apart(task: Task) -> None:
    bad: Any
    for bad in ({"x": 1}, [[]], "\x00", 10**40, None):
        with pytest.raises(AnswerError, match=r"^Invalid answer: must "):
            task.shape.parse_answer(bad)
    with pytest.raises(ItemError) as refused:
        task.shape.parse_row({})
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
        (NoOptions, {"x": 1}, "must have no other fields"),
        (Example, {"row": {}}, "must be filled in"),
    ],
)
def test_workers_read_plain_words(kind: Any, given: Any, read: str) -> None:
    answer_type = create_model("Given", answer=(kind, ...))
    with pytest.raises(AnswerError) as refused:
        replace(
            installed_tasks()["rules-meaningful"],
            shape=replace(installed_tasks()["rules-meaningful"].shape, answer_type=answer_type),
        ).shape.parse_answer(given)
    assert str(refused.value) == f"Invalid answer: {read}"


# Every check can fail


def changed(**parts: Mapping[str, Any]) -> Task:
    """The rules task with some fields of some parts replaced."""
    task = installed_tasks()["rules-meaningful"]
    return replace(task, **{name: replace(getattr(task, name), **fields) for name, fields in parts.items()})


class Loose(BaseModel):
    """An item that keeps whatever else a row has."""

    model_config = ConfigDict(extra="allow", frozen=True)

    phrase: str


class Anything(BaseModel):
    answer: Any


class Undescribed(BaseModel):
    level: int = 1


def once_each(*values: Any) -> Callable[..., Any]:
    """A function that gives another value each time."""
    left = cycle(values)
    return lambda *_: next(left)


def popping(judgments: Any) -> Combined | None:
    combined = by_confidence(judgments)
    if isinstance(judgments, list):
        judgments.pop()
    return combined


def export(**fields: Any) -> TaskExport:
    plain = TaskExport("t", "A table.", "t.csv", ("a",), lambda _: iter([{"a": 1}]))
    return replace(plain, **fields)


RULES = installed_tasks()["rules-meaningful"]
ROW = RULES.examples[0].row
PAGE = RULES.form.html
_GRADE = installed_tasks()["mcq-grade"]
IN_TWO = replace(
    _GRADE.configured(_GRADE.options.model(answer_first=True)),
    options=Options(),
    examples=tuple(
        replace(one, answer={**one.answer, "answer_1": "option1", "answer_2": "invalid"}) for one in _GRADE.examples
    ),
)


def test_a_task_in_two_steps_keeps_its_promises() -> None:
    check_task(IN_TWO)


BROKEN: list[tuple[str, Task]] = [
    ("description", replace(RULES, name="Rules!")),
    ("description", replace(RULES, version=0)),
    ("description", replace(RULES, summary=" ")),
    ("description", replace(RULES, options=Options(model=Undescribed))),
    ("examples", replace(RULES, examples=())),
    ("examples", replace(RULES, examples=(Example(row=ROW, answer="maybe"),))),
    ("examples", replace(RULES, examples=(Example(row={}, answer="yes"),))),
    ("examples", changed(shape={"expand": lambda row, key: []})),
    ("examples", changed(shape={"canonical": lambda answer, item: {"yes": "no", "no": "yes"}[answer]})),
    ("refusals", changed(shape={"answer_type": Anything})),
    ("refusals", changed(shape={"misfit": lambda answer, item: item["missing"], "answer_type": Anything})),
    ("view", changed(shape={"item_type": Loose}, form={"view": as_it_is})),
    ("view", changed(form={"view": once_each({"phrase": "one"}, {"phrase": "two"})})),
    ("view", changed(form={"view": lambda item: {"phrase": {1, 2}}})),
    ("reveal", changed(form={"reveal": Reveal(("other",), lambda item: {"key": 1}), "page": PAGE + "<p data-reveal>"})),
    ("reveal", replace(IN_TWO, form=replace(IN_TWO.form, reveal=Reveal((), lambda item: {"key": 1})))),
    ("reveal", replace(IN_TWO, form=replace(IN_TWO.form, reveal=Reveal(("answer_1",), IN_TWO.form.view)))),
    ("reveal", replace(IN_TWO, form=replace(IN_TWO.form, page="<p></p>"))),
    ("page", changed(form={"page": PAGE + "<script>alert(1)</script>"})),
    ("page", changed(form={"page": PAGE + '<p style="color: red">'})),
    ("page", changed(form={"page": PAGE + '<img src="https://example.org/a.png">'})),
    ("page", changed(form={"page": PAGE + '<a href="//example.org">'})),
    ("page", changed(form={"page": PAGE.replace('name="answer"', 'name="other"')})),
    ("page", changed(form={"page": PAGE.replace('data-text="phrase"', "")})),
    ("files", changed(form={"module": Path("no-such-module.js")})),
    ("files", changed(form={"style": Path("no-such-style.css")})),
    ("files", changed(form={"module": Path(__file__)})),
    ("arrangement", changed(form={"arrange": once_each({"order": 1}, {"order": 2})})),
    ("grading", changed(grading={"grade": lambda answer, gold: GradeResult(2.0)})),
    ("grading", changed(grading={"grade": lambda answer, gold: GradeResult(0.9)})),
    ("grading", changed(grading={"pass_score": 0.0})),
    ("marks", changed(grading={"criteria": ("clear",)})),
    ("marks", changed(grading={"criteria": ("clear",), "marks": lambda answer: Marks({"clear": 3.0})})),
    ("marks", changed(grading={"criteria": ("clear",), "marks": lambda answer: Marks({"other": 1.0})})),
    ("parts", changed(grading={"parts": lambda answer: 3, "most_parts": 2})),
    ("parts", changed(grading={"parts": lambda answer: -1})),
    ("distance", changed(combining={"distance": lambda left, right: float(left < right)})),
    ("distance", changed(combining={"distance": lambda left, right: 0.5})),
    ("distance", changed(combining={"distance": lambda left, right: 0.0})),
    ("distance", changed(combining={"distance": lambda left, right: 7.0 * (left != right)})),
    ("combining", changed(combining={"combine": lambda judgments: None})),
    ("combining", changed(combining={"combine": lambda judgments: Combined("yes", 1.0)})),
    ("combining", changed(combining={"combine": lambda js: Combined(js[0].answer, 1.0) if js else None})),
    ("combining", changed(combining={"combine": lambda js: Combined(js[0].answer, 0.5) if js else None})),
    ("chosen", changed(combining={"chosen": lambda answer: [answer]})),
    ("chosen", changed(combining={"chosen": lambda answer: (1,)})),
    ("deriving", changed(deriving={"derive": lambda sources, confidence: [NewItem("k", {}, "k")]})),
    ("simulating", changed(simulating={"guess": lambda view, known, rng: "yes"})),
    ("simulating", changed(simulating={"guess": lambda view, known, rng: known or "maybe"})),
    ("simulating", changed(simulating={"imitate": once_each("yes", "no")})),
    ("simulating", changed(simulating={"imitate": lambda *_: "maybe"})),
    ("explaining", changed(explaining={"caption": lambda item: 7})),
    ("explaining", changed(explaining={"present": lambda item, answer: {1, 2}})),
    ("prompting", changed(prompting={"write": lambda view, answer: "no"})),
    ("prompting", changed(prompting={"read": lambda view, given: 1 / 0})),
    ("inputs", changed(combining={"combine": popping})),
    ("inputs", changed(explaining={"caption": lambda item: item.pop("phrase")})),
    ("exports", replace(RULES, exports=(export(file_name="t.xls"),))),
    ("exports", replace(RULES, exports=(export(columns=("a", "b")),))),
    ("exports", replace(RULES, exports=(export(), export()))),
    ("exports", replace(RULES, exports=(export(rows=lambda stage: iter([stage.missing])),))),
]


@pytest.mark.parametrize(("name", "task"), BROKEN, ids=[f"{name}-{n}" for n, (name, _) in enumerate(BROKEN)])
def test_every_check_finds_its_promise_broken(name: str, task: Task) -> None:
    (check,) = (check for check in TASK_CHECKS if check.name == name)
    with pytest.raises(ContractError, match=f", {name}: "):
        check(task)
    with pytest.raises(ContractError, match=f", {name}: "):
        check_task(task)


def test_no_check_is_without_a_task_that_breaks_it() -> None:
    assert {check.name for check in TASK_CHECKS} == {name for name, _ in BROKEN}


@pytest.mark.parametrize(
    "part",
    [Task, Shape, Form, Reveal, Options, Grading, Combining, Deriving, Simulating, Explaining],
    ids=lambda part: part.__name__,
)
def test_every_field_of_a_task_is_documented(part: type) -> None:
    written = (Path(__file__).parent.parent / "docs" / "writing-tasks.md").read_text("utf-8")
    _, _, section = written.partition(f"\n### `{part.__name__}`\n")
    table = section.partition("\n#")[0]
    names = [field.name for field in fields(part)]
    assert len(names) <= 16
    for name in names:
        (row,) = (line for line in table.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.split("|")[3].strip(), f"{part.__name__}.{name} has no docstring"


def label(answer: str, confidence: float = 1.0, released: bool | None = None) -> Label:
    return Label(answer, confidence, 3, confidence >= 0.7 if released is None else released)


YES, NO, UNSURE = label("yes"), label("no", 0.8), label("yes", 0.6)


@pytest.mark.parametrize(
    ("lhs", "rhs", "entailment", "outcome", "confidence"),
    [
        (YES, YES, label("yes", 0.9), ApplicationOutcome.ENTAILING, 0.9),
        (YES, YES, label("no", 0.9), ApplicationOutcome.NON_ENTAILING, 0.9),
        (YES, YES, label("no", 0.6), ApplicationOutcome.UNCERTAIN, 0.6),
        (YES, YES, None, ApplicationOutcome.UNFINISHED, None),
        (YES, NO, None, ApplicationOutcome.NON_ENTAILING, 0.8),
        (YES, UNSURE, None, ApplicationOutcome.UNCERTAIN, None),
        (UNSURE, YES, None, ApplicationOutcome.UNCERTAIN, None),
        (UNSURE, NO, None, ApplicationOutcome.UNCERTAIN, None),
        (NO, None, None, ApplicationOutcome.SET_ASIDE, 0.8),
        (NO, NO, None, ApplicationOutcome.SET_ASIDE, 0.8),
        (None, NO, None, ApplicationOutcome.UNFINISHED, None),
        (YES, None, None, ApplicationOutcome.UNFINISHED, None),
    ],
)
def test_what_becomes_of_an_application(
    lhs: Label | None,
    rhs: Label | None,
    entailment: Label | None,
    outcome: ApplicationOutcome,
    confidence: float | None,
) -> None:
    found = application_outcome(lhs, rhs, entailment, 0.7, MeaninglessLeft.SET_ASIDE)
    assert found == (outcome, confidence)


def test_a_meaningless_left_side_can_count_against_the_rule() -> None:
    found = application_outcome(NO, YES, None, 0.7, MeaninglessLeft.NON_ENTAILING)
    assert found == (ApplicationOutcome.NON_ENTAILING, 0.8)


def test_deriving_needs_both_sides() -> None:
    derive = installed_tasks()["rules-entailment"].deriving.derive
    assert derive is not None
    application = {"lhs": "l", "rhs": "r", "rule_lhs": "a", "rule_rhs": "b"}

    def side(name: str, given: Label | None) -> SourceItem:
        number = 1 if name == "lhs" else 2
        return SourceItem(
            number, f"k:{name}", "k", {"phrase": name[0], "side": name, "application": application}, given
        )

    (made,) = derive([side("lhs", YES), side("rhs", YES)], 0.7)
    assert (made.key, made.payload, made.sources) == ("k", application, (1, 2))
    for other in (None, NO, UNSURE):
        assert derive([side("lhs", YES), side("rhs", other)], 0.7) == []
    assert derive([side("lhs", YES)], 0.7) == []
    assert derive([side("lhs", label("yes", 0.75)), side("rhs", YES)], 0.8) == []
