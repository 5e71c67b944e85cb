"""Is the second phrase true, given the first? Task 2 of Zeichner et al. (2012).

Items are derived from task 1: only applications both of whose sides were judged meaningful with enough confidence.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chorale.model import Label, NewItem, Payload, SourceItem
from chorale.tasks.contract import Example, Task

_Text = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class RulePair(BaseModel):
    """A rule application both of whose sides mean something."""

    model_config = ConfigDict(extra="allow", frozen=True)

    rule_lhs: str = ""
    rule_rhs: str = ""
    lhs: _Text
    rhs: _Text


class Entailed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Literal["yes", "no"]


class MeaninglessLeft(StrEnum):
    SET_ASIDE = "set-aside"
    """The extraction is at fault, not the rule: leave the application out."""
    NON_ENTAILING = "non-entailing"
    """Count it against the resource, for overall performance."""


class EntailmentOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    meaningless_lhs: MeaninglessLeft = Field(
        default=MeaninglessLeft.SET_ASIDE,
        description="What becomes of an application whose left side means nothing: `set-aside` or `non-entailing`.",
    )


def _both_phrases(payload: Payload) -> dict[str, Any]:
    return {"lhs": payload["lhs"], "rhs": payload["rhs"]}


def _says(label: Label | None, answer: str, confidence: float) -> bool:
    return label is not None and label.answer == answer and label.released and label.confidence >= confidence


def _both_meaningful(sides: Sequence[SourceItem], confidence: float) -> list[NewItem]:
    """The application itself, if both of its sides were judged meaningful."""
    by_side = {side.payload.get("side"): side for side in sides}
    if set(by_side) != {"lhs", "rhs"} or not all(_says(side.label, "yes", confidence) for side in sides):
        return []
    application = sides[0].payload["application"]
    return [
        NewItem(
            key=sides[0].group,
            group=sides[0].group,
            payload=dict(application),
            sources=tuple(sorted(side.id for side in sides)),
        )
    ]


class Outcome(StrEnum):
    """What became of a rule application."""

    ENTAILING = "entailing"
    NON_ENTAILING = "non-entailing"
    SET_ASIDE = "set aside: left side meaningless"
    UNCERTAIN = "not released: confidence too low"
    UNFINISHED = "unfinished"


def application_outcome(
    lhs: Label | None,
    rhs: Label | None,
    entailment: Label | None,
    confidence: float,
    meaningless_lhs: MeaninglessLeft,
) -> tuple[Outcome, float | None]:
    """The final judgment of an application from its three labels, with the confidence it rests on.

    A meaningless left side is set aside or counts as non-entailing; a meaningless right side is non-entailing whatever
    else; otherwise task 2 decides. Labels are None while an item wants judgments.
    """
    if lhs is not None and _says(lhs, "no", confidence):
        if meaningless_lhs is MeaninglessLeft.SET_ASIDE:
            return Outcome.SET_ASIDE, lhs.confidence
        return Outcome.NON_ENTAILING, lhs.confidence
    if lhs is None or rhs is None:
        return Outcome.UNFINISHED, None
    if not _says(lhs, "yes", confidence):
        return Outcome.UNCERTAIN, None
    if _says(rhs, "no", confidence):
        return Outcome.NON_ENTAILING, rhs.confidence
    if not _says(rhs, "yes", confidence):
        return Outcome.UNCERTAIN, None
    if entailment is None:
        return Outcome.UNFINISHED, None
    if not entailment.released:
        return Outcome.UNCERTAIN, entailment.confidence
    return (Outcome.ENTAILING if entailment.answer == "yes" else Outcome.NON_ENTAILING), entailment.confidence


RULES_ENTAILMENT = Task(
    name="rules-entailment",
    version=1,
    summary="Is the second phrase true, given the first?",
    row_type=RulePair,
    item_type=RulePair,
    answer_type=Entailed,
    page=Path(__file__).with_name("form.html"),
    options_type=EntailmentOptions,
    view=_both_phrases,
    derive=_both_meaningful,
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
)
