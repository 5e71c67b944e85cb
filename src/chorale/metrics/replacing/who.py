"""Identifies the workers that are models: listed by name, or by a column."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judged import Reading, ReadJudgments, judged_in
from chorale.model import Problem, UserError
from chorale.model.problems import did_you_mean

KIND = "kind"
"""Default column for the kind of worker."""
_WITH_COLUMNS = ("a file", "a table")
_MODELS = frozenset({"model", "llm", "machine", "ai"})
_PEOPLE = frozenset({"human", "person", "people", "worker", "annotator", "expert"})


def models_in(
    data: Any, judged: ReadJudgments, reading: Reading, named: Sequence[str], kind: str | None
) -> tuple[ReadJudgments, tuple[str, ...]]:
    """The workers that are models, in alphabetical order, and the judgments without other models.

    Raises UserError if there are no models or no people.
    """
    marked = _by_kind(data, judged, reading, kind or KIND) if kind or _has_kind(data, judged, reading) else None
    if marked is None and not named:
        raise UserError(
            f"{judged.name} does not identify models. List them with --model, or set their column with --kind."
        )
    workers = judged.judgments.worker_names
    models = _matching(named, workers if marked is None else marked, judged.name) if named else marked or ()
    if not models:
        raise UserError(f"{judged.name} has no judgments of models. List the workers that are models with --model.")
    if len(models) == len(workers):
        raise UserError(
            f"{judged.name} has only models: {', '.join(models)}. Add people's judgments of the same items."
        )
    others = [place for place, name in enumerate(workers) if name in set(marked or ()) - set(models)]
    judgments = judged.judgments
    return replace(judged, judgments=judgments.taken(~np.isin(judgments.workers, others))), models


def _has_kind(data: Any, judged: ReadJudgments, reading: Reading) -> bool:
    if judged.form not in _WITH_COLUMNS:
        return False
    try:
        judged_in(data, _of_column(reading, KIND))
    except UserError:
        return False
    return True


def _matching(named: Sequence[str], workers: Sequence[str], source: str) -> tuple[str, ...]:
    matching: set[str] = set()
    for name in named:
        here = {worker for worker in workers if worker == name or fnmatchcase(worker, name)}
        if not here:
            worker = f"worker that matches {name!r}" if "*" in name else f"worker {name!r}"
            raise UserError(f"{source} has no {worker} (--model).{did_you_mean(name, workers)}")
        matching |= here
    return tuple(sorted(matching))


def _by_kind(data: Any, judged: ReadJudgments, reading: Reading, column: str) -> tuple[str, ...]:
    """The workers with `model` in the column. Each worker has one kind."""
    try:
        kinds = judged_in(data, _of_column(reading, column)).judgments
    except UserError as error:
        message = f"{judged.name}: cannot read the kind of worker from the column {column!r}"
        raise UserError(f"{message}. Use --kind to set the column that contains human or model.") from error

    def refuse(message: str, fix: str, value: str) -> UserError:
        return UserError(f"{judged.name} can't be used", [Problem(judged.name, None, message, fix, repr(value))])

    name_them = "Write human or model in every row of the column, or list the models with --model."
    unknown = [name for name in kinds.label_names if name.lower() not in _MODELS | _PEOPLE]
    if unknown:
        raise refuse(f"`{column}` is neither human nor model", name_them, unknown[0])
    is_model = np.array([name.lower() in _MODELS for name in kinds.label_names])[kinds.labels]
    models, people = (_workers(kinds, chosen) for chosen in (is_model, ~is_model))
    silent = sorted(set(judged.judgments.worker_names) - models - people)
    if silent:
        raise refuse(f"`{column}` is empty for a worker", name_them, silent[0])
    both = sorted(models & people)
    if both:
        fix = "Give the model a unique name, or correct the column."
        raise refuse(f"`{column}` is both human and model for a worker", fix, both[0])
    return tuple(sorted(models & set(judged.judgments.worker_names)))


def _of_column(reading: Reading, column: str) -> Reading:
    """Reads a column of workers like the labels."""
    return replace(reading, label=column, sep=None, empty=None, missing=(), repeats="all")


def _workers(judgments: Judgments, chosen: Any) -> set[str]:
    return {judgments.worker_names[code] for code in np.unique(judgments.workers[chosen])}
