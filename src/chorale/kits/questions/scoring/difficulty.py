"""Difficulty of questions for models: a table of quartiles, and every question in `--json`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from chorale.kits.questions.metrics.difficulty import FEW_MODELS, Difficulties, difficulties
from chorale.kits.questions.scoring.measured import McqSection, NamedQuestions, check_names
from chorale.metrics import FloatArray
from chorale.metrics.score_table import ScoreTable
from chorale.model import UserError
from chorale.model.plural import plural


def difficulty_section(
    files: Sequence[NamedQuestions],
    rounds: Sequence[NamedQuestions] = (),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[McqSection, Mapping[str, FloatArray]]:
    """The section, and the difficulties of every file for a chart. The rounds of an arm are listed before the arm."""
    files = _in_order(files, rounds)
    check_names(files)
    fitted = difficulties({file.name: file.questions for file in files}, progress=progress)
    if fitted is None:
        raise UserError(
            "--irt requires predictions of models, but none of the files has any. Add predictions with --predictions."
        )
    groups = fitted.by_group()
    rows = [(name, len(values), *_quartiles(values)) for name, values in groups.items()]
    table = ScoreTable(
        "Difficulty of questions for models, by the 3PL model",
        ("file", "questions#", "lowest quarter#", "median#", "highest quarter#"),
        rows,
    )
    return McqSection("irt", _json(fitted, groups), [table], _notes(files, fitted, groups)), groups


def _in_order(files: Sequence[NamedQuestions], rounds: Sequence[NamedQuestions]) -> list[NamedQuestions]:
    arms = {one.name: {text.protocol for text in one.questions.texts} for one in rounds}
    names = {file.name for file in files}
    ordered = [one for one in rounds if len(arms[one.name]) != 1 or not arms[one.name] <= names]
    for file in files:
        ordered += [one for one in rounds if arms[one.name] == {file.name}]
        ordered.append(file)
    return ordered


def _quartiles(values: FloatArray) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


def _json(fitted: Difficulties, groups: Mapping[str, FloatArray]) -> dict[str, object]:
    discrimination, guessing = fitted.fit.discrimination, fitted.fit.guessing
    return {
        "models": list(fitted.models),
        "converged": fitted.fit.converged,
        "files": {
            name: dict(zip(("low", "median", "high"), _quartiles(values), strict=True))
            for name, values in groups.items()
        },
        "discrimination": [float(discrimination.min()), float(discrimination.max())],
        "guessing": [float(guessing.min()), float(guessing.max())],
        "questions": {
            item: {
                "file": group,
                "difficulty": float(fitted.difficulty[place]),
                "discrimination": float(discrimination[place]),
                "guessing": float(guessing[place]),
            }
            for place, (item, group) in enumerate(zip(fitted.items, fitted.groups, strict=True))
        },
    }


def _notes(files: Sequence[NamedQuestions], fitted: Difficulties, groups: Mapping[str, FloatArray]) -> list[str]:
    notes = []
    if len(fitted.models) < FEW_MODELS:
        notes.append(
            f"Difficulties are based on only {plural(len(fitted.models), 'model', 'models')} (the paper has 90). "
            "Questions solved by the same models get the same difficulty."
        )
    left = [file.name for file in files if file.name not in groups]
    if left:
        notes.append(f"No difficulties for {', '.join(left)}: no model answered these questions.")
    return notes
