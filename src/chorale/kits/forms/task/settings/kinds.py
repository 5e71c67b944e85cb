"""Settings for some kinds of fields, one class per group."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from chorale.kits.forms.task.settings.base import (
    LEVELS,
    LONGEST_LINE,
    LONGEST_TEXT,
    MOST_LEVELS,
    ItemField,
    Kind,
    TableSettings,
    Words,
)
from chorale.kits.forms.task.settings.options import Option, Relation

OfKind = Mapping[str, tuple[Kind, ...]]
REGIONS = (Kind.BOXES, Kind.POLYGONS, Kind.SEGMENTS)
TURNS = (Kind.TURN_CHOICE, Kind.TURN_SPANS)
MARKED = (Kind.SPANS, Kind.RELATIONS, Kind.TURN_SPANS, *REGIONS)
"""Kinds whose answer is a list of labelled regions."""


class Match(StrEnum):
    """When marked spans count as correct."""

    EXACT = "exact"
    F1 = "f1"
    IOU = "iou"


class ChoiceSettings(TableSettings):
    """Options and their order."""

    OF_KIND: ClassVar[OfKind] = {
        "options": (Kind.CHOICE, Kind.CHOICES, Kind.RANKING, Kind.TURN_CHOICE, *MARKED),
        "none": (Kind.CHOICES,),
        "shuffle": (Kind.CHOICE, Kind.CHOICES, Kind.PAIR, Kind.RANKING, Kind.BEST_WORST),
        "points": (Kind.CHOICE, Kind.LIKERT),
    }
    options: tuple[Option, ...] | None = Field(
        default=None,
        max_length=50,
        description="`choice`, `choices`, `ranking`, `turn_choice`: the options to choose from. `spans`, `turn_spans`, "
        "`relations`, `boxes`, `polygons`, `segments`: the labels. Write texts, or tables with `value` (stored) and "
        "`label` (shown).",
    )
    none: Words | None = Field(
        default=None,
        description="`choices`: an option that excludes all others, such as “None of these”. If it is chosen, an "
        "empty list is stored.",
    )
    shuffle: bool = Field(
        default=False,
        description="`choice`, `choices`, `ranking`: every worker sees the options in a random order. `pair`, "
        "`ranking`, `best_worst`: the compared texts (`sides` or tuple) are in a random order for each worker and "
        "item. The order does not change how answers are stored.",
    )
    points: tuple[Annotated[float, Field(ge=0, le=1)], ...] | None = Field(
        default=None,
        description="`choice`, `likert`: a number of points from 0 to 1 for each option or level, in the same order. "
        "A form with points is a rubric that a stage can grade with.",
    )


class BoundSettings(TableSettings):
    """Minimum and maximum of an answer."""

    OF_KIND: ClassVar[OfKind] = {
        "min": (Kind.CHOICES, Kind.TEXT, Kind.LONG_TEXT, Kind.SLIDER, Kind.NUMBER, *MARKED),
        "max": (Kind.CHOICES, Kind.TEXT, Kind.LONG_TEXT, Kind.SLIDER, Kind.NUMBER, *MARKED),
        "min_words": (Kind.TEXT, Kind.LONG_TEXT),
        "max_words": (Kind.TEXT, Kind.LONG_TEXT),
        "step": (Kind.SLIDER, Kind.NUMBER),
        "unit": (Kind.SLIDER, Kind.NUMBER),
        "earliest": (Kind.DATE,),
        "latest": (Kind.DATE,),
        "compare": (Kind.TEXT, Kind.LONG_TEXT),
    }
    min: int | float | None = Field(
        default=None,
        description="Minimum number of options (`choices`), of characters (`text`, `long_text`), or of labelled "
        "spans, regions or segments. For `slider` (default: 0) and `number`: the lowest value.",
    )
    max: int | float | None = Field(
        default=None,
        description="Maximum number of options (`choices`), of characters, or of labelled spans, regions or segments. "
        f"Default: {LONGEST_LINE} characters for `text`, {LONGEST_TEXT:,} for `long_text`. For `slider` (default: "
        "100) and `number`: the highest value.",
    )
    min_words: int | None = Field(default=None, ge=0, description="`text`, `long_text`: minimum number of words.")
    max_words: int | None = Field(default=None, ge=1, description="`text`, `long_text`: maximum number of words.")
    compare: bool = Field(
        default=False,
        description="`text`, `long_text`: whether answers are labels that are compared and aggregated, ignoring case "
        "and white space. Default: free text is collected but not compared.",
    )
    step: float | None = Field(
        default=None,
        gt=0,
        description="`slider`, `number`: the distance between two allowed values; with 1, only whole numbers are "
        "allowed. Default: 1 for a `slider`; for a `number`, any value is allowed.",
    )
    unit: Annotated[str, Field(max_length=20)] | None = Field(
        default=None, description="`slider`, `number`: unit shown after the number, such as “kg” or “%”."
    )
    earliest: date | None = Field(default=None, description='`date`: the first date allowed, such as `"2024-05-31"`.')
    latest: date | None = Field(default=None, description="`date`: the last date allowed.")


class ScaleSettings(TableSettings):
    """Levels, rows of a table, and tolerance."""

    OF_KIND: ClassVar[OfKind] = {
        "levels": (Kind.LIKERT, Kind.MATRIX),
        "labels": (Kind.LIKERT, Kind.MATRIX, Kind.SLIDER),
        "tolerance": (Kind.LIKERT, Kind.MATRIX, Kind.SLIDER, Kind.NUMBER, Kind.DATE),
        "rows": (Kind.MATRIX,),
    }
    levels: int | None = Field(
        default=None,
        ge=2,
        le=MOST_LEVELS,
        description="`likert`, `matrix`: number of levels of the scale. Default: the number of `labels` if there are "
        f"more than two, otherwise {LEVELS}.",
    )
    labels: tuple[Words, ...] | None = Field(
        default=None,
        description="`likert`, `matrix`: words for the two ends of the scale, or for every level. `slider`: words for "
        "its two ends.",
    )
    rows: tuple[Option, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=20,
        description="`matrix`: the rows to rate: texts, or tables with `value` (stored) and `label` (shown).",
    )
    tolerance: float | None = Field(
        default=None,
        ge=0,
        description="`likert`, `matrix`, `slider`, `number`: maximum distance from gold at which an answer is "
        "correct. `date`: this distance is in days. Default: 0.",
    )


class PlaceSettings(TableSettings):
    """What is marked, the column it is in, and when two marks match."""

    OF_KIND: ClassVar[OfKind] = {
        "item": (Kind.BEST_WORST, Kind.TURN_CHOICE, *MARKED),
        "tokenizer": (Kind.SPANS, Kind.RELATIONS),
        "overlap": (Kind.SPANS, Kind.TURN_SPANS, Kind.RELATIONS),
        "match": (Kind.SPANS, Kind.TURN_SPANS),
        "enough": (*MARKED, Kind.RANKING, Kind.TURN_CHOICE),
        "sides": (Kind.PAIR, Kind.RANKING),
        "same": (Kind.PAIR,),
        "best": (Kind.BEST_WORST,),
        "worst": (Kind.BEST_WORST,),
        "relations": (Kind.RELATIONS,),
        "speakers": TURNS,
    }
    item: ItemField | None = Field(
        default=None,
        description="`spans`, `relations`: the column with the text to label, or with a list of its tokens. "
        "`turn_choice`, `turn_spans`: the column with the dialogue. `boxes`, `polygons`, `segments`: the column with "
        "the image, audio or video. `best_worst`: the column with the tuple of texts.",
    )
    tokenizer: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        default=None,
        description="`spans`, `relations`: how the text is split into tokens: `words`, `spaces`, `characters`, or "
        "the tokenizer of an installed kit. Default: `words`, in which every character is a token in "
        "scripts without spaces between words.",
    )
    overlap: bool = Field(default=False, description="`spans`, `turn_spans`, `relations`: whether spans may overlap.")
    match: Match | None = Field(
        default=None,
        description="`spans`, `turn_spans`: how spans are compared with gold: `exact`, or by their tokens with `f1` "
        "or `iou`. Default: `f1`.",
    )
    enough: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Minimum similarity to gold for an answer to be correct. Spans: F1 or IoU (`match`). Regions and "
        "segments: mean overlap. `relations`: F1 of spans and relations. `turn_choice`: fraction of correct turns. "
        "`ranking`: fraction of pairs of options in the correct order. Default: 0.8; for `ranking`, 1. `pass_score` "
        "of the stage's gold sets how many fields must be correct.",
    )
    sides: tuple[ItemField, ...] | None = Field(
        default=None,
        description="`pair`: the two columns whose texts are compared. The name of the chosen column is the answer. "
        "`ranking`: the columns whose texts are ranked.",
    )
    same: Words | None = Field(
        default=None, description="`pair`: a third option such as “About the same”, stored as `same`."
    )
    best: Words | None = Field(default=None, description="`best_worst`: heading for the best choice. Default: “Best”.")
    worst: Words | None = Field(
        default=None, description="`best_worst`: heading for the worst choice. Default: “Worst”."
    )
    relations: tuple[Relation, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=30,
        description="`relations`: the types of relations between two spans: texts, or tables with `value`, `label`, "
        "`from` and `to` (the labels of the spans that the relation may connect).",
    )
    speakers: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] | None = Field(
        default=None,
        description="`turn_choice`, `turn_spans`: ask only about the turns of these speakers. Default: every turn.",
    )
