"""The settings of a study file. Every field's description is its documentation (docs/settings.md)."""

import re
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from chorale.model.mail_settings import MailSettings
from chorale.model.model_settings import ModelSettings
from chorale.model.panels import PANELS
from chorale.model.protocol_settings import AnalysisSettings, ArmsSettings, GateSettings
from chorale.model.recruiting_settings import ProlificSettings
from chorale.model.setting_types import Code, Money, Name, RelativePath, Settings, not_blank
from chorale.model.stage_settings import StageSettings


class StudyInfo(Settings):
    title: str = Field(min_length=1, max_length=200, description="The study's name, shown on every page.")
    contact: str = Field(
        min_length=3,
        max_length=200,
        description="E-mail address that workers can write to; shown at the bottom of every page.",
    )
    consent: RelativePath = Field(
        description="Markdown file with the consent form that every worker must agree to first."
    )
    language: str = Field(
        default="en",
        pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
        description="Language code of worker pages, such as `de` or `ar`; docs/languages.md lists the available "
        "languages. Titles, guidelines, questions and items are not translated.",
    )
    seed: int = Field(default=0, description="Random seed for item order, gold positions and random samples.")

    _filled_in = field_validator("title", "contact")(not_blank)


class ArrivalSettings(Settings):
    by_url: bool | None = Field(
        default=None,
        description="Whether people can join by a link with a recruitment platform's URL parameters. Anybody can "
        "forge an unsigned link. Default: `true` if the platform verifies people (`signed`, or `[prolific]` with an "
        "API token). It is also `true` if the site is open only on your own computer, or if people have already "
        "joined by such a link. Invitation links always work.",
    )
    signed: Literal["prolific"] | None = Field(
        default=None,
        description="The platform that signs its links; links without its signature are refused. If you create the "
        "study on Prolific yourself, choose the secured external URL. `chorale publish` chooses it for you.",
    )
    signing_keys: str | None = Field(
        default=None,
        min_length=1,
        max_length=400,
        description="Public keys (JWKS) that verify signed links: an https URL, or a file in the study folder. "
        "Default: the URL of Prolific's keys.",
    )
    workspace: Code | None = Field(
        default=None,
        description="Prolific's ID for your workspace. If set, signed links from other workspaces are refused.",
    )
    landing: bool = Field(default=False, description="Whether anybody can join from the site's home page.")
    panel: Name = Field(
        default="prolific",
        description="Name of the recruitment platform. For `prolific`, `connect`, `sona`, `besample` and "
        "`respondent`, Chorale knows the URL parameters and the format of worker IDs. For any other platform, set "
        "these settings yourself.",
    )
    worker_parameter: Code = Field(
        default="PROLIFIC_PID", description="URL parameter with the platform's ID for the person."
    )
    study_parameter: Code = Field(
        default="STUDY_ID", validate_default=True, description="URL parameter with the platform's ID for the study."
    )
    session_parameter: Code = Field(
        default="SESSION_ID",
        validate_default=True,
        description="URL parameter with the platform's ID for the person's session.",
    )
    worker_pattern: str = Field(
        default="[A-Za-z0-9_-]{8,64}",
        description="Regular expression that the platform's ID for a person must match completely. Other IDs are "
        "refused.",
    )
    study_id: str | None = Field(
        default=None,
        description="The platform's ID for the study. If set, people whose link has a different ID are refused.",
    )
    completion_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="URL to which people from the platform return when they have finished. `{code}` is replaced by "
        "`completion_code`, and `{worker}` by the platform's ID for the person. For `prolific`, Chorale knows the "
        "URL. Without a URL, people see the completion code and are asked to enter it on the platform.",
    )
    screenout_url: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="URL to which people return if they did not pass a quiz or gate, or were removed. `{code}` is "
        "replaced by `screenout_code`, and `{worker}` by the platform's ID for the person. Default: `completion_url` "
        "if that URL contains `{code}`. For removed people, a `completion_url` with only `{worker}` is used too.",
    )
    finish_after: int = Field(
        default=1,
        ge=1,
        description="Number of answers after which people from the platform can finish with the completion code, even "
        "if more work is available. If no work is left for a person, one answer is enough.",
    )
    completion_code: Code | None = Field(default=None, description="The platform's code for finished work.")
    screenout_code: Code | None = Field(
        default=None,
        description="The platform's code for people who did not pass a quiz or gate, or were removed. Default: people "
        "who were removed get the completion code, and people who did not pass get no code.",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_the_panel_has_it(cls, given: Any) -> Any:
        """Fill in missing values from the known panel of that name."""
        if not isinstance(given, dict):
            return given
        name = given.get("panel", cls.model_fields["panel"].default)
        panel = PANELS.get(name) if isinstance(name, str) else None
        if panel is None:
            return given
        names = ("worker_parameter", "study_parameter", "session_parameter", "completion_url", "worker_pattern")
        return {**{name: getattr(panel, name) for name in names}, **given}

    @field_validator("panel")
    @classmethod
    def _is_no_invitation(cls, value: str) -> str:
        # People are identified by panel and ID, and signed links use this name as their panel. A panel's IDs are not
        # signed: with the same name, anybody could impersonate an invited person.
        if value in ("invitation", "expert", "public", "model", "team"):
            raise ValueError("is reserved for signed links, a public page, models or the team. Choose another name.")
        return value

    @field_validator("study_parameter", "session_parameter")
    @classmethod
    def _is_no_other_parameter(cls, value: str, info: ValidationInfo) -> str:
        if value in (info.data.get("worker_parameter"), info.data.get("study_parameter")):
            raise ValueError("is the name of another parameter too. Give each parameter a unique name.")
        return value

    @field_validator("completion_url")
    @classmethod
    def _carries_code(cls, value: str | None, info: ValidationInfo) -> str | None:
        panel = PANELS.get(info.data.get("panel", ""))
        if panel is not None and panel.fixed_redirect:
            return value
        if value is not None and "{code}" not in value and "{worker}" not in value:
            raise ValueError("does not contain {code}. Write {code} where the platform expects the code.")
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
    currency: str = Field(
        default="USD", pattern=r"^[A-Z]{3}$", description="Currency of all amounts, as an ISO 4217 code."
    )
    fee_percent: float = Field(
        default=0,
        ge=0,
        le=100,
        description="Fee of the recruitment platform (`arrival.panel`), as a percentage of every payment to people "
        "who join from that platform. The number can have up to two decimals.",
    )
    minimum_hourly: Money = Field(
        default=0,
        description="Lowest acceptable hourly wage in minor units (cents). `chorale check` refuses stages that are "
        "expected to pay less (unpaid expert work is exempt). The console and `chorale status` warn when the "
        "measured wage is lower.",
    )
    budget: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000,
        description="Maximum cost of the study, including fees, in minor units (cents). When the next answer could "
        "exceed the budget, no more items are assigned.",
    )

    methods: tuple[Literal["paypal", "wise", "gift-card"], ...] = Field(
        default=(),
        description="Payment methods that workers can choose from. On their payment page, workers choose a method and "
        "enter their payment address. This needs the optional dependencies `encryption`: in a clone of Chorale, "
        "`pip install '.[encryption]'`. Default: no methods, for studies in which a platform pays.",
    )

    @field_validator("fee_percent")
    @classmethod
    def _is_whole_basis_points(cls, value: float) -> float:
        # Fees are summed exactly, which needs whole hundredths of a percent.
        if round(value, 2) != value:
            raise ValueError("has more than two decimals. Round it to two.")
        return value


