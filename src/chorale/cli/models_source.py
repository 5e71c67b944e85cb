"""The source of judgments for `chorale models`: a file, or a study, which needs more than the base installation."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorale.lazy import load
from chorale.metrics.reading.judged import Reading
from chorale.metrics.score import Score
from chorale.model import UserError

_OF_STUDY = "chorale.cli.models_of_study:study_source"


def _as_it_is(score: Score) -> Score:
    return score


@dataclass(frozen=True, slots=True)
class ModelSource:
    data: Any
    reading: Reading
    near: Any
    """The similarity of labels."""
    added_to: Callable[[Score], Score] = _as_it_is
    """Adds a study's further data on the models to the test's result."""
    chart: Callable[[], str | None] = lambda: None
    """A plot of quality against cost, for a study."""


def source_of(
    path: Path, database: str | None, stage: str | None, field: str | None, by: str, reading: Reading
) -> ModelSource:
    """Judgments from a file or from a study's folder."""
    if path.is_dir():
        source: ModelSource = load(_OF_STUDY)(path, database, stage, field, by, reading)
        return source
    if stage is not None or by == "task":
        raise UserError("--stage and --by task are for a study. Name the study's folder, or leave them out.")
    return ModelSource(path, reading, by)
