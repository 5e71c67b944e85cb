"""A Mechanical Turk layout: an HTML page with variables, shown in a sandboxed frame.

An item is a row of the batch file, and its answer consists of the fields of the page. Scripts that use Mechanical
Turk's API can add their own HITs to such a stage.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from chorale.contract.combined import Combined
from chorale.contract.task import (
    Combining,
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
from chorale.kits.mturk.layouts import (
    MOST_LAYOUT,
    answer_elements,
    fill_in,
    hidden_fields,
    may_be_empty,
    readable,
    seconds_of,
    unknown_elements,
    variables_in,
)
from chorale.kits.mturk.liquid_layouts import is_liquid, liquid_problem, row_problem
from chorale.kits.mturk.task.simulating import guessed
from chorale.metrics.aggregation import trust_weighted_share
from chorale.model import Answer, Judgment, Payload
from chorale.model.wording import worded

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Fields = Annotated[dict[_Name, Annotated[str, Field(max_length=20_000)]], Field(max_length=500)]
_Input = Annotated[_Fields, Field(min_length=1)]
_HERE = Path(__file__)


def _usable(html: str) -> str:
    if unknown := unknown_elements(html):
        raise ValueError(f"has <{unknown[0]}>, which Chorale does not support. Use another element.")
    if is_liquid(html) and (problem := liquid_problem(html)) is not None:
        raise ValueError(f"{problem}. Change the layout.")
    return html


class LayoutOptions(BaseModel):
    """Settings of a layout stage in `[stage.options]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    html: Annotated[str, AfterValidator(_usable)] = Field(
        default="",
        max_length=MOST_LAYOUT,
        description="The layout: HTML with variables such as `${text}`, or `{{ task.input.text }}` as in SageMaker "
        "Ground Truth. Every row of the batch file must have a value for every variable. A stage in which scripts "
        "create the HITs needs no layout.",
    )
    columns: tuple[_Name, ...] = Field(
        default=(), description="Columns of the batch file, in the order of the results file."
    )
    judged: tuple[_Name, ...] = Field(
        default=(),
        description="Fields that count for labels and agreement, such as choices. Default: all fields except hidden "
        "ones.",
    )
    description: str = Field(default="", max_length=2000, description="Description of the HITs in the results file.")
    keywords: str = Field(default="", max_length=1000, description="Keywords of the HITs in the results file.")
    track_record: Literal["ignore", "here"] = Field(
        default="ignore",
        description="What to do if a script accepts only workers with a certain number or percentage of approved "
        "HITs: `ignore` this requirement, or count the HITs approved on this site (`here`).",
    )


class LayoutRow(BaseModel):
    """A row of the batch file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: _Input


class LayoutAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: _Fields


def _has_all(layout: str, given: dict[str, str]) -> dict[str, str]:
    if not layout.strip():
        raise ValueError("cannot be shown, because the stage has no layout. Set `html` in [stage.options].")
    lacking = [name for name in variables_in(layout) if name not in given]
    if lacking:
        raise ValueError(f"has no value for {', '.join(lacking[:5])}. Fill in all variables of the layout.")
    if is_liquid(layout) and (problem := row_problem(layout, given)) is not None:
        raise ValueError(f"{problem}. Change the row, or the layout.")
    return given


def _configured(options: LayoutOptions) -> Task:
    """The task with a layout, whose variables are the required columns of a row."""
    needed: Any = Annotated[_Input, AfterValidator(partial(_has_all, options.html))]
    row = create_model("Row", __base__=LayoutRow, input=(needed, ...))
    judged = _Judged(options.judged, frozenset(hidden_fields(options.html)))
    return replace(
        MTURK,
        shape=replace(MTURK.shape, item_type=row),
        form=replace(MTURK.form, view=partial(_view, options.html), seconds=partial(_seconds, options.html)),
        combining=replace(
            MTURK.combining,
            combine=partial(_combine, judged, empty_counts=may_be_empty(options.html)),
            distance=partial(_distance, judged),
            chosen=partial(_chosen, judged),
        ),
        simulating=replace(MTURK.simulating, unanswered=answer_elements(options.html)),
    )


def _view(layout: str, payload: Payload) -> dict[str, Any]:
    return {"html": fill_in(layout, payload["input"])}


def _seconds(layout: str, payload: Payload) -> float:
    return seconds_of(fill_in(layout, payload["input"]))


def _grade(answer: Answer, gold: Answer) -> GradeResult:
    """Grades the fields in gold. Other fields are not graded."""
    wrong = [name for name in sorted(gold) if answer.get(name, "") != gold[name]]
    if not wrong:
        return GradeResult(1.0)
    return GradeResult(1 - len(wrong) / len(gold), tuple(f"{name} differs from the expert's answer" for name in wrong))


class _Judged(NamedTuple):
    """The fields that make up the result."""

    named: Sequence[str] = ()
    hidden: frozenset[str] = frozenset()
    """Fields that scripts fill in. They are part of the result only if the study names them."""

    def of(self, *answers: Answer) -> list[str]:
        return list(self.named) or sorted({name for answer in answers for name in answer} - self.hidden)


def _distance(judged: _Judged, left: Answer, right: Answer) -> float:
    names = judged.of(left, right)
    differing = sum(left.get(name, "") != right.get(name, "") for name in names)
    return differing / len(names) if names else 0.0


def _combine(judged: _Judged, judgments: Sequence[Judgment], *, empty_counts: bool = True) -> Combined | None:
    """For each field, the answer with the highest total worker quality. The confidence is the lowest of all fields.

    There is no result if nobody filled in any field, unless empty answers count, as they do for unticked boxes.
    """
    if not empty_counts and not any(judgment.answer.keys() - judged.hidden for judgment in judgments):
        return None
    names = judged.of(*(judgment.answer for judgment in judgments))
    draw = judgments[0].draw if judgments else 0
    shares = {
        name: trust_weighted_share(((judgment.answer.get(name, ""), judgment.trust) for judgment in judgments), draw)
        for name in names
    }
    answered = {name: share for name, share in shares.items() if share is not None}
    if not judgments or not answered:
        return Combined({}, 1.0) if judgments else None
    answer = {name: share.answer for name, share in answered.items() if share.answer != ""}
    return Combined(answer, min(share.confidence for share in answered.values()))


def _chosen(judged: _Judged, answer: Answer) -> tuple[str, ...]:
    """The chosen values. Several values of a field are joined by |."""
    return tuple(f"{name}={value}" for name in judged.of(answer) for value in answer.get(name, "").split("|") if value)


MTURK = Task(
    name="mturk",
    version=1,
    summary=worded("Answer the questions on a page"),
    shape=Shape(item_type=LayoutRow, answer_type=LayoutAnswer, may_be_empty=True),
    form=Form(
        page=_HERE.with_name("form.html"),
        module=_HERE.with_name("layout.js"),
        framed=True,
        view=partial(_view, ""),
        read=lambda view: readable(view["html"]),
    ),
    examples=(
        Example(row={"input": {"word": "Ada"}}, answer={"name": "yes", "why": "It is one."}),
        Example(row={"input": {"word": "table"}}, answer={"name": "no", "why": "It is a thing."}),
    ),
    options=Options(
        model=LayoutOptions,
        configure=_configured,
        example={"html": "<p>Is ${word} a name?</p><label><input type='radio' name='name' value='yes'> Yes</label>"},
    ),
    grading=Grading(grade=_grade),
    combining=Combining(
        distance=partial(_distance, _Judged()), combine=partial(_combine, _Judged()), chosen=partial(_chosen, _Judged())
    ),
    simulating=Simulating(guess=guessed),
    explaining=Explaining(caption=lambda payload: ", ".join(payload["input"].values())),
)
