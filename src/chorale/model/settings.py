"""What a study file can say. Every field's description is its documentation (docs/settings.md)."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from chorale.model.panels import PANELS
from chorale.model.protocol_settings import (
    ArmsSettings,
    GateSettings,
    GoldBonus,
    PartsBonus,
    QualitySettings,
    RoundSettings,
)
from chorale.model.recruiting_settings import ProlificSettings
from chorale.model.setting_types import Code, Fraction, Money, Name, RelativePath, Settings, not_blank, one_or_several


class StudyInfo(Settings):
    title: str = Field(min_length=1, max_length=200, description="The study's name, shown on every page.")
    contact: str = Field(
        min_length=3, max_length=200, description="Whom workers write to; shown at the foot of every page."
    )
    consent: RelativePath = Field(description="Markdown file every worker agrees to before anything else.")
    seed: int = Field(
        default=0,
        description="Seed of everything random: item order, gold positions. Recorded with the data.",
    )

    _filled_in = field_validator("title", "contact")(not_blank)


class ArrivalSettings(Settings):
    by_url: bool = Field(
        default=True,
        description="Whether people may arrive with a panel's URL parameters. Signed invitation links always work.",
    )
    landing: bool = Field(
        default=False,
        description="Whether there is a public page, at the site's address, where anybody may take part.",
    )
    panel: Name = Field(
        default="prolific",
        description="Name of the panel those people come from. For `prolific`, `connect`, `sona`, `besample` and "
        "`respondent` the parameters below are known and need not be given.",
    )
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
    completion_url: str | None = Field(
        default="https://app.prolific.com/submissions/complete?cc={code}",
        pattern=r"^https?://",
        description="Where panel workers go when they have finished; `{code}` becomes the code below, `{worker}` the "
        "panel's own id of the person. Without it they see the code alone.",
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

    @model_validator(mode="before")
    @classmethod
    def _as_the_panel_has_it(cls, given: Any) -> Any:
        """What is not given is as the panel of that name has it."""
        panel = PANELS.get(given["panel"]) if isinstance(given, dict) and isinstance(given.get("panel"), str) else None
        if panel is None:
            return given
        names = ("worker_parameter", "study_parameter", "session_parameter", "completion_url", "worker_pattern")
        return {**{name: getattr(panel, name) for name in names}, **given}

    @field_validator("panel")
    @classmethod
    def _is_no_invitation(cls, value: str) -> str:
        # People are known by panel and id, and those with a signed link have this for a panel. Ids from a panel are not
        # signed: under the same name, anybody could be taken for somebody invited.
        if value in ("invitation", "expert", "public"):
            raise ValueError("stands for people who come by a signed link or a public page. Choose another name.")
        return value

    @field_validator("study_parameter", "session_parameter")
    @classmethod
    def _is_no_other_parameter(cls, value: str, info: ValidationInfo) -> str:
        if value in (info.data.get("worker_parameter"), info.data.get("study_parameter")):
            raise ValueError("is the name of another parameter too. Give each parameter a name of its own.")
        return value

    @field_validator("completion_url")
    @classmethod
    def _carries_code(cls, value: str | None) -> str | None:
        if value is not None and "{code}" not in value and "{worker}" not in value:
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


class PaySettings(Settings):
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
        "expected to pay less, but for what experts do for nothing; console, status and demo warn when the real wage "
        "is below it.",
    )
    budget: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="Most the study may cost, fees included, in minor units (cents). Before it could be exceeded, "
        "nothing more is given out.",
    )

    @field_validator("fee_percent")
    @classmethod
    def _is_whole_basis_points(cls, value: float) -> float:
        # Fees are summed exactly, which needs whole hundredths of a percent.
        if round(value, 2) != value:
            raise ValueError("has more than two decimals. Round it to two.")
        return value


class ItemSettings(Settings):
    file: RelativePath | None = Field(default=None, description="JSONL or CSV file with the stage's items.")
    from_: Annotated[tuple[Name, ...], BeforeValidator(one_or_several)] = Field(
        default=(),
        alias="from",
        description="Earlier stage whose results the items are derived from, or a list of stages: their items come "
        "shuffled together.",
    )
    of: Literal["results", "answers", "together"] = Field(
        default="results",
        description="Whether items are made from that stage's results, one from every answer in it (`answers`: to "
        "grade, validate or review what people wrote), or one from all answers to an item (`together`: to consolidate "
        "them; what the first wrote has `_1` at the end of its names, and so on).",
    )
    confidence: Fraction = Field(
        default=0.7,
        description="Confidence a result of that stage must reach before items are derived from it; not below that "
        "stage's `release_confidence`.",
    )
    sample: float = Field(
        default=1, gt=0, le=1, description="Share of what could be derived that is, drawn by chance: 0.01 for 1%."
    )
    per_worker: int | None = Field(
        default=None,
        ge=1,
        description='So many of everybody\'s answers (`of = "answers"`), drawn by chance once no more come from them: '
        "they gave `max_per_worker`, the stage is done, or it is paused. All of them if not given.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ItemSettings":
        if (self.file is None) == (not self.from_):
            raise ValueError("needs exactly one of `file` and `from`")
        if self.per_worker is not None and (self.of != "answers" or self.sample < 1):
            raise ValueError('`per_worker` needs `of = "answers"`, and no `sample`')
        return self


class SampledJudgments(Settings):
    share: float | None = Field(default=None, gt=0, le=1, description="Share of the items, drawn by chance.")
    items: int | None = Field(
        default=None,
        ge=1,
        description="How many items of each stage they come from, or of the file, drawn by chance.",
    )
    judgments: int = Field(ge=1, le=1000, description="Judgments each of them gets.")

    @model_validator(mode="after")
    def _one_way(self) -> "SampledJudgments":
        if (self.share is None) == (self.items is None):
            raise ValueError("needs exactly one of `share` and `items`")
        return self


class JudgmentSettings(Settings):
    min: int = Field(default=3, ge=1, le=1000, description="Judgments every item gets.")
    max: int = Field(default=3, ge=1, le=1000, description="Judgments no item exceeds.")
    until: Fraction | None = Field(
        default=None,
        description="Between `min` and `max`, ask for one more until the confidence of the item reaches this.",
    )
    stable: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Between `min` and `max`, stop asking once the order of the options that at least a third chose "
        "has been the same for so many judgments. For tasks where people choose from a list.",
    )
    sample: SampledJudgments | None = Field(
        default=None, description="Some of the items, drawn by chance, get another number of judgments."
    )

    @model_validator(mode="after")
    def _ordered(self) -> "JudgmentSettings":
        if self.max < self.min:
            raise ValueError(f"`max` ({self.max}) is below `min` ({self.min})")
        if self.max > self.min and self.until is None and self.stable is None:
            raise ValueError(
                "`max` above `min` needs `until`, the confidence at which to stop asking, or `stable`, the number of "
                "judgments that change nothing"
            )
        return self


def _fixed_judgments(value: Any) -> Any:
    """Let `judgments = 3` stand for a minimum and maximum of 3."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"min": value, "max": value}
    return value


