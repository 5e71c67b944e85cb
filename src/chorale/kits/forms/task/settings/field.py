"""Settings of one field of a form."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import InitErrorDetails

from chorale.kits.forms.task.gold_checks import GoldCheck
from chorale.kits.forms.task.settings.base import (
    LEVELS,
    LONGEST_LINE,
    LONGEST_TEXT,
    MOST_LEVELS,
    SAME,
    FieldName,
    ItemField,
    Kind,
    TableSettings,
    Words,
    problem_at,
    refuse,
    used_with,
)
from chorale.kits.forms.task.settings.kinds import (
    MARKED,
    BoundSettings,
    ChoiceSettings,
    OfKind,
    PlaceSettings,
    ScaleSettings,
)
from chorale.kits.forms.task.settings.options import ConditionSettings

_OF_KIND: OfKind = {
    **ChoiceSettings.OF_KIND,
    **BoundSettings.OF_KIND,
    **ScaleSettings.OF_KIND,
    **PlaceSettings.OF_KIND,
}
"""Settings that depend on the kind of field."""
_NEEDED: Mapping[Kind, str] = {
    Kind.CHOICE: "options",
    Kind.CHOICES: "options",
    Kind.TURN_CHOICE: "options",
    Kind.MATRIX: "rows",
    Kind.PAIR: "sides",
    Kind.RELATIONS: "relations",
    Kind.BEST_WORST: "item",
    **dict.fromkeys((kind for kind in MARKED if kind is not Kind.RELATIONS), "item"),
}
_NUMERIC = (Kind.SLIDER, Kind.NUMBER)
_KINDS = re.compile(r"((?:`\w+`, )*`\w+`): ")
"""The kinds at the start of each part of a description."""
SLIDER_ENDS = (0, 100)


class CommonSettings(TableSettings):
    """Settings of every kind of field."""

    name: FieldName = Field(
        description="Name of the field in answers and exports: lower-case letters, digits and underscores."
    )
    kind: Kind = Field(description="Kind of field; docs/form.md describes all kinds.")
    ask: Words = Field(description="The question, as workers read it.")
    hint: Words | None = Field(default=None, description="A line below the question.")
    required: bool = Field(default=True, description="Whether an answer is required.")
    prefill: ItemField | None = Field(
        default=None,
        description="Column of the items file with an initial answer for workers to check and correct, such as a "
        "model's suggestion or earlier work. Exports show the initial answer next to the worker's answer.",
    )
    gold: GoldCheck | None = Field(
        default=None,
        description="How answers are compared with gold: `exact`, `within` (within the limits of `tolerance`, `match` "
        "and `enough`), `one_of` (gold is a list), `regex` (gold is a pattern), `none` (not compared). Default: "
        "`within`.",
    )
    part: bool = Field(
        default=False,
        description="Whether the field is a part of the answer that is paid separately if workers fill it in. "
        "`stage.pay.parts` sets the amounts.",
    )
    shown_if: ConditionSettings | None = Field(
        default=None, description="Ask only after certain answers to an earlier field: a table with `field` and `is`."
    )


class FieldSettings(PlaceSettings, ScaleSettings, BoundSettings, ChoiceSettings, CommonSettings):
    """One field of a form."""

    model_config = ConfigDict(title="field", json_schema_extra=used_with("kind", _OF_KIND))

    @field_validator(*_OF_KIND)
    @classmethod
    def _belongs_to_kind(cls, value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        kinds = _OF_KIND[info.field_name or ""]
        if kind is not None and kind not in kinds and value is not None and value is not False:
            named = ", ".join(f"`{each}`" for each in kinds)
            raise ValueError(f"does not apply to fields of the kind `{kind}`, only to {named}. Remove it.")
        return value

    @model_validator(mode="after")
    def _is_complete(self) -> "FieldSettings":
        problems = (*self._gaps(), *self._wrong_options(), *self._wrong_bounds(), *self._wrong_scale())
        refuse(type(self).__name__, [*problems, *self._wrong_columns(), *self._wrong_relations()])
        return self

    def _gaps(self) -> Iterator[InitErrorDetails]:
        needed = [_NEEDED[self.kind]] if self.kind in _NEEDED else []
        if self.kind is Kind.RELATIONS:
            needed += ["item", "options"]
        for name in needed:
            if getattr(self, name) is None:
                yield problem_at((name,), f"is missing. Add it: {_about(name, self.kind)}", None)
        if self.kind is Kind.RANKING and self.options is None and self.sides is None:
            yield problem_at(("options",), "is missing. Set `options` or `sides` to what workers rank.", None)
        if self.kind is Kind.RANKING and self.options is not None and self.sides is not None:
            yield problem_at(("options",), "cannot be combined with `sides`. Remove one of them.", None)

    def _wrong_options(self) -> Iterator[InitErrorDetails]:
        for name in ("options", "rows", "relations"):
            values = [option.value for option in getattr(self, name) or ()]
            if len(set(values)) < len(values):
                yield problem_at((name,), "repeats a value. Give every option a unique value.", values)
        values = [option.value for option in self.options or ()]
        needs_two = self.kind in (Kind.CHOICE, Kind.RANKING, Kind.TURN_CHOICE)
        if needs_two and self.options is not None and len(values) < 2:
            yield problem_at(("options",), "leaves no choice. Add at least two options.", values)
        if self.kind is Kind.CHOICES and self.options is not None and not values:
            yield problem_at(("options",), "is an empty list. Add an option.", values)
        if self.kind is Kind.CHOICES and self.options is not None:
            for name in ("min", "max"):
                if (bound := getattr(self, name)) is not None and bound > len(values):
                    yield problem_at((name,), f"exceeds the number of options. Write at most {len(values)}.", bound)

    def _wrong_bounds(self) -> Iterator[InitErrorDetails]:
        for low, high in (("min", "max"), ("min_words", "max_words"), ("earliest", "latest")):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and most < least:
                yield problem_at((high,), f"is below `{low}` ({least}). Write at least {least}.", most)
        if self.kind in _NUMERIC:
            yield from self._wrong_numbers()
            return
        for name, least in (("min", 0), ("max", 1)):
            bound = getattr(self, name)
            if bound is not None and (not isinstance(bound, int) or not least <= bound <= LONGEST_TEXT):
                words = f"is not a whole number from {least} to {LONGEST_TEXT:,}. Correct it."
                yield problem_at((name,), words, bound)
        if self.kind is Kind.TEXT and self.max is None and (self.min or 0) > LONGEST_LINE:
            yield problem_at(
                ("min",), f"exceeds the length of a line. Set `max` too, or use `{Kind.LONG_TEXT}`.", self.min
            )

    def _wrong_numbers(self) -> Iterator[InitErrorDetails]:
        low, high = self.ends
        for name in ("min", "max"):
            if (bound := getattr(self, name)) is not None and not abs(bound) <= 1e12:
                yield problem_at((name,), "is too large. Write a number of at most 1,000,000,000,000.", bound)
        if self.kind is Kind.SLIDER and low is not None and high is not None:
            if low == high:
                yield problem_at(("max",), "equals `min`, which leaves no choice. Write a larger number.", high)
            elif self.step is not None and self.step > high - low:
                yield problem_at(("step",), f"is longer than the slider. Write at most {high - low:g}.", self.step)

    def _wrong_scale(self) -> Iterator[InitErrorDetails]:
        levels = self.scale
        fitting = (2,) if self.kind is Kind.SLIDER else (2, levels)
        if self.labels is not None and len(self.labels) not in fitting:
            rest = "" if self.kind is Kind.SLIDER else f", or {levels}"
            words = "a slider" if self.kind is Kind.SLIDER else f"{levels} levels"
            yield problem_at(("labels",), f"does not fit {words}. Write two labels{rest}.", list(self.labels))
        if self.kind in (Kind.LIKERT, Kind.MATRIX) and self.tolerance is not None and self.tolerance >= levels - 1:
            yield problem_at(
                ("tolerance",), f"would accept any answer. Write a number below {levels - 1}.", self.tolerance
            )
        if self.points is not None and self.answers and len(self.points) != len(self.answers):
            count = len(self.answers)
            yield problem_at(("points",), f"does not fit {count} answers. Write {count} numbers.", list(self.points))

    def _wrong_columns(self) -> Iterator[InitErrorDetails]:
        sides = self.sides
        if sides is None:
            return
        if self.kind is Kind.PAIR and (len(sides) != 2 or len(set(sides)) < 2 or SAME in sides):
            yield problem_at(("sides",), f"is not a pair. List two different columns other than `{SAME}`.", list(sides))
        if self.kind is Kind.RANKING and not 2 <= len(set(sides)) == len(sides) <= 20:
            yield problem_at(("sides",), "must be 2 to 20 different columns.", list(sides))

    def _wrong_relations(self) -> Iterator[InitErrorDetails]:
        labels = [option.value for option in self.options or ()]
        for number, relation in enumerate(self.relations or ()):
            for name, ends in (("from", relation.from_), ("to", relation.to)):
                unknown = [end for end in ends or () if end not in labels]
                if unknown:
                    known = ", ".join(f"`{label}`" for label in labels)
                    yield problem_at(
                        ("relations", number, name), f"is not a span label. Use one of: {known}.", unknown[0]
                    )

    @property
    def scale(self) -> int:
        """The levels of a scale."""
        labels = len(self.labels or ())
        return self.levels or (labels if 2 < labels <= MOST_LEVELS else LEVELS)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Minimum and maximum of a slider or number; None without a bound."""
        if self.kind is not Kind.SLIDER:
            return self.min, self.max
        low, high = SLIDER_ENDS
        return low if self.min is None else self.min, high if self.max is None else self.max

    @property
    def least(self) -> int:
        """Minimum number of options, regions or characters of an answer."""
        if self.kind in MARKED:
            return int(self.required if self.min is None else self.min)
        fewest = 1 if self.min is None else int(self.min)
        return fewest if self.kind is Kind.CHOICES else max(1, fewest)

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty list is a valid answer."""
        return self.kind in (*MARKED, Kind.CHOICES) and self.least == 0

    @property
    def most(self) -> int | None:
        """Maximum number of options, regions or characters of an answer; None without a limit."""
        return None if self.max is None else int(self.max)

    @cached_property
    def answers(self) -> tuple[str | int, ...]:
        """Answers that another field's `shown_if` can refer to; empty if they cannot be listed."""
        match self.kind:
            case Kind.CHOICE | Kind.CHOICES:
                return tuple(option.value for option in self.options or ())
            case Kind.LIKERT:
                return tuple(range(1, self.scale + 1))
            case Kind.PAIR:
                return (*(self.sides or ()), *((SAME,) if self.same else ()))
        return ()


def _about(setting: str, kind: Kind) -> str:
    """The part of a setting's description for one kind of field.

    >>> _about("sides", Kind.PAIR)
    'the two columns whose texts are compared. The name of the chosen column is the answer.'
    """
    _, *parts = _KINDS.split(FieldSettings.model_fields[setting].description or "")
    return next(text.strip() for kinds, text in zip(parts[::2], parts[1::2], strict=True) if f"`{kind}`" in kinds)
