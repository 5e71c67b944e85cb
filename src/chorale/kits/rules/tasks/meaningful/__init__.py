"""Task 1 of Zeichner et al. (2012): is the phrase meaningful?

A rule application is split into its two phrases. A phrase of several applications is one item. All phrases connected by
applications form one group: no worker sees both phrases of an application.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.asked_once import AskedOnce
from chorale.contract.prompting import Prompting
from chorale.contract.task import Example, Form, Shape, Task
from chorale.kits.rules.tasks.phrases import ALSO_LEFT_OF, phrase_text
from chorale.model import NewItem, Payload
from chorale.model.wording import worded

_Text = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class RuleApplication(BaseModel):
    """A rule applied to an extraction."""

    model_config = ConfigDict(extra="allow", frozen=True)

    rule_lhs: _Text
    rule_rhs: _Text
    lhs: _Text
    rhs: _Text


class Phrase(BaseModel):
    """One side of a rule application, or a separate gold phrase."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    phrase: _Text
    side: Literal["lhs", "rhs"] | None = None
    application: dict[str, Any] | None = None


class Meaningful(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]


def _split(application: Payload, key: str) -> list[NewItem]:
    return [
        NewItem(
            key=f"{key}:{side}",
            group=key,
            payload={"phrase": application[side], "side": side, "application": dict(application)},
        )
        for side in ("lhs", "rhs")
    ]


def _with_application_of(phrase: NewItem, same: NewItem) -> Payload:
    if same.payload["side"] != "lhs":
        return phrase.payload
    row = {"id": same.group, **same.payload["application"]}
    return {**phrase.payload, ALSO_LEFT_OF: [*phrase.payload.get(ALSO_LEFT_OF, ()), row]}


def _phrase_only(payload: Payload) -> dict[str, Any]:
    return {"phrase": payload["phrase"]}


RULES_MEANINGFUL = Task(
    name="rules-meaningful",
    version=2,
    summary=worded("Is the phrase meaningful?"),
    shape=Shape(
        item_type=Phrase,
        answer_type=Meaningful,
        row_type=RuleApplication,
        expand=_split,
        asked_once=AskedOnce(phrase_text, _with_application_of, since=2),
    ),
    form=Form(page=Path(__file__).with_name("form.html"), view=_phrase_only),
    examples=(
        Example(
            row={
                "rule_lhs": "repair",
                "rule_rhs": "fix",
                "lhs": "the plumber repair the boiler",
                "rhs": "the plumber fix the boiler",
            },
            answer="yes",
        ),
        Example(
            row={
                "rule_lhs": "run out of",
                "rule_rhs": "leave",
                "lhs": "the car run out of of",
                "rhs": "the car leave of",
            },
            answer="no",
        ),
    ),
    prompting=Prompting("Does this phrase mean something? `yes`: you understand it. `no`: it makes no sense."),
)