class EntrySettings(Settings):
    qualifications: tuple[Name, ...] = Field(
        default=(),
        description="Gates somebody must have passed, promotions they must have got, or `expert`: all of them.",
    )
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


class GoldSettings(Settings):
    file: RelativePath = Field(
        description="JSONL or CSV file (JSONL for forms): an item per row, with `answer` and `explanation`."
    )
    share: float = Field(
        default=0.1, ge=0, le=0.5, description="Share of gold in every worker's stream, at random positions."
    )
    floor: Fraction = Field(
        default=0.6, description="A worker whose trust (accuracy on gold) falls below this is dropped."
    )
    after: int = Field(default=4, ge=1, description="Gold answers before the floor applies.")
    window: int | None = Field(
        default=None,
        ge=1,
        description="Trust is the accuracy on so many of the latest gold answers; on all of them if not given.",
    )
    smoothing: float = Field(
        default=0,
        ge=0,
        le=100,
        description="Trust counts this many more gold answers, right by the share of the floor: the first gold answers "
        "then do not decide alone.",
    )
    bonus: GoldBonus | None = Field(default=None, description="A bonus for answering gold well.")


class StagePay(Settings):
    per_judgment: Money = Field(default=0, description="Paid for every submitted judgment, in minor units (cents).")
    parts: PartsBonus | None = Field(
        default=None, description="A bonus for the parts of an answer, such as questions written, beyond a number."
    )
    expected_parts: float | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="How many parts an answer is expected to have, for what `chorale check` tells of cost and wage. As "
        "many as the answers of the truth file or of gold have, on average, if not given.",
    )
    finished: Money = Field(
        default=0,
        description="Paid once to everybody who finishes a round, in minor units (cents). In a stage that grades: to "
        "everybody who graded there, when the gate closes that its grades are for.",
    )
    finished_from: int = Field(
        default=1, ge=1, description="Answers somebody must have given in a stage that grades to be paid for finishing."
    )
    expected_seconds: int | None = Field(
        default=None,
        ge=1,
        description="How long a judgment is expected to take; `chorale check` compares the wage with the minimum.",
    )


