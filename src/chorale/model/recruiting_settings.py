"""Settings for recruiting on Prolific."""

from math import ceil, sqrt
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from chorale.model.setting_types import Code, Name, Settings, not_blank


def _number_or_date(value: Any) -> Any:
    """One message instead of one for each possible type."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError('is neither a number nor a date. Write 18 or "1990-01-31".')
    return value


Bound = Annotated[int | float | str, BeforeValidator(_number_or_date)]
Label = Literal[
    "survey",
    "writing_task",
    "annotation",
    "decision_making_task",
    "interview",
    "other",
    "ai_annotation",
    "ai_evaluation",
    "ai_reasoning",
    "ai_fact_checking",
    "ai_safety",
    "ai_data_creation_text",
    "ai_data_creation_audio",
    "ai_data_creation_video",
    "ai_data_creation_images",
    "ai_other",
]
GROUPS = ("and", "or")


class ProlificQuota(Settings):
    lower: Bound | None = Field(default=None, description="Lower end of this part of the range.")
    upper: Bound | None = Field(default=None, description="Upper end of this part of the range.")
    weighting: float = Field(gt=0, description="Share of participants from this part of the range.")


class ProlificFilter(Settings):
    filter_id: str = Field(
        min_length=1,
        max_length=200,
        description="Prolific's name for the filter, e.g. `handedness`. For a group of filters: `and` or `or`.",
    )
    selected_values: tuple[str, ...] = Field(default=(), description="Prolific's IDs for the accepted choices.")
    lower: Bound | None = Field(
        default=None,
        description='Lowest accepted value, for a filter with a range. Write dates as text, such as `"1990-01-31"`.',
    )
    upper: Bound | None = Field(
        default=None, description="Highest accepted value, for a filter with a range. Write dates as text."
    )
    weightings: dict[str, float | ProlificQuota] = Field(
        default_factory=dict,
        description="Quotas: the share of participants for each choice. For a range: one table for each part of the "
        "range, under a name of your own.",
    )
    selected_filters: tuple["ProlificFilter", ...] = Field(
        default=(),
        description="The filters of a group. With `and`, all of these filters must match; with `or`, at least one.",
    )

    @field_validator("weightings", mode="before")
    @classmethod
    def _shares(cls, value: Any) -> Any:
        shares = value.values() if isinstance(value, dict) else ()
        if any(isinstance(share, bool) or not isinstance(share, int | float | dict) for share in shares):
            raise ValueError("has a share that is not a number. Write the share of each choice, such as 30.")
        return value

    @model_validator(mode="after")
    def _asks_for_something(self) -> "ProlificFilter":
        is_range = self.lower is not None or self.upper is not None
        if self.filter_id in GROUPS and not self.selected_filters:
            raise ValueError("is a group without filters. Add `selected_filters`, or set `filter_id` to a filter's ID.")
        if self.selected_filters and self.filter_id not in GROUPS:
            raise ValueError('has `selected_filters` but is not a group. Set `filter_id` to "and" or "or".')
        if self.selected_filters and (self.selected_values or is_range or self.weightings):
            raise ValueError("is a group with values of its own. Put values and quotas into the filters of the group.")
        if not self.selected_filters and bool(self.selected_values) == is_range:
            raise ValueError("needs choices or a range, not both. Set `selected_values`, or `lower` and `upper`.")
        if any(isinstance(share, ProlificQuota) != is_range for share in self.weightings.values()):
            raise ValueError("has quotas of the wrong kind. Give a number for each choice, or parts of the range.")
        if not is_range and set(self.weightings) - set(self.selected_values):
            raise ValueError(
                "has a quota for a choice that is not in `selected_values`. Add the choice, or remove its quota."
            )
        return self

    def body(self) -> dict[str, Any]:
        """The filter in the format of Prolific's API."""
        if self.selected_filters:
            return {"filter_id": self.filter_id, "selected_filters": [one.body() for one in self.selected_filters]}
        quotas = {
            name: {"selected_range": _between(share.lower, share.upper), "weighting": share.weighting}
            if isinstance(share, ProlificQuota)
            else share
            for name, share in self.weightings.items()
        }
        asked: dict[str, Any] = (
            {"selected_values": list(self.selected_values)}
            if self.selected_values
            else {"selected_range": _between(self.lower, self.upper)}
        )
        return {"filter_id": self.filter_id, **asked, **({"weightings": quotas} if quotas else {})}


