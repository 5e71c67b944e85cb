"""Options of a field, and conditions on earlier answers."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from chorale.kits.forms.task.settings.base import FieldName, TableSettings, Words
from chorale.model.setting_types import not_blank


def _option(raw: Any) -> Any:
    """Expands `"polite"` to an option with the same value and label."""
    if isinstance(raw, str):
        return {"value": raw, "label": raw}
    if isinstance(raw, dict) and "value" in raw:
        lists = {name: tuple(value) for name, value in raw.items() if isinstance(value, list)}
        return {"label": raw["value"], **raw, **lists}
    if not isinstance(raw, dict | OptionSettings):
        raise ValueError("is not text. Write the option in quotes.")
    return raw


def _listed(raw: Any) -> Any:
    """Expands a single value to a list."""
    values = raw if isinstance(raw, list | tuple) else [raw]
    if not values or not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
        raise ValueError("is not an answer. Write a text, a level of a scale, or a list of them.")
    return tuple(values)


class OptionSettings(TableSettings):
    model_config = ConfigDict(title="option")

    value: Annotated[str, Field(max_length=100), AfterValidator(not_blank)] = Field(description="Stored value.")
    label: Words = Field(description="Text shown to workers. Default: the value.")


class RelationSettings(OptionSettings):
    model_config = ConfigDict(title="relation")

    from_: tuple[str, ...] | None = Field(
        default=None, alias="from", description="Labels of spans that the relation may start from. Default: any."
    )
    to: tuple[str, ...] | None = Field(
        default=None, description="Labels of spans that the relation may lead to. Default: any."
    )


class ConditionSettings(TableSettings):
    field: FieldName = Field(description="Name of an earlier field of the form.")
    is_: Annotated[tuple[str | int, ...], BeforeValidator(_listed)] = Field(
        alias="is",
        description="The answer to the earlier field that makes this field appear, or a list of such answers.",
    )


Option = Annotated[OptionSettings, BeforeValidator(_option)]
Relation = Annotated[RelationSettings, BeforeValidator(_option)]