class RehearsalSettings(Settings):
    truth: RelativePath = Field(
        description="JSONL or CSV file (JSONL for forms): an item per row with its true `answer`. Known to simulated "
        "workers only."
    )


class StageSettings(Settings):
    name: Name = Field(description="Short name used in addresses, files and commands.")
    title: str = Field(min_length=1, max_length=200, description="What workers read.")
    task: Name = Field(description="The kind of work: one of the installed tasks.")
    guidelines: RelativePath = Field(description="Markdown file workers read before the stage and can open any time.")
    items: ItemSettings | None = Field(default=None, description="Where the items come from; not in a round.")
    round: RoundSettings | None = Field(
        default=None, description="Makes the stage a round: practice, a quiz, a screening or a qualification."
    )
    arms: tuple[Name, ...] = Field(default=(), description="The arms the stage is for; for everybody if not given.")
    grades: bool = Field(
        default=False,
        description="Whether the answers here are grades: their mean score is the grade of the answer that the item "
        "was made from.",
    )
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
    quality: QualitySettings | None = Field(
        default=None,
        description="How far workers agree, measured while the study runs; for tasks where people choose from a list.",
    )
    pay: StagePay = Field(default=StagePay(), description="What the work pays.")
    rehearsal: RehearsalSettings | None = Field(
        default=None, description="What simulated workers need to know; never shown to anybody."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Settings of the task itself.")

    _filled_in = field_validator("title")(not_blank)

    @model_validator(mode="after")
    def _items_or_round(self) -> "StageSettings":
        if (self.items is None) == (self.round is None):
            raise ValueError("needs exactly one of `items` and `round`")
        if self.round is not None and self.gold is not None:
            raise ValueError("is a round, where everything is graded. Leave `gold` out.")
        if self.grades and (self.items is None or self.items.of != "answers"):
            raise ValueError('`grades = true` needs items that are made `of = "answers"`')
        return self

    @property
    def sources(self) -> tuple[str, ...]:
        """The stages the items are derived from."""
        return () if self.items is None else self.items.from_


class StudySettings(Settings):
    format: Literal[1] = Field(default=1, description="Version of the study file's format.")
    study: StudyInfo = Field(description="The study as a whole.")
    arrival: ArrivalSettings = Field(default=ArrivalSettings(), description="How workers arrive and leave.")
    prolific: ProlificSettings | None = Field(default=None, description="Finding people on Prolific.")
    pay: PaySettings = Field(default=PaySettings(), description="Money, for the whole study.")
    arms: ArmsSettings | None = Field(default=None, description="Randomised conditions of the study.")
    stage: tuple[StageSettings, ...] = Field(min_length=1, description="The stages, in order.")
    gate: tuple[GateSettings, ...] = Field(
        default=(), description="What is decided between stages: who may go on, with what bonus and message."
    )