def _between(lower: Bound | None, upper: Bound | None) -> dict[str, Bound]:
    return {side: bound for side, bound in (("lower", lower), ("upper", upper)) if bound is not None}


class ProlificStudy(Settings):
    name: Name = Field(description="Short name for this study in commands.")
    title: str | None = Field(
        default=None,
        min_length=1,
        max_length=120,
        description="Title on Prolific. Default: the title in `[study]`.",
    )
    description: str = Field(
        min_length=1, max_length=10_000, description="Description of the study for people on Prolific."
    )
    stages: tuple[Name, ...] = Field(
        default=(),
        description="The stages that count for this study: people who have done enough work in these stages may "
        "finish. Default: all stages.",
    )
    places: int = Field(
        ge=1,
        le=100_000,
        description="Number of participants. To recruit more people, raise this number and publish again.",
    )
    minutes: int = Field(ge=1, le=1440, description="Expected duration in minutes.")
    maximum_minutes: int | None = Field(
        default=None,
        ge=1,
        le=1440,
        description="Minutes after which Prolific times out a submission. Default: the maximum that Prolific allows.",
    )
    reward: int = Field(
        ge=1,
        le=1_000_000,
        description="Prolific's reward for an approved submission, in minor units (cents). The reward counts towards "
        "the worker's earnings; the rest of the earnings is paid as a bonus.",
    )
    invite: Name | None = Field(
        default=None,
        description="Qualification that participants must have. Only people on the study's allow-list can take part; "
        "every sync adds the people with this qualification to that list.",
    )
    follows: Name | None = Field(
        default=None,
        description="Name of an earlier study in `[prolific]`, for longitudinal studies. Only people whose "
        "submission to the earlier study was approved can take part.",
    )
    allow_groups: tuple[str, ...] = Field(
        default=(), description="Prolific's IDs for participant groups: only their members can take part."
    )
    block_groups: tuple[str, ...] = Field(
        default=(), description="Prolific's IDs for participant groups whose members cannot take part."
    )
    completion_code: Code | None = Field(default=None, description="Code for finished work. Default: a random one.")
    screenout_code: Code | None = Field(
        default=None,
        description="Code for people who did not pass a quiz or gate, or were removed. Default: a random one.",
    )
    screenout: Literal["approve", "fixed", "return"] = Field(
        default="approve",
        description="How people with the screen-out code are paid. `approve`: they get the reward. `fixed`: Prolific "
        "pays `screenout_reward`; your workspace must have fixed screen-out payments. `return`: Prolific asks people "
        "to return the submission, and their earnings are paid as a bonus.",
    )
    screenout_reward: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description='With `screenout = "fixed"`: the payment in minor units (cents). It must be below `reward`, and '
        "cannot change after the study is published.",
    )
    screenout_slots: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description='With `screenout = "fixed"`: number of people who can be screened out before Prolific pauses the '
        "study. Default: `places`.",
    )
    submissions_per_person: int = Field(
        default=1,
        ge=-1,
        le=100_000,
        description="How many times one person can take part; -1 means no limit. For each submission, only work since "
        "the person last joined counts.",
    )
    at_once: int | None = Field(
        default=None, ge=1, le=100_000, description="How many people can work at the same time. Default: no limit."
    )
    label: Label | None = Field(default=None, description="Prolific's label for the kind of work.")
    content_warning: Literal["sensitive", "explicit"] | None = Field(
        default=None, description="Prolific's warning about what people will see."
    )
    content_warning_details: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="Text that explains the content warning to participants.",
    )
    devices: tuple[Literal["desktop", "tablet", "mobile"], ...] = Field(
        default=("desktop", "tablet", "mobile"), min_length=1, description="Devices that people may use."
    )
    filters: tuple[ProlificFilter, ...] = Field(
        default=(), description="Prolific's filters, which determine who can see the study."
    )
    filter_set: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Prolific's ID for a filter set. It cannot be combined with `filters`, `invite`, `follows`, "
        "`allow_groups` or `block_groups`.",
    )
    filter_set_version: int | None = Field(
        default=None, ge=1, description="Version of the filter set. Default: the latest."
    )

    _filled_in = field_validator("description")(not_blank)

    @model_validator(mode="after")
    def _fits_together(self) -> "ProlificStudy":
        if self.completion_code is not None and self.completion_code == self.screenout_code:
            raise ValueError(
                "has the same code for finished work and for people who were stopped early. Use two codes."
            )
        if (self.screenout == "fixed") != (self.screenout_reward is not None):
            raise ValueError('has only one of `screenout = "fixed"` and `screenout_reward`. Set both, or neither.')
        if self.screenout_reward is not None and self.screenout_reward >= self.reward:
            raise ValueError("has a `screenout_reward` that is not below `reward`. Lower it, as Prolific requires.")
        if self.screenout_slots is not None and self.screenout != "fixed":
            raise ValueError('has `screenout_slots` without `screenout = "fixed"`. Remove this setting.')
        if self.submissions_per_person == 0:
            raise ValueError("has `submissions_per_person = 0`. Use 1 or more, or -1 for any number.")
        if self.content_warning_details is not None and self.content_warning is None:
            raise ValueError("has `content_warning_details` without `content_warning`. Add the warning.")
        narrowed = self.filters or self.allow_groups or self.block_groups or self.invite or self.follows
        if self.filter_set is not None and narrowed:
            raise ValueError(
                "has a filter set and other filters, which Prolific does not combine. Use one of them; `invite`, "
                "`follows` and groups are filters too."
            )
        if self.filter_set_version is not None and self.filter_set is None:
            raise ValueError("has `filter_set_version` without `filter_set`. Add the filter set.")
        if self.invite is not None and self.follows is not None:
            raise ValueError("has `invite` and `follows`. Use one of them.")
        return self

    @model_validator(mode="after")
    def _long_enough(self) -> "ProlificStudy":
        least = ceil(2 + 2 * self.minutes + 2 * sqrt(self.minutes))
        if self.maximum_minutes is not None and self.maximum_minutes < least:
            raise ValueError(
                f"has `maximum_minutes = {self.maximum_minutes}`. Set at least {least}, which Prolific "
                f"requires for {self.minutes} minutes."
            )
        return self

    @property
    def slots(self) -> int:
        """Number of people who can get a fixed screen-out payment."""
        return self.places if self.screenout_slots is None else self.screenout_slots


