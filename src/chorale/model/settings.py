"""What a study file can say. Every field's description is its documentation (docs/settings.md)."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

Fraction = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Money = Annotated[int, Field(ge=0, le=1_000_000)]
RelativePath = Annotated[str, Field(min_length=1, max_length=400)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank. Fill it in.")
    return value


class StudyInfo(_Settings):
    title: str = Field(min_length=1, max_length=200, description="The study's name, shown on every page.")
    contact: str = Field(
        min_length=3, max_length=200, description="Whom workers write to; shown at the foot of every page."
    )
    consent: RelativePath = Field(description="Markdown file every worker agrees to before anything else.")
    seed: int = Field(
        default=0,
        description="Seed of everything random: item order, gold positions. Recorded with the data.",
    )

    _filled_in = field_validator("title", "contact")(_not_blank)


class ArrivalSettings(_Settings):
    by_url: bool = Field(
        default=True,
        description="Whether people may arrive with a panel's URL parameters. Signed invitation links always work.",
    )
    panel: Name = Field(default="prolific", description="Name of the panel those people come from.")
    worker_parameter: Code = Field(
        default="PROLIFIC_PID", description="URL parameter that carries the panel's id of the person."
    )
    study_parameter: Code = Field(
        default="STUDY_ID",
        validate_default=True,
        description="URL parameter that carries the panel's id of the study.",
    )
    session_parameter: Code = Field(
        default="SESSION_ID",
        validate_default=True,
        description="URL parameter that carries the panel's id of the visit.",
    )
    worker_pattern: str = Field(
        default="[A-Za-z0-9_-]{8,64}",
        description="Regular expression a panel's worker id must match as a whole; anything else is refused.",
    )
    study_id: str | None = Field(
        default=None, description="If given, arrivals whose study parameter differs are refused."
    )
    completion_url: str = Field(
        default="https://app.prolific.com/submissions/complete?cc={code}",
        pattern=r"^https?://",
        description="Where panel workers go when they have finished; `{code}` becomes the code below.",
    )
    finish_after: int = Field(
        default=1,
        ge=1,
        description="Answers after which somebody from the panel may finish with the completion code although there is "
        "more to do. Whoever has nothing left to do may finish with any number above none.",
    )
    completion_code: Code | None = Field(default=None, description="The panel's code for finished work.")
    screenout_code: Code | None = Field(
        default=None,
        description="The panel's code for people who were stopped early; the completion code if not given.",
    )

    @field_validator("panel")
    @classmethod
    def _is_no_invitation(cls, value: str) -> str:
        # People are known by panel and id, and those with a signed link have this for a panel. Ids from a panel are not
        # signed: under the same name, anybody could be taken for somebody invited.
        if value == "invitation":
            raise ValueError("stands for people who come by invitation. Choose another name.")
        return value

    @field_validator("study_parameter", "session_parameter")
    @classmethod
    def _is_no_other_parameter(cls, value: str, info: ValidationInfo) -> str:
        if value in (info.data.get("worker_parameter"), info.data.get("study_parameter")):
            raise ValueError("is the name of another parameter too. Give each parameter a name of its own.")
        return value

    @field_validator("completion_url")
    @classmethod
    def _carries_code(cls, value: str) -> str:
        if "{code}" not in value:
            raise ValueError("has no {code} in it. Write {code} where the panel expects the code.")
        return value

    @field_validator("worker_pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from error
        return value


class PaySettings(_Settings):
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$", description="ISO 4217 code of all amounts.")
    fee_percent: float = Field(
        default=0,
        ge=0,
        le=100,
        description="What the panel charges on top of every payment, in percent with up to two decimals; booked "
        "as fees in the ledger.",
    )
    minimum_hourly: Money = Field(
        default=0,
        description="Lowest acceptable hourly wage in minor units (cents). `chorale check` refuses stages that are "
        "expected to pay less; console, status and demo warn when the real wage is below it.",
    )

    @field_validator("fee_percent")
    @classmethod
    def _is_whole_basis_points(cls, value: float) -> float:
        # Fees are summed exactly, which needs whole hundredths of a percent.
        if round(value, 2) != value:
            raise ValueError("has more than two decimals. Round it to two.")
        return value


class ItemSettings(_Settings):
    file: RelativePath | None = Field(default=None, description="JSONL or CSV file with the stage's items.")
    from_: Name | None = Field(
        default=None, alias="from", description="Earlier stage whose results the items are derived from."
    )
    confidence: Fraction = Field(
        default=0.7,
        description="Confidence a result of that stage must reach before items are derived from it; not below that "
        "stage's `release_confidence`.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ItemSettings":
        if (self.file is None) == (self.from_ is None):
            raise ValueError("needs exactly one of `file` and `from`")
        return self


class JudgmentSettings(_Settings):
    min: int = Field(default=3, ge=1, le=1000, description="Judgments every item gets.")
    max: int = Field(default=3, ge=1, le=1000, description="Judgments no item exceeds.")
    until: Fraction | None = Field(
        default=None,
        description="Between `min` and `max`, ask for one more until the confidence of the item reaches this.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> "JudgmentSettings":
        if self.max < self.min:
            raise ValueError(f"`max` ({self.max}) is below `min` ({self.min})")
        if self.max > self.min and self.until is None:
            raise ValueError("`max` above `min` needs `until`, the confidence at which to stop asking")
        return self


def _fixed_judgments(value: Any) -> Any:
    """Let `judgments = 3` stand for a minimum and maximum of 3."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"min": value, "max": value}
    return value


