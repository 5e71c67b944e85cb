"""What the study file says of a form: what it shows of an item, and what it asks."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from chorale.kits.forms.task.gold_checks import GoldCheck

RESERVED_NAMES = ("item", "worker", "trust", "confidence", "judgments", "released")
"""Columns of the exports, beside one for each field."""
RESERVED_ENDINGS = ("_confidence", "_order")
"""Endings of more columns that the exports have for a field."""
BESIDE_THE_ITEM = ("id", "answer", "explanation")
"""Columns of the files that are no part of an item."""
PIECES = "pieces"
"""Where the view has texts cut into tokens."""
SAME = "same"
"""The answer that neither side of a pair is ahead."""
LEVELS = 5
MOST_LEVELS = 11
LONGEST_TEXT = 10_000
LONGEST_LINE = 200


class Kind(StrEnum):
    CHOICE = "choice"
    CHOICES = "choices"
    LIKERT = "likert"
    TEXT = "text"
    LONG_TEXT = "long_text"
    SPANS = "spans"
    PAIR = "pair"


class Match(StrEnum):
    """When marked words count as right."""

    EXACT = "exact"
    F1 = "f1"
    IOU = "iou"


class Look(StrEnum):
    QUOTE = "quote"
    TEXT = "text"
    HEADING = "heading"


_OF_KIND: Mapping[str, tuple[Kind, ...]] = {
    "options": (Kind.CHOICE, Kind.CHOICES, Kind.SPANS),
    "none": (Kind.CHOICES,),
    "shuffle": (Kind.CHOICE, Kind.CHOICES, Kind.PAIR),
    "min": (Kind.CHOICES, Kind.TEXT, Kind.LONG_TEXT, Kind.SPANS),
    "max": (Kind.CHOICES, Kind.TEXT, Kind.LONG_TEXT, Kind.SPANS),
    "min_words": (Kind.TEXT, Kind.LONG_TEXT),
    "max_words": (Kind.TEXT, Kind.LONG_TEXT),
    "levels": (Kind.LIKERT,),
    "labels": (Kind.LIKERT,),
    "tolerance": (Kind.LIKERT,),
    "points": (Kind.CHOICE, Kind.LIKERT),
    "item": (Kind.SPANS,),
    "overlap": (Kind.SPANS,),
    "match": (Kind.SPANS,),
    "enough": (Kind.SPANS,),
    "compare": (Kind.TEXT, Kind.LONG_TEXT),
    "sides": (Kind.PAIR,),
    "same": (Kind.PAIR,),
}
"""The settings that not every kind of field has."""
_NEEDED: Mapping[Kind, str] = {Kind.CHOICE: "options", Kind.CHOICES: "options", Kind.SPANS: "item", Kind.PAIR: "sides"}


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank. Fill it in.")
    return value


def _field_name(value: str) -> str:
    if value in RESERVED_NAMES or value.endswith(RESERVED_ENDINGS):
        raise ValueError("is a column of the exports already. Choose another name.")
    if not (value.isascii() and value.replace("_", "").isalnum() and value == value.lower() and value[0].isalpha()):
        raise ValueError("is not a name. Use lower-case letters, digits and underscores, beginning with a letter.")
    return value


def _item_field(value: str) -> str:
    if value in BESIDE_THE_ITEM:
        raise ValueError("stands beside the item and is never shown. Name a column of the item itself.")
    if value == PIECES:
        raise ValueError("is a name the form needs itself. Call the column something else.")
    return _not_blank(value)


Words = Annotated[str, Field(max_length=500), AfterValidator(_not_blank)]
FieldName = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_field_name)]
ItemField = Annotated[str, Field(max_length=100), AfterValidator(_item_field)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _option(raw: Any) -> Any:
    """Let `"polite"` stand for an option that is stored as it is shown."""
    if isinstance(raw, str):
        return {"value": raw, "label": raw}
    if isinstance(raw, dict) and "value" in raw:
        return {"label": raw["value"], **raw}
    if not isinstance(raw, dict | OptionSettings):
        raise ValueError("is not text. Write options in quotes.")
    return raw


def _listed(raw: Any) -> Any:
    """Let one value stand for a list of it."""
    values = raw if isinstance(raw, list | tuple) else [raw]
    if not values or not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
        raise ValueError("is no answer. Write a text, a level of a scale, or a list of them.")
    return tuple(values)


class OptionSettings(_Settings):
    value: Annotated[str, Field(max_length=100), AfterValidator(_not_blank)] = Field(description="What is stored.")
    label: Words = Field(description="What workers read; the value if not given.")


class ConditionSettings(_Settings):
    field: FieldName = Field(description="Name of a field that stands earlier in the form.")
    is_: Annotated[tuple[str | int, ...], BeforeValidator(_listed)] = Field(
        alias="is", description="The answer to it, or a list of answers, that makes this field appear."
    )


class PartSettings(_Settings):
    item: ItemField = Field(description="The column of the items file to show.")
    label: Words | None = Field(default=None, description="A line above it.")
    look: Look = Field(default=Look.QUOTE, description="How it is set: `quote`, `text` or `heading`.")
    sticky: bool = Field(default=False, description="Keep it in view while the fields below are filled in.")
    highlight: ItemField | None = Field(
        default=None, description="A column whose text occurs in this one and is marked where it first does."
    )
    optional: bool = Field(default=False, description="Items may go without it.")


class FieldSettings(_Settings):
    name: FieldName = Field(
        description="Name of the field in answers and exports: lower-case letters, digits and underscores."
    )
    kind: Kind = Field(description="What is asked for.")
    ask: Words = Field(description="The question, as workers read it.")
    hint: Words | None = Field(default=None, description="A line below the question.")
    required: bool = Field(default=True, description="Whether it must be answered.")
    gold: GoldCheck | None = Field(
        default=None,
        description="How gold is compared: `exact`, `within` (`tolerance`; `match` and `enough`), `one_of` (gold is a "
        "list), `regex` (gold is a pattern), `none` (not at all). Default: `within`; free text is not compared.",
    )
    compare: bool = Field(
        default=False,
        description="`text`, `long_text`: whether answers are labels to be compared and aggregated, without regard to "
        "case and white space. Default: free text is collected and never compared.",
    )
    part: bool = Field(
        default=False,
        description="Whether what is filled in here is a part of the answer that `stage.pay.parts` pays by number.",
    )
    shown_if: ConditionSettings | None = Field(
        default=None, description="Ask only after a certain answer to an earlier field: a table of `field` and `is`."
    )
    options: tuple[Annotated[OptionSettings, BeforeValidator(_option)], ...] | None = Field(
        default=None,
        max_length=50,
        description="`choice`, `choices`: what there is to choose from. `spans`: what a span can be marked as. Texts, "
        "or tables of `value` (stored) and `label` (read).",
    )
    none: Words | None = Field(
        default=None,
        description="`choices`: an option that excludes all others, such as “None of these”. It is stored as an empty "
        "list.",
    )
    shuffle: bool = Field(
        default=False,
        description="`choice`, `choices`: every worker has the options in an order of their own. `pair`: the sides "
        "change places at random from item to item. Answers are stored the same either way.",
    )
    min: int | None = Field(
        default=None,
        ge=0,
        le=LONGEST_TEXT,
        description="The fewest options (`choices`), spans (`spans`) or characters (`text`, `long_text`).",
    )
    max: int | None = Field(
        default=None,
        ge=1,
        le=LONGEST_TEXT,
        description=f"The most of them. Texts have at most {LONGEST_LINE} characters in a line (`text`) and "
        f"{LONGEST_TEXT:,} in `long_text` unless this says otherwise.",
    )
    min_words: int | None = Field(default=None, ge=0, description="`text`, `long_text`: the fewest words.")
    max_words: int | None = Field(default=None, ge=1, description="`text`, `long_text`: the most words.")
    levels: int | None = Field(
        default=None,
        ge=2,
        le=MOST_LEVELS,
        description=f"`likert`: how many levels the scale has; as many as `labels`, or {LEVELS}, if not given.",
    )
    labels: tuple[Words, ...] | None = Field(
        default=None, description="`likert`: words for the two ends of the scale, or for every level."
    )
    tolerance: int | None = Field(
        default=None, ge=0, description="`likert`: how far from gold an answer still is right; 0 if not given."
    )
    points: tuple[Annotated[float, Field(ge=0, le=1)], ...] | None = Field(
        default=None,
        description="`choice`, `likert`: what each option or level is worth, from 0 to 1, in their order. A form with "
        "them is a rubric: a stage can grade with it.",
    )
    item: ItemField | None = Field(
        default=None, description="`spans`: the column with the text to mark words in, or with a list of its tokens."
    )
    overlap: bool = Field(default=False, description="`spans`: let spans overlap.")
    match: Match | None = Field(
        default=None,
        description="`spans`: what is compared with gold: `exact` spans, or tokens by `f1` or `iou` (shared over all); "
        "`f1` if not given.",
    )
    enough: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="`spans`: the `f1` or `iou` from which the field is right. Default: 0.8. How many fields must be "
        "right is said by `pass_score` of the stage's gold.",
    )
    sides: tuple[ItemField, ...] | None = Field(
        default=None, description="`pair`: the two columns whose texts are compared. The one chosen is the answer."
    )
    same: Words | None = Field(
        default=None, description="`pair`: a third option such as “About the same”, stored as `same`."
    )

    @field_validator(*_OF_KIND)
    @classmethod
    def _belongs_to_kind(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        kinds = _OF_KIND[info.field_name or ""]
        if kind is not None and kind not in kinds and value is not None and value is not False:
            named = " and ".join(f"`{each}`" for each in kinds)
            raise ValueError(f"is for fields of the kind {named}, and this one is a `{kind}`. Remove it.")
        return value

    @model_validator(mode="after")
    def _is_complete(self) -> "FieldSettings":
        refuse(type(self).__name__, [*self._gaps(), *self._contradictions()])
        return self

    def _gaps(self) -> Iterator[InitErrorDetails]:
        needed = _NEEDED.get(self.kind)
        if needed is not None and getattr(self, needed) is None:
            yield InitErrorDetails(type="missing", loc=(needed,), input={})

    def _contradictions(self) -> Iterator[InitErrorDetails]:
        values = [option.value for option in self.options or ()]
        if len(set(values)) < len(values):
            yield problem_at(("options",), "has a value twice. Give every option a value of its own.", values)
        if self.kind is Kind.CHOICE and len(values) == 1:
            yield problem_at(("options",), "leaves nothing to choose. Give two options at least.", values)
        for low, high in (("min", "max"), ("min_words", "max_words")):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and most < least:
                yield problem_at((high,), f"is below `{low}` ({least}). Write at least {least}.", most)
        if self.kind is Kind.CHOICES and self.options is not None:
            for name in ("min", "max"):
                if (bound := getattr(self, name)) is not None and bound > len(values):
                    yield problem_at((name,), f"is more than there are options. Write at most {len(values)}.", bound)
        if self.kind is Kind.TEXT and self.max is None and (self.min or 0) > LONGEST_LINE:
            yield problem_at(("min",), f"is more than a line has. Give `max` too, or use `{Kind.LONG_TEXT}`.", self.min)
        yield from self._wrong_scale()
        if self.sides is not None and (len(self.sides) != 2 or len(set(self.sides)) < 2 or SAME in self.sides):
            yield problem_at(
                ("sides",), f"is not a pair. Name two different columns, neither of them `{SAME}`.", list(self.sides)
            )

    def _wrong_scale(self) -> Iterator[InitErrorDetails]:
        levels = self.scale
        if self.labels is not None and len(self.labels) not in (2, levels):
            yield problem_at(
                ("labels",), f"does not fit {levels} levels. Write two labels, or {levels}.", list(self.labels)
            )
        if self.tolerance is not None and self.tolerance >= levels - 1:
            yield problem_at(("tolerance",), f"lets any answer pass. Write less than {levels - 1}.", self.tolerance)
        if self.points is not None and self.answers and len(self.points) != len(self.answers):
            count = len(self.answers)
            yield problem_at(("points",), f"does not fit {count} answers. Write {count} numbers.", list(self.points))

    @property
    def scale(self) -> int:
        """The levels of a scale."""
        labels = len(self.labels or ())
        return self.levels or (labels if 2 < labels <= MOST_LEVELS else LEVELS)

    @property
    def least(self) -> int:
        """The fewest options, spans or characters an answer may have."""
        if self.kind is Kind.SPANS:
            return int(self.required) if self.min is None else self.min
        fewest = 1 if self.min is None else self.min
        return fewest if self.kind is Kind.CHOICES else max(1, fewest)

    @cached_property
    def answers(self) -> tuple[str | int, ...]:
        """What another field's `shown_if` can ask for; empty if that can't be listed."""
        match self.kind:
            case Kind.CHOICE | Kind.CHOICES:
                return tuple(option.value for option in self.options or ())
            case Kind.LIKERT:
                return tuple(range(1, self.scale + 1))
            case Kind.PAIR:
                return (*(self.sides or ()), *((SAME,) if self.same else ()))
        return ()


class FormOptions(_Settings):
    shows: tuple[PartSettings, ...] = Field(
        default=(), max_length=40, description="What the form shows of an item, from top to bottom."
    )
    fields: tuple[FieldSettings, ...] = Field(
        min_length=1, max_length=30, description="What the form asks, from top to bottom."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FormOptions":
        refuse(type(self).__name__, [*self._shown_twice(), *self._named_twice(), *self._unreachable()])
        return self

    def _shown_twice(self) -> Iterator[InitErrorDetails]:
        seen: set[str] = set()
        for number, part in enumerate(self.shows):
            if part.item in seen:
                yield problem_at(("shows", number, "item"), "is shown already. Show every column once.", part.item)
            if part.highlight == part.item:
                words = "is the column itself. Name one with a part of its text."
                yield problem_at(("shows", number, "highlight"), words, part.item)
            seen.add(part.item)

    def _named_twice(self) -> Iterator[InitErrorDetails]:
        seen: set[str] = set()
        for number, field in enumerate(self.fields):
            if field.name in seen:
                yield problem_at(
                    ("fields", number, "name"), "is the name of an earlier field too. Choose another.", field.name
                )
            seen.add(field.name)

    def _unreachable(self) -> Iterator[InitErrorDetails]:
        """Fields that can never appear, or depend on what is not known yet."""
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
                    (*at, "field"), f"is no earlier field whose answers can be listed. {fix}", field.shown_if.field
                )
                continue
            unknown = [value for value in field.shown_if.is_ if value not in asked.answers]
            if unknown:
                known = ", ".join(f"`{value}`" for value in asked.answers)
                yield problem_at((*at, "is"), f"is no answer to `{asked.name}`. Use one of: {known}.", unknown[0])


def problem_at(loc: tuple[str | int, ...], words: str, value: Any) -> InitErrorDetails:
    kind = PydanticCustomError("value_error", "Value error, {words}", {"words": words})
    return InitErrorDetails(type=kind, loc=loc, input=value)


def refuse(title: str, problems: Sequence[InitErrorDetails]) -> None:
    """Tell all of it, each where it stands: a plain ValueError would be told once, of the whole table."""
    if problems:
        raise ValidationError.from_exception_data(title, list(problems))