class ProlificSettings(Settings):
    project: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Prolific's ID for the project in which studies are created. Default: the account's first project.",
    )
    approve: bool = Field(
        default=True,
        description="Whether every sync automatically approves submissions of people who have finished "
        "(`arrival.finish_after`).",
    )
    sync_minutes: float = Field(
        default=2, ge=0.1, le=1440, description="Minutes between syncs of the running site with Prolific."
    )
    webhooks: bool = Field(
        default=False,
        description="Whether Prolific notifies the site of changes, in addition to regular syncs (`sync_minutes`). "
        "The site needs an https address.",
    )
    study: tuple[ProlificStudy, ...] = Field(
        min_length=1,
        description="Studies on Prolific: usually one, or several if different steps of your study recruit different "
        "people.",
    )

    @field_validator("study")
    @classmethod
    def _names_differ(cls, value: tuple[ProlificStudy, ...]) -> tuple[ProlificStudy, ...]:
        names = [study.name for study in value]
        if len(set(names)) < len(names):
            raise ValueError("has a duplicate name. Give every study a unique name.")
        for number, study in enumerate(value):
            if study.follows is not None and study.follows not in names[:number]:
                raise ValueError(
                    f"has `follows = {study.follows!r}` in {study.name!r}, which is not an earlier study of "
                    "[prolific]. Name an earlier one."
                )
        return value
