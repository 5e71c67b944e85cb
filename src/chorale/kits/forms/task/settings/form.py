"""Settings of a form as a whole."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import InitErrorDetails

from chorale.kits.forms.task.settings.base import (
    REVIEW_REASON,
    FieldName,
    Kind,
    TableSettings,
    Words,
    problem_at,
    refuse,
)
from chorale.kits.forms.task.settings.field import FieldSettings
from chorale.kits.forms.task.settings.shows import PartSettings
from chorale.kits.forms.task.tokenizers import known_tokenizers


def _host(value: str) -> str:
    if not re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]{2,}(:\d{1,5})?", value):
        raise ValueError("is not a server URL. Write it like `https://media.example.org`, without a path.")
    return value


Host = Annotated[str, AfterValidator(_host)]


class FormOptions(TableSettings):
    shows: tuple[PartSettings, ...] = Field(
        default=(), max_length=40, description="The columns of an item that the form shows, from top to bottom."
    )
    fields: tuple[FieldSettings, ...] = Field(
        min_length=1, max_length=30, description="The questions of the form, from top to bottom."
    )
    hosts: tuple[Host, ...] = Field(
        default=(),
        max_length=20,
        description="Servers from which images, audio and video may be loaded, such as `https://media.example.org`. "
        "Default: media only from the study folder.",
    )
    hidden: tuple[FieldName, ...] = Field(
        default=(),
        max_length=30,
        description="Names of fields that this stage leaves out, if several stages share the form (`options_from`). "
        "Default: every field is asked.",
    )

    review: Words | None = Field(
        default=None,
        description="Makes this a form for reviewers, in a stage with `decides_sources`. The form shows the answers "
        "to an item side by side, without names. The value is the question that asks for the reason for the decision. "
        "Default: a form for annotators.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FormOptions":
        problems = (*self._shown_twice(), *self._named_twice(), *self._unreachable(), *self._wrongly_hidden())
        refuse(type(self).__name__, [*problems, *self._wrong_tokenizers()])
        return self

    @property
    def asked(self) -> tuple[FieldSettings, ...]:
        """The fields that are not hidden. Reviewers decide the compared fields and give a reason."""
        asked = tuple(field for field in self.fields if field.name not in self.hidden)
        if self.review is None:
            return asked
        decided = [field for field in asked if field.kind not in (Kind.TEXT, Kind.LONG_TEXT) or field.compare]
        # If reviewers mark or choose nothing, that is their decision, not a missing field. They decide between people's
        # answers, so a suggestion is not filled in for them.
        empty = {"required": True, "min": 0}
        decided = [
            field.model_copy(update={"prefill": None, **(empty if field.may_be_empty else {})}) for field in decided
        ]
        reason = FieldSettings.model_construct(name=REVIEW_REASON, kind=Kind.LONG_TEXT, ask=self.review)
        return (*decided, reason)

    def _wrongly_hidden(self) -> Iterator[InitErrorDetails]:
        names = {field.name for field in self.fields}
        for number, name in enumerate(self.hidden):
            if name not in names:
                known = ", ".join(f"`{field.name}`" for field in self.fields)
                yield problem_at(("hidden", number), f"is not a field of the form. Use one or more of: {known}.", name)
        if names <= {*self.hidden}:
            words = "hides every field. Keep at least one field."
            yield problem_at(("hidden",), words, list(self.hidden))
        for field in self.asked:
            if field.shown_if is not None and field.shown_if.field in self.hidden:
                words = f"hides `{field.shown_if.field}`, which decides whether `{field.name}` is asked. Hide both."
                yield problem_at(("hidden",), words, list(self.hidden))

    def _wrong_tokenizers(self) -> Iterator[InitErrorDetails]:
        cut: dict[str | None, str | None] = {}
        for number, field in enumerate(self.fields):
            at = ("fields", number, "tokenizer")
            if field.tokenizer is not None and field.tokenizer not in (known := known_tokenizers()):
                names = ", ".join(f"`{name}`" for name in known)
                words = f"is not an installed tokenizer. Use one of: {names}."
                yield problem_at(at, words, field.tokenizer)
            elif field.kind not in (Kind.SPANS, Kind.RELATIONS):
                continue
            elif cut.setdefault(field.item, field.tokenizer) != field.tokenizer:
                words = (
                    "differs from the tokenizer of another field with the same column. Use the same tokenizer for both."
                )
                yield problem_at(at, words, field.tokenizer)

    def _shown_twice(self) -> Iterator[InitErrorDetails]:
        seen: set[str] = set()
        for number, part in enumerate(self.shows):
            if part.item in seen:
                yield problem_at(("shows", number, "item"), "is already shown. Show every column only once.", part.item)
            if part.highlight == part.item:
                words = "is the column itself. Use a column that contains a part of its text."
                yield problem_at(("shows", number, "highlight"), words, part.item)
            seen.add(part.item)

    def _named_twice(self) -> Iterator[InitErrorDetails]:
        seen: set[str] = set()
        for number, field in enumerate(self.fields):
            if field.name in seen:
                yield problem_at(
                    ("fields", number, "name"), "is already the name of another field. Choose another name.", field.name
                )
            seen.add(field.name)

    def _unreachable(self) -> Iterator[InitErrorDetails]:
        """Rejects fields that can never appear, or that depend on later fields."""
        for number, field in enumerate(self.fields):
            if field.shown_if is None:
                continue
            at = ("fields", number, "shown_if")
            earlier = {each.name: each for each in self.fields[:number] if each.answers}
            asked = earlier.get(field.shown_if.field)
            if asked is None:
                known = ", ".join(f"`{name}`" for name in earlier)
                fix = f"Use one of: {known}." if known else "Put a field with options before this one."
                yield problem_at(
                    (*at, "field"), f"is not an earlier field with a list of answers. {fix}", field.shown_if.field
                )
                continue
            unknown = [value for value in field.shown_if.is_ if value not in asked.answers]
            if unknown:
                known = ", ".join(f"`{value}`" for value in asked.answers)
                yield problem_at((*at, "is"), f"is not an answer to `{asked.name}`. Use one of: {known}.", unknown[0])
