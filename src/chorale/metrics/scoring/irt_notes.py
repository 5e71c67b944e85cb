"""Notes on the fit of an item response model and the validity of its intervals."""

import numpy as np

from chorale.metrics.irt import IrtFit, IrtModel, VariationalFit
from chorale.metrics.reading.responses import ResponseTable
from chorale.model.plural import plural

CHECKED: dict[IrtModel, tuple[tuple[int, int], tuple[int, int]]] = {
    "1pl": ((50, 5000), (10, 2000)),
    "2pl": ((50, 5000), (10, 2000)),
    "3pl": ((50, 5000), (10, 500)),
    "graded": ((200, 5000), (10, 50)),
}
"""Ranges of responders and items for which the coverage of intervals was simulated (docs/irt.md)."""


def fit_notes(table: ResponseTable, fit: IrtFit) -> list[str]:
    notes = []
    answered = ~np.isnan(table.matrix)
    # An item has the same answer from everybody if all its answers equal its first one.
    first = np.take_along_axis(table.matrix, answered.argmax(axis=0)[None, :], axis=0)
    silent = int((~answered.any(axis=0)).sum())
    same = int(((table.matrix == first) | ~answered).all(axis=0).sum()) - silent
    if silent:
        notes.append(
            f"{plural(silent, 'item has', 'items have')} no answers. {_its(silent)} estimates depend only on the prior."
        )
    if same > 0:
        how = (
            ("has the same answer from everybody", "have the same answer from everybody")
            if fit.model == "graded"
            else ("was answered correctly by everybody or nobody", "were answered correctly by everybody or nobody")
        )
        those = plural(same, f"item {how[0]}", f"items {how[1]}")
        notes.append(f"{those}. {_its(same)} difficulty depends only on the prior.")
    if len(table.responders) == 1:
        notes.append("There is only one responder, so items differ only in whether the answer was correct.")
    if len(table.items) == 1:
        notes.append("There is only one item, so responders differ only in whether their answer was correct.")
    if len(set(table.tests)) > 1 and isinstance(fit, VariationalFit):
        notes.append("Items are weighted by the inverse size of their test, so that every test has the same weight.")
    if not fit.converged:
        notes.append("The fit stopped before convergence, so the last digits are unreliable.")
    if isinstance(fit, VariationalFit) and len(fit.starts) > 1 and max(fit.starts) - min(fit.starts) > 1:
        spread = max(fit.starts) - min(fit.starts)
        notes.append(
            f"Fits from different starting values ended {spread:.1f} nats apart. There are several optima, and the "
            "best is shown."
        )
    return notes


def interval_notes(table: ResponseTable, model: IrtModel, guess_rate: float) -> list[str]:
    notes = ["Intervals are on the scale of these responders, whose mean ability is 0."]
    if model == "3pl":
        notes.append(
            f"Guessing is expected around {guess_rate:g} (--guess-rate): few answers are informative about it, so its "
            "intervals are wide and depend on this value."
        )
    responders, items = CHECKED[model]
    size = len(table.responders), len(table.items)
    if not (responders[0] <= size[0] <= responders[1] and items[0] <= size[1] <= items[1]):
        notes.append(
            f"{plural(size[0], 'responder', 'responders')} and {plural(size[1], 'item', 'items')} are outside the "
            f"range in which coverage was checked for {model} ({responders[0]:,} to {responders[1]:,} "
            f"responders, {items[0]:,} to {items[1]:,} items): "
            "intervals may cover fewer than 95% of the true values."
        )
    return notes


def _its(count: int) -> str:
    return "Its" if count == 1 else "Their"
