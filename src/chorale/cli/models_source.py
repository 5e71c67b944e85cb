"""Where `chorale models` gets judgments from: a file, or a study, which needs more than a base install."""

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
    """What makes labels close."""
    added_to: Callable[[Score], Score] = _as_it_is
    """The test's result with what else is known of the models."""
    chart: Callable[[], str | None] = lambda: None
    """Quality against cost as a picture, in a study."""


def source_of(
    path: Path, database: str | None, stage: str | None, field: str | None, by: str, reading: Reading
) -> ModelSource:
    """Judgments in a file, or in the study whose folder it is."""
    if path.is_dir():
        source: ModelSource = load(_OF_STUDY)(path, database, stage, field, by, reading)
        return source
    if stage is not None or by == "task":
        raise UserError("--stage and --by task are for a study. Name the study's folder, or leave them out.")
    return ModelSource(path, reading, by)
