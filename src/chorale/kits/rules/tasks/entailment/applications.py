"""Outcomes of rule applications, from the labels of both sides and of the pair."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract.exporting import StageResults, TaskExport
from chorale.kits.rules.tasks.phrases import judged_sides
from chorale.model import Label, Payload


class MeaninglessLeft(StrEnum):
    SET_ASIDE = "set-aside"
    """Leave the application out, because the extraction is wrong, not the rule."""
    NON_ENTAILING = "non-entailing"
    """Count it against the resource, for overall performance."""
    OWN_LABEL = "own-label"
    """Write it to the table as `Meaningless`, and leave the decision to the evaluation."""

    @classmethod
    def _missing_(cls, value: object) -> "MeaninglessLeft | None":
        """Studies from before the value was renamed contain `told`."""
        return cls.OWN_LABEL if value == "told" else None


class EntailmentOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    meaningless_lhs: MeaninglessLeft = Field(
        default=MeaninglessLeft.SET_ASIDE,
        description="How to treat an application of a rule whose left side is meaningless. `set-aside`: leave it out. "
        "`non-entailing`: count it as No. `own-label`: label it `Meaningless` in the exported table.",
    )


_SIDES = ("rule_lhs", "rule_rhs", "lhs", "rhs")
_MEANINGLESS = "Meaningless"


def is_accepted(label: Label | None, answer: str, confidence: float) -> bool:
    return label is not None and label.answer == answer and label.released and label.confidence >= confidence


class ApplicationOutcome(StrEnum):
    """Outcome of a rule application."""

    ENTAILING = "entailing"
    NON_ENTAILING = "non-entailing"
    SET_ASIDE = "set aside: left side meaningless"
    UNCERTAIN = "not accepted: confidence too low"
    UNFINISHED = "unfinished"


def application_outcome(
    lhs: Label | None, rhs: Label | None, entailment: Label | None, confidence: float, meaningless_lhs: MeaninglessLeft
) -> tuple[ApplicationOutcome, float | None]:
    """The final judgment of an application from its three labels, with its confidence.

    A meaningless left side is set aside or counts as non-entailing. A meaningless right side with a meaningful left
    side is non-entailing. Otherwise task 2 decides. Labels are None while an item needs judgments.
    """
    if lhs is not None and is_accepted(lhs, "no", confidence):
        if meaningless_lhs is MeaninglessLeft.NON_ENTAILING:
            return ApplicationOutcome.NON_ENTAILING, lhs.confidence
        return ApplicationOutcome.SET_ASIDE, lhs.confidence
    if lhs is None or rhs is None:
        return ApplicationOutcome.UNFINISHED, None
    if not is_accepted(lhs, "yes", confidence):
        return ApplicationOutcome.UNCERTAIN, None
    if is_accepted(rhs, "no", confidence):
        return ApplicationOutcome.NON_ENTAILING, rhs.confidence
    if not is_accepted(rhs, "yes", confidence):
        return ApplicationOutcome.UNCERTAIN, None
    return _by_task_2(entailment)


def _by_task_2(entailment: Label | None) -> tuple[ApplicationOutcome, float | None]:
    if entailment is None:
        return ApplicationOutcome.UNFINISHED, None
    if not entailment.released:
        return ApplicationOutcome.UNCERTAIN, entailment.confidence
    yes = entailment.answer == "yes"
    return ApplicationOutcome.ENTAILING if yes else ApplicationOutcome.NON_ENTAILING, entailment.confidence


@dataclass(frozen=True, slots=True)
class Application:
    """A rule application with its outcome."""

    key: str
    payload: Payload
    outcome: ApplicationOutcome
    confidence: float | None

    @property
    def judgment(self) -> str | None:
        """Yes or No, as in the paper's table; None for applications that are not in it."""
        return {ApplicationOutcome.ENTAILING: "Yes", ApplicationOutcome.NON_ENTAILING: "No"}.get(self.outcome)


def applications(stage: StageResults) -> Iterator[Application]:
    """Every rule application with its outcome, in the order of the left phrases in the items file."""
    if stage.sources is None:
        for item in stage.items:
            yield Application(item.key, item.payload, *_by_task_2(item.label))
        return
    entailed = {item.key: item.label for item in stage.items}
    options = EntailmentOptions.model_validate(stage.options.model_dump())
    for key, application, lhs, rhs in judged_sides(stage.sources):
        outcome, confidence = application_outcome(
            lhs.label, rhs.label, entailed.get(key), stage.confidence, options.meaningless_lhs
        )
        yield Application(key, application, outcome, confidence)


def _paper_rows(stage: StageResults) -> Iterator[Mapping[str, Any]]:
    options = EntailmentOptions.model_validate(stage.options.model_dump())
    for application in applications(stage):
        judgment = application.judgment
        if application.outcome is ApplicationOutcome.SET_ASIDE and options.meaningless_lhs is MeaninglessLeft.OWN_LABEL:
            judgment = _MEANINGLESS
        if judgment is None or application.confidence is None:
            continue
        yield {
            **dict.fromkeys(_SIDES, ""),
            **application.payload,
            "judgment": judgment,
            "confidence": f"{application.confidence:.4f}".rstrip("0").rstrip("."),
        }


def _other_columns(stage: StageResults) -> Sequence[str]:
    """Additional fields of items, such as the resources that proposed the rule."""
    names = (name for application in applications(stage) for name in application.payload)
    return [name for name in dict.fromkeys(names) if name not in PAPER_TABLE.columns]


def _tally(stage: StageResults) -> Mapping[str, int]:
    """Number of applications per outcome, as reported in the paper."""
    counts = Counter(application.outcome for application in applications(stage))
    return {outcome.value: counts[outcome] for outcome in ApplicationOutcome}


PAPER_TABLE = TaskExport(
    name="zeichner",
    summary="rule applications with their final label, as in Zeichner et al. (2012), as TSV",
    file_name="applications.tsv",
    columns=(*_SIDES, "judgment", "confidence"),
    rows=_paper_rows,
    tally=_tally,
    more_columns=_other_columns,
    describes={
        "rule_lhs": "Left side of the rule.",
        "rule_rhs": "Right side of the rule.",
        "lhs": "Left phrase of the application.",
        "rhs": "Right phrase of the application.",
        "judgment": "Final label: Yes, No, or Meaningless if the left phrase has no meaning.",
    },
)