class EntrySettings(_Settings):
    qualified_in: Name | None = Field(
        default=None, description="Stage whose gold decides who may enter; everyone may if not given."
    )
    accuracy: Fraction = Field(default=0.7, description="Share of that stage's gold a worker must have right.")
    answered: int = Field(
        default=4, ge=1, description="Gold answers a worker must have given there before the share counts."
    )
    exclude_dropped: bool = Field(
        default=True, description="Keep out workers who were dropped from any other stage of the study."
    )
    exclude_contributors: bool = Field(
        default=True,
        description="Keep a worker from items derived from items they worked on: nobody reviews their own work.",
    )


class GoldSettings(_Settings):
    file: RelativePath = Field(description="JSONL or CSV file: an item per row, with `answer` and `explanation`.")
    share: float = Field(
        default=0.1, ge=0, le=0.5, description="Share of gold in every worker's stream, at random positions."
    )
    floor: Fraction = Field(
        default=0.6, description="A worker whose trust (accuracy on gold) falls below this is dropped."
    )
    after: int = Field(default=4, ge=1, description="Gold answers before the floor applies.")


class StagePay(_Settings):
    per_judgment: Money = Field(default=0, description="Paid for every submitted judgment, in minor units (cents).")
    expected_seconds: int | None = Field(
        default=None,
        ge=1,
        description="How long a judgment is expected to take; `chorale check` compares the wage with the minimum.",
    )


class RehearsalSettings(_Settings):
    truth: RelativePath = Field(
        description="JSONL or CSV file: an item per row with its true `answer`. Known to simulated workers only."
    )


class StageSettings(_Settings):
    name: Name = Field(description="Short name used in addresses, files and commands.")
    title: str = Field(min_length=1, max_length=200, description="What workers read.")
    task: Name = Field(description="The kind of work: one of the installed tasks.")
    guidelines: RelativePath = Field(description="Markdown file workers read before the stage and can open any time.")
    items: ItemSettings = Field(description="Where the items come from.")
    judgments: Annotated[JudgmentSettings, BeforeValidator(_fixed_judgments)] = Field(
        default=JudgmentSettings(), description="Judgments per item: a number, or a table."
    )
    release_confidence: Fraction = Field(default=0.7, description="Results below this confidence are not released.")
    entry: EntrySettings = Field(default=EntrySettings(), description="Who may work in the stage.")
    lease_minutes: float = Field(
        default=30,
        ge=1,
        le=60 * 24 * 14,
        description="How long a worker may keep an item before it is offered again.",
    )
    max_per_worker: int | None = Field(
        default=None, ge=1, description="Most answers one worker may give in the stage, those to gold included."
    )
    gold: GoldSettings | None = Field(default=None, description="Items with known answers mixed into the work.")
    pay: StagePay = Field(default=StagePay(), description="What the work pays.")
    rehearsal: RehearsalSettings | None = Field(
        default=None, description="What simulated workers need to know; never shown to anybody."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Settings of the task itself.")

    _filled_in = field_validator("title")(_not_blank)


class StudySettings(_Settings):
    format: Literal[1] = Field(default=1, description="Version of the study file's format.")
    study: StudyInfo = Field(description="The study as a whole.")
    arrival: ArrivalSettings = Field(default=ArrivalSettings(), description="How workers arrive and leave.")
    pay: PaySettings = Field(default=PaySettings(), description="Money, for the whole study.")
    stage: tuple[StageSettings, ...] = Field(min_length=1, description="The stages, in order.")
