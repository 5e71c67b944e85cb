"""Task 2 of Zeichner et al. (2012): is the second phrase true, given the first?

Items are derived from task 1: only applications where both sides were judged meaningful with enough confidence.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.prompting import Prompting
from chorale.contract.task import Deriving, Example, Form, Options, Shape, Task
from chorale.kits.rules.tasks.entailment.applications import (
    PAPER_TABLE,
    Application,
    ApplicationOutcome,
    EntailmentOptions,
    MeaninglessLeft,
    application_outcome,
    applications,
    is_accepted,
)
from chorale.kits.rules.tasks.phrases import judged_sides
from chorale.model import NewItem, Payload, SourceItem
from chorale.model.wording import worded

_Text = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class RulePair(BaseModel):
    """A rule application with two meaningful sides."""

    model_config = ConfigDict(extra="allow", frozen=True)

    rule_lhs: str = ""
    rule_rhs: str = ""
    lhs: _Text
    rhs: _Text


class Entailed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]


def _both_phrases(payload: Payload) -> dict[str, Any]:
    return {"lhs": payload["lhs"], "rhs": payload["rhs"]}


def _both_meaningful(phrases: Sequence[SourceItem], confidence: float) -> list[NewItem]:
    """The applications with both sides judged meaningful."""
    meaningful = [phrase for phrase in phrases if is_accepted(phrase.label, "yes", confidence)]
    return [
        NewItem(
            key=sides.key,
            group=sides.key,
            payload=sides.application,
            sources=tuple(sorted({sides.lhs.id, sides.rhs.id})),
        )
        for sides in judged_sides(meaningful)
    ]


RULES_ENTAILMENT = Task(
    name="rules-entailment",
    version=1,
    summary=worded("Is the second phrase true, given the first?"),
    shape=Shape(item_type=RulePair, answer_type=Entailed),
    form=Form(page=Path(__file__).with_name("form.html"), view=_both_phrases),
    examples=(
        Example(
            row={
                "rule_lhs": "win",
                "rule_rhs": "take part in",
                "lhs": "the rower win the regatta",
                "rhs": "the rower take part in the regatta",
            },
            answer="yes",
        ),
        Example(
            row={
                "rule_lhs": "take part in",
                "rule_rhs": "win",
                "lhs": "the rower take part in the regatta",
                "rhs": "the rower win the regatta",
            },
            answer="no",
        ),
    ),
    options=Options(model=EntailmentOptions),
    deriving=Deriving(derive=_both_meaningful),
    prompting=Prompting(
        "If `lhs` is true, is `rhs` true as well? `yes`: very likely. `no`: it is not, or you cannot tell.",
    ),
    exports=(PAPER_TABLE,),
)

__all__ = [
    "RULES_ENTAILMENT",
    "Application",
    "ApplicationOutcome",
    "EntailmentOptions",
    "MeaninglessLeft",
    "application_outcome",
    "applications",
]
