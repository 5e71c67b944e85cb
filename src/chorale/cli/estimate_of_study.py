"""Labels of a model that answers first and of people, for `chorale estimate DIR`."""

from pathlib import Path
from typing import Any

from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.started import stage_called, started_study
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.monitor.first_pass import estimate_columns
from chorale.monitor.models import label_reader
from chorale.store import Tx


def study_items(folder: Path, database: str | None, stage: str | None, field: str | None) -> dict[str, Any]:
    """One row per item of a stage in which a model answers first."""
    with started_study(folder, database) as study:
        settle_everything(study)
        return study.store.look(lambda tx: _read(tx, study, folder, stage, field))


def _read(tx: Tx, study: Study, folder: Path, name: str | None, field: str | None) -> dict[str, Any]:
    first = [stage.name for stage in study.stages.values() if stage.asks_model_first]
    if not first:
        raise UserError(
            f'No model answers first in {folder}. Name a file of items, or set role = "first" in [stage.models].'
        )
    if name is None and len(first) > 1:
        raise UserError(f"Models answer first in several stages: {', '.join(first)}. Name one with --stage.")
    stage = stage_called(study, name or first[0])
    columns = estimate_columns(tx, stage, label_reader(stage, field))
    missing = sum(
        people is None and float(probability or 0) == 1
        for people, probability in zip(columns["people"], columns["probability"], strict=True)
    )
    if missing:
        raise UserError(
            f"{stage.name} of {folder}: {plural(missing, 'item is', 'items are')} still being judged by people, "
            "and estimates need the final labels. Run this again when all items are complete."
        )
    return {name: values for name, values in columns.items() if name != "item"}
