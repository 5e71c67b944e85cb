"""Levels of measurement of labels: nominal, ordinal, numeric; with advice for labels that do not fit."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from chorale.metrics import FloatArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["none", "linear", "quadratic"]
LEVELS: tuple[Level, ...] = get_args(Level)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


class UnfitLabelError(ValueError):
    """A label that does not fit a coefficient. `value` is the label, `fix` the advice."""

    def __init__(self, message: str, value: str, fix: str) -> None:
        super().__init__(f"{message}: {value!r}. {fix}")
        self.message, self.value, self.fix = message, value, fix


def numbers_of(labels: Sequence[str], *, level: str) -> FloatArray:
    """The labels as numbers."""
    try:
        numbers = np.array(labels, dtype=np.str_).astype(np.float64)
    except ValueError:
        numbers = np.array([_number(label) for label in labels])
    for label, number in zip(labels, numbers, strict=True) if not np.isfinite(numbers).all() else ():
        if not np.isfinite(number):
            ordered = " For ordered labels, use the level ordinal." if level != "ordinal" else ""
            fix = f"Correct it, or leave the label empty. For names, use alpha with the level nominal.{ordered}"
            raise UnfitLabelError("numbers are required here, but a label is not a number", label, fix)
    if level == "ratio" and (numbers < 0).any():
        label = labels[int(np.argmax(numbers < 0))]
        raise UnfitLabelError("the level ratio does not allow negative numbers", label, "Use the level interval.")
    return numbers


def ranks_of(labels: Sequence[str], order: Sequence[str] | None, *, purpose: str) -> FloatArray:
    """The rank of each label in the given order or in numerical order. Equal numbers share a rank."""
    if order is not None:
        place = {name: float(number) for number, name in enumerate(order)}
        if len(place) < len(order):
            twice = next(name for name in order if list(order).count(name) > 1)
            raise UnfitLabelError("the order has the same label twice", twice, "List every label once.")
        for label in labels:
            if label not in place:
                raise UnfitLabelError("a label is missing from the order", label, "Add it to the order.")
        return np.array([place[label] for label in labels])
    numbers = np.array([_number(label) for label in labels])
    for label, number in zip(labels, numbers, strict=True):
        if not np.isfinite(number):
            fix = "Give the labels from the lowest to the highest: --order low,middle,high (in Python: order=[…])."
            raise UnfitLabelError(f"{purpose} require an order, because a label is not a number", label, fix)
    return np.unique(numbers, return_inverse=True)[1].astype(np.float64)


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return float("nan")
