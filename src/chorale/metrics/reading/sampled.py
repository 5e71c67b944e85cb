"""Reads items for `chorale estimate`, one per row: the model's label, people's label if any, and covariates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorale.files.source import refused
from chorale.metrics import FloatArray
from chorale.metrics.reading.named_columns import NamedColumns, named_columns

MOST_LABELS = 20
"""Maximum number of labels whose prevalence is estimated by default."""


@dataclass(frozen=True, slots=True)
class SampledItems:
    """One row per item."""

    columns: NamedColumns
    model: list[str]
    people: list[str | None]
    by: list[str] | None
    on: Mapping[str, FloatArray]
    probability: FloatArray | None

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that people or the model gave."""
        return tuple(sorted({*self.model, *(label for label in self.people if label is not None)}))

    def numbers(self) -> tuple[FloatArray, FloatArray] | None:
        """Labels of model and people as numbers (NaN for none), or None if not all are numbers."""
        try:
            model = np.array([float(label) for label in self.model])
            people = np.array([np.nan if label is None else float(label) for label in self.people])
        except ValueError:
            return None
        return (model, people) if np.isfinite(model).all() else None

    def shares(self, label: str) -> tuple[FloatArray, FloatArray]:
        """1 if the label was given, otherwise 0."""
        model = np.array([float(said == label) for said in self.model])
        people = np.array([np.nan if said is None else float(said == label) for said in self.people])
        return model, people


def sampled_items(
    data: Any, *, people: str, model: str, by: str | None, on: Sequence[str], probability: str | None
) -> SampledItems:
    """Reads these columns. A row without a model label, group, covariate or probability is an error."""
    options = {"people": people, "model": model}
    options |= {"by": by} if by else {}
    options |= {"probability": probability} if probability else {}
    columns = named_columns(data, options | {f"on {name}": name for name in on})
    said = columns.texts[people]
    if not any(label is not None for label in said):
        raise refused(columns.name, None, f'has no label in the column "{people}"', "Set another column with --people")
    probabilities = _probabilities(columns, probability) if probability else None
    if probabilities is not None:
        _check_asked(columns.name, said, probabilities)
    return SampledItems(
        columns,
        _whole(columns, model),
        said,
        _whole(columns, by) if by else None,
        {name: _numbers(columns, name, np.isfinite, "a number") for name in on},
        probabilities,
    )


def _whole(columns: NamedColumns, name: str) -> list[str]:
    """A column without empty cells."""
    texts = columns.texts[name]
    for row, text in enumerate(texts, 1):
        if text is None:
            fix = "Every item must have a value in this column. Fill in the cell, or remove the row"
            raise refused(columns.name, None, f'has an empty cell in the column "{name}"', fix, f"row {row}")
    return [text or "" for text in texts]


def _numbers(columns: NamedColumns, name: str, allowed: Callable[[float], Any], expected: str) -> FloatArray:
    values = []
    for row, text in enumerate(_whole(columns, name), 1):
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not allowed(value):
            message = f'the column "{name}" has a value that is not {expected}'
            raise refused(columns.name, None, message, "Correct the cell, or remove the row", f"row {row}: {text!r}")
        values.append(value)
    return np.array(values)


def _probabilities(columns: NamedColumns, name: str) -> FloatArray:
    return _numbers(columns, name, lambda value: 0 < value <= 1, "a probability above 0 and at most 1")


def _check_asked(name: str, said: Sequence[str | None], probabilities: FloatArray) -> None:
    """An item with sampling probability 1 must have a label from people."""
    for row, (label, probability) in enumerate(zip(said, probabilities.tolist(), strict=True), 1):
        if label is None and probability == 1:
            fix = "Add the label, or correct the sampling probability of the item"
            raise refused(name, None, "an item with sampling probability 1 has no label from people", fix, f"row {row}")
