"""What a study file can say about finding people on Prolific."""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from chorale.model.setting_types import Code, Name, Settings, not_blank


class ProlificFilter(Settings):
    filter_id: str = Field(
        min_length=1, max_length=200, description="Prolific's name of the filter, e.g. `handedness`."
    )
    selected_values: tuple[str, ...] = Field(default=(), description="The choices people must have, by their ids.")
    lower: int | None = Field(default=None, description="The least, for a filter with a range.")
    upper: int | None = Field(default=None, description="The most, for a filter with a range.")

    @model_validator(mode="after")
    def _asks_for_something(self) -> "ProlificFilter":
        if bool(self.selected_values) == (self.lower is not None or self.upper is not None):
            raise ValueError("needs `selected_values`, or `lower` and `upper`, and not both")
        return self


class ProlificStudy(Settings):
    name: Name = Field(description="Short name of this study on Prolific, used in commands.")
    title: str | None = Field(
        default=None,
        min_length=1,
        max_length=120,
        description="What people on Prolific read; the study's title if not given.",
    )
    description: str = Field(
        min_length=1, max_length=10_000, description="What the study is about, for people on Prolific."
    )
    stages: tuple[Name, ...] = Field(
        default=(),
        description="The stages this study is for: whoever has done enough there may finish. All stages if not given.",
    )
    places: int = Field(ge=1, le=100_000, description="How many people. Raise it and publish again for more.")
    minutes: int = Field(ge=1, le=1440, description="How long it is expected to take, in minutes.")
    reward: int = Field(
        ge=1,
        le=1_000_000,
        description="Paid by Prolific for an approved submission, in minor units (cents). It counts towards what the "
        "ledger says: the rest is paid as a bonus.",
    )
    invite: Name | None = Field(
        default=None,
        description="Qualification people must hold: the study is open only to those who do, by an allow-list that "
        "is kept up to date.",
    )
    completion_code: Code | None = Field(default=None, description="Code for finished work; made up if not given.")
    screenout_code: Code | None = Field(
        default=None, description="Code for people who were stopped early; made up if not given."
    )
    devices: tuple[Literal["desktop", "tablet", "mobile"], ...] = Field(
        default=("desktop", "tablet", "mobile"), min_length=1, description="What people may work on."
    )
    filters: tuple[ProlificFilter, ...] = Field(default=(), description="Whom Prolific shows the study to.")

    _filled_in = field_validator("description")(not_blank)

    @model_validator(mode="after")
    def _codes_differ(self) -> "ProlificStudy":
        if self.completion_code is not None and self.completion_code == self.screenout_code:
            raise ValueError("has the same code for finished work and for people who were stopped early")
        return self


class ProlificSettings(Settings):
    project: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Prolific's id of the project the studies are made in; the account's own one if not given.",
    )
    approve: bool = Field(
        default=True,
        description="Approve submissions of people who did enough, by themselves, whenever Chorale talks to Prolific.",
    )
    sync_minutes: float = Field(
        default=2, ge=0.1, le=1440, description="How often the running site talks to Prolific, in minutes."
    )
    study: tuple[ProlificStudy, ...] = Field(
        min_length=1, description="Studies on Prolific: one, or one for every step that needs its own people."
    )

    @field_validator("study")
    @classmethod
    def _names_differ(cls, value: tuple[ProlificStudy, ...]) -> tuple[ProlificStudy, ...]:
        if len({study.name for study in value}) < len(value):
            raise ValueError("has a name twice. Give every study a name of its own.")
        return value
