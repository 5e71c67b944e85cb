"""Labels of one stage as items of a later one: which are wanted, and the columns that they add."""

from collections.abc import Mapping, Sequence
from typing import Any

from chorale.contract.task import Task
from chorale.model import Answer, Payload


def label_columns(earlier: Task, later: Task, item: Payload, answer: Answer) -> dict[str, Any]:
    """The fields of a label, without free text: in words if the later stage shows them, else as they are."""
    if not earlier.shape.fields:
        return {"answer": answer}
    shown = {column.alias or name for name, column in later.shape.item_type.model_fields.items()}
    return {
        field.name: str(field.words(answer[field.name], item)) if field.name in shown else answer[field.name]
        for field in earlier.shape.compared
        if answer.get(field.name) is not None
    }


def has_values(answer: Answer, where: Mapping[str, Sequence[str | int]]) -> bool:
    """Whether a label has one of the wanted values in every field of `where`.

    In a field with several options, one wanted option is enough.
    """
    return all(_values(answer.get(name)) & {*values} for name, values in where.items())


def _values(value: Any) -> set[Any]:
    return {*value} if isinstance(value, list | tuple) else {value}