class RetentionSettings(Settings):
    withdrawn_answers: Literal["remove", "keep"] = Field(
        default="remove",
        description="What happens to the answers of workers who withdraw, or whose data you erase with "
        "`chorale forget`. `remove`: the answers are removed too. `keep`: they are kept without anything that "
        "identifies the worker.",
    )
    identities_days: int | None = Field(
        default=None,
        ge=1,
        le=36_500,
        description="Number of days from a person's last visit until their platform ID, e-mail address and messages "
        "are erased. If the study still owes the person money, these data are kept until the payment.",
    )
    answers_days: int | None = Field(
        default=None,
        ge=1,
        le=36_500,
        description="Number of days from a person's last visit until their answers are erased. Export the answers "
        "before then.",
    )

    @property
    def acts(self) -> bool:
        """Whether anything is erased automatically."""
        return self.identities_days is not None or self.answers_days is not None


class WritingSettings(Settings):
    disclosure: str = Field(
        min_length=10,
        max_length=1000,
        description="Sentence that the consent form must contain. It discloses what is recorded: how much of an "
        "answer is pasted, how evenly it is typed, and how often the worker leaves the page.",
    )


class StudySettings(Settings):
    format: Literal[1] = Field(default=1, description="Version of the study file's format.")
    study: StudyInfo = Field(description="The study as a whole.")
    arrival: ArrivalSettings = Field(
        default=ArrivalSettings(), description="How workers join the study and return to their platform."
    )
    prolific: ProlificSettings | None = Field(default=None, description="Recruitment on Prolific.")
    mail: MailSettings | None = Field(default=None, description="Sending invitations and results by e-mail.")
    pay: PaySettings = Field(
        default=PaySettings(),
        description="Currency, fees, minimum wage, budget and payment methods of the whole study.",
    )
    retention: RetentionSettings = Field(default=RetentionSettings(), description="How long personal data are kept.")
    writing: WritingSettings | None = Field(
        default=None,
        description="Recording of how answers are typed, to detect pasted text and chatbots. Default: not recorded.",
    )
    arms: ArmsSettings | None = Field(
        default=None, description="The study's arms: conditions to which workers are assigned at random."
    )
    analysis: AnalysisSettings | None = Field(
        default=None, description="Planned comparisons of arms, fixed before anybody is assigned to one."
    )
    stage: tuple[StageSettings, ...] = Field(min_length=1, description="The stages, in order.")
    gate: tuple[GateSettings, ...] = Field(
        default=(),
        description="Decisions between stages: which workers may continue, and which bonus and message they get.",
    )
    model: tuple[ModelSettings, ...] = Field(default=(), description="Models that annotate in addition to people.")
