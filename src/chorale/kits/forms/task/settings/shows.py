"""What the study file says of the parts of an item that a form shows."""

from enum import StrEnum

from pydantic import Field

from chorale.kits.forms.task.settings.base import ItemField, TableSettings, Words


class Look(StrEnum):
    QUOTE = "quote"
    TEXT = "text"
    HEADING = "heading"


class PartSettings(TableSettings):
    item: ItemField = Field(description="The column of the items file to show.")
    label: Words | None = Field(default=None, description="A line above it.")
    look: Look = Field(default=Look.QUOTE, description="How it is set: `quote`, `text` or `heading`.")
    sticky: bool = Field(default=False, description="Keep it in view while the fields below are filled in.")
    highlight: ItemField | None = Field(
        default=None, description="A column whose text occurs in this one and is marked where it first does."
    )
    optional: bool = Field(default=False, description="Items may go without it.")
