"""Settings of the parts of an item that a form shows."""

from enum import StrEnum

from pydantic import ConfigDict, Field, model_validator

from chorale.kits.forms.task.settings.base import ItemField, TableSettings, Words, problem_at, refuse, used_with


class Look(StrEnum):
    QUOTE = "quote"
    TEXT = "text"
    HEADING = "heading"
    MARKDOWN = "markdown"
    CODE = "code"
    DIALOGUE = "dialogue"
    PICTURE = "picture"
    AUDIO = "audio"
    VIDEO = "video"


PLAIN = (Look.QUOTE, Look.TEXT, Look.HEADING)
MEDIA = (Look.PICTURE, Look.AUDIO, Look.VIDEO)
_OF_LOOK = {"highlight": PLAIN, "alt": (Look.PICTURE,), "transcript": (Look.AUDIO, Look.VIDEO)}
"""Settings that depend on the look."""


class PartSettings(TableSettings):
    model_config = ConfigDict(title="part", json_schema_extra=used_with("look", _OF_LOOK))

    item: ItemField = Field(description="The column of the items file to show.")
    label: Words | None = Field(default=None, description="A line of text above the column.")
    look: Look = Field(
        default=Look.QUOTE,
        description="Display style. For text: `quote`, `text`, `heading`, `markdown` (no HTML or pictures), `code` or "
        "`dialogue` (a list of objects with `speaker` and `text`). For media: `picture`, `audio` or `video`, with a "
        "file in the study folder or an https URL on one of the form's `hosts`.",
    )
    sticky: bool = Field(default=False, description="Keep the column visible while workers fill in the fields below.")
    beside: bool = Field(
        default=False, description="Show the column next to the previous one, if the screen is wide enough."
    )
    highlight: ItemField | None = Field(
        default=None,
        description="Column with a text to highlight: the first occurrence of this text in the shown column is marked.",
    )
    alt: ItemField | None = Field(
        default=None,
        description="`picture`: the column with a description of the picture, for people who cannot see the picture.",
    )
    transcript: ItemField | None = Field(
        default=None,
        description="`audio`, `video`: the column with a transcript, which workers can open below the player.",
    )
    optional: bool = Field(default=False, description="Whether the column may be empty.")

    @model_validator(mode="after")
    def _fits_its_look(self) -> "PartSettings":
        problems = []
        for name, looks in _OF_LOOK.items():
            if (value := getattr(self, name)) is not None and self.look not in looks:
                named = ", ".join(f"`{look}`" for look in looks)
                words = f"only applies to the look {named}, but this part has the look `{self.look}`. Remove it."
                problems.append(problem_at((name,), words, value))
        refuse(type(self).__name__, problems)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """All displayed columns of the item."""
        return tuple(each for each in (self.item, self.highlight, self.alt, self.transcript) if each)
