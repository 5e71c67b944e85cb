"""Estimates from many labels of a model and few of people, for `chorale estimate`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chorale.metrics import FloatArray, signature
from chorale.metrics.reading.sampled import MOST_LABELS, SampledItems, sampled_items
from chorale.metrics.replacing.estimates import Estimate, Sample, estimate
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, shown_interval
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.model.plural import plural


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """What to estimate, and from which columns."""

    people: str = "people"
    model: str = "model"
    prevalence: tuple[str, ...] = ()
    by: str | None = None
    on: tuple[str, ...] = ()
    probability: str | None = None

    def settings(self) -> dict[str, Setting]:
        given: dict[str, Setting] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value or None for name, value in given.items()}


class _Estimated(NamedTuple):
    name: str
    people: Estimate
    """Estimate from people's labels only."""
    model: float
    """Estimate from the model's labels only."""
    both: Estimate

    @property
    def worth(self) -> float | None:
        """Factor by which people would have to label more items for the same certainty without the model."""
        return (self.people.error / self.both.error) ** 2 if self.both.error > 0 else None


def score_estimates(data: Any, options: EstimateOptions) -> Score:
    """Means or prevalences; with groups their differences, with covariates their slopes."""
    items = sampled_items(
        data,
        people=options.people,
        model=options.model,
        by=options.by,
        on=options.on,
        probability=options.probability,
    )
    names, design = _design(items)
    wanted = [0] if len(names) == 1 else range(1, len(names))
    estimates = [
        _estimated(f"{outcome}{names[place]}", _sample(items, design, *labels), place)
        for outcome, labels in _outcomes(items, options.prevalence)
        for place in wanted
    ]
    asked = sum(label is not None for label in items.people)
    json: dict[str, Any] = {
        "items": len(items.model),
        "labelled": asked,
        "estimates": [_json(one) for one in estimates],
    }
    columns = ("estimate", "both#", "95% interval#", "people alone#", "95% interval#", "model alone#", "λ#", "worth#")
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            one.both.value,
            shown_interval(one.both.interval),
            one.people.value,
            shown_interval(one.people.interval),
            one.model,
            one.both.trust,
            None if one.worth is None else round(one.worth * asked),
        )
        for one in estimates
    ]
    title = f"Estimates from {Path(items.columns.name).name}"
    return Score(
        json,
        [ScoreTable(title, columns, rows)],
        signature("estimate", options.settings(), {items.columns.source: items.columns.digest}),
        _notes(items, asked),
        values={one.name: one.both.value for one in estimates},
        intervals={one.name: one.both.interval for one in estimates},
    )


def _outcomes(items: SampledItems, prevalence: Sequence[str]) -> Iterator[tuple[str, tuple[FloatArray, FloatArray]]]:
    numbers = None if prevalence else items.numbers()
    if numbers is not None:
        yield "mean", numbers
        return
    labels = items.labels
    for label in prevalence:
        if label not in labels:
            listed = _listed(labels, MOST_LABELS)
            raise UserError(f"{items.columns.name}: nobody gave the label {label!r}. Labels: {listed}.")
    if not prevalence and len(labels) > MOST_LABELS:
        raise UserError(
            f"{items.columns.name} has {len(labels):,} labels. Select the labels to estimate with --prevalence."
        )
    for label in prevalence or labels:
        yield f"share of {label}", items.shares(label)


def _listed(labels: Sequence[str], most: int) -> str:
    return ", ".join(labels[:most]) + (f" and {len(labels) - most:,} more" if len(labels) > most else "")


def _design(items: SampledItems) -> tuple[list[str], FloatArray]:
    """Names and columns of the estimated coefficients."""
    names, columns = [""], [np.ones(len(items.model))]
    if items.by is not None:
        first, *others = sorted(set(items.by))
        for group in others:
            names.append(f": {group} minus {first}")
            columns.append(np.array([float(value == group) for value in items.by]))
        if not others:
            raise UserError(f"{items.columns.name}: --by requires two groups, but there is only {first!r}.")
    for name, values in items.on.items():
        names.append(f": by {name}")
        columns.append(values)
    design = np.stack(columns, axis=1)
    asked = np.array([label is not None for label in items.people])
    for part, which in ((design, "items"), (design[asked], "items that people labelled")):
        if np.linalg.matrix_rank(part) < design.shape[1]:
            raise UserError(
                f"{items.columns.name}: among the {which}, groups and covariates cannot be separated: one "
                "of them follows from the others, or a group has no items. Remove a column, or collect labels in every "
                "group."
            )
    return names, design


def _sample(items: SampledItems, design: FloatArray, model: FloatArray, people: FloatArray) -> Sample:
    if items.probability is None:
        return Sample.at_random(design, model, people)
    return Sample(design, model, people, items.probability)


def _estimated(name: str, sample: Sample, place: int) -> _Estimated:
    everywhere = Sample.at_random(sample.design, sample.model, sample.model)
    alone = estimate(sample, place, trust=0.0)
    return _Estimated(name, alone, estimate(everywhere, place, trust=0.0).value, estimate(sample, place))


def _json(row: _Estimated) -> dict[str, Any]:
    sides = {"both": row.both, "people": row.people}
    json: dict[str, Any] = {
        "name": row.name,
        "model": row.model,
        "lambda": row.both.trust,
        "worth": row.worth,
    }
    for side, of_it in sides.items():
        json[side] = {"value": of_it.value, "se": of_it.error, "ci": of_it.interval.as_list()}
    return json


def _notes(items: SampledItems, asked: int) -> list[str]:
    notes = [
        f"People labelled {asked:,} of {plural(len(items.model), 'item', 'items')}. The column “worth” is "
        "the number of items that people would have to label for the same certainty without the model."
    ]
    people = {label for label in items.people if label is not None}
    unheard = sorted(set(items.model) - people)
    if unheard and items.numbers() is None:
        notes.append(f"The model uses labels that no person uses: {_listed(unheard, 5)}.")
    alike = Counter(label.casefold() for label in items.labels)
    twice = [label for label in items.labels if alike[label.casefold()] > 1]
    if twice:
        notes.append(f"Labels that differ only in case count as different: {_listed(twice, 6)}.")
    if items.probability is None:
        notes.append(
            "The items that people labelled must be a random sample of all items. Otherwise set --probability."
        )
    return notes
