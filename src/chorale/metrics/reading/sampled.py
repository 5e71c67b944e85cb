"""A table with one row per item for `chorale estimate`: the model's label, people's where they were asked, and more."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorale.files.source import refused
from chorale.metrics import FloatArray
from chorale.metrics.reading.named_columns import NamedColumns, named_columns

MOST_LABELS = 20
"""Labels whose prevalence is estimated without being named."""


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
        """The model's labels and people's as numbers (NaN for none); None if they are not all numbers."""
        try:
            model = np.array([float(label) for label in self.model])
            people = np.array([np.nan if label is None else float(label) for label in self.people])
        except ValueError:
            return None
        return (model, people) if np.isfinite(model).all() else None

    def shares(self, label: str) -> tuple[FloatArray, FloatArray]:
        """1 where the label was given, else 0."""
        model = np.array([float(said == label) for said in self.model])
        people = np.array([np.nan if said is None else float(said == label) for said in self.people])
        return model, people


def sampled_items(
    data: Any, *, people: str, model: str, by: str | None, on: Sequence[str], probability: str | None
) -> SampledItems:
    """The columns of these names. A row without a model's label, group, covariate or probability is refused."""
    options = {"people": people, "model": model}
    options |= {"by": by} if by else {}
    options |= {"probability": probability} if probability else {}
    columns = named_columns(data, options | {f"on {name}": name for name in on})
    said = columns.texts[people]
    if not any(label is not None for label in said):
        raise refused(columns.name, None, f'has no label in the column "{people}"', "Name another with --people")
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
            fix = f"Every item needs its {name}: fill the cell, or leave the row out"
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
            raise refused(columns.name, None, message, "Correct the cell, or leave the row out", f"row {row}: {text!r}")
        values.append(value)
    return np.array(values)


def _probabilities(columns: NamedColumns, name: str) -> FloatArray:
    return _numbers(columns, name, lambda value: 0 < value <= 1, "a probability above 0 and at most 1")


def _check_asked(name: str, said: Sequence[str | None], probabilities: FloatArray) -> None:
    """An item that was to be sampled for certain has people's label."""
    for row, (label, probability) in enumerate(zip(said, probabilities.tolist(), strict=True), 1):
        if label is None and probability == 1:
            fix = "Add the label, or write the probability with which the item was to be sampled"
            raise refused(name, None, "an item of probability 1 has no label of people", fix, f"row {row}")
