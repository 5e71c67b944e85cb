"""Types of settings."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0, le=1)]
PassScore = Annotated[float, Field(gt=0, le=1)] | None
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
CriterionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
MOST_MONEY = 1_000_000
"""Maximum of one amount, in minor units."""
Money = Annotated[int, Field(ge=0, le=MOST_MONEY)]
RelativePath = Annotated[str, Field(min_length=1, max_length=400)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Settings(BaseModel):
    """A table of the study file: immutable, without unknown settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank. Fill it in.")
    return value


def one_or_several(value: Any) -> Any:
    """Accept a single text as a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def yes_no_or_group(value: Any) -> Any:
    if not isinstance(value, bool) and value != "group":
        raise ValueError('is neither true nor false nor "group". Write one of them, true and false without quotes.')
    return value
