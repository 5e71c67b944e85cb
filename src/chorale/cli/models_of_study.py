"""Judgments of people and models in a study, for `chorale models DIR`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from chorale.cli.models_source import ModelSource
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_everything
from chorale.engine.started import stage_called, started_study
from chorale.metrics.reading.judged import Reading
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.monitor.first_pass import FirstRecord, first_records, first_table
from chorale.monitor.models import (
    ModelRecord,
    judged_rows,
    model_records,
    own_distance,
    records_table,
    reliability_table,
    troubles_table,
)
from chorale.monitor.quality_cost import Annotator, annotators, quality_cost_chart, quality_cost_table
from chorale.present.shell import argument
from chorale.store import Tx


def _added(
    records: Sequence[ModelRecord],
    first: Sequence[FirstRecord],
    compared: Sequence[Annotator],
    currency: str,
    score: Score,
) -> Score:
    """Add the calls, cost, gold accuracy and confidence of every model to the test's result."""
    tables = [records_table(records, currency)]
    tables += [table] if (table := quality_cost_table(compared, currency)) else []
    tables += [table for table in (reliability_table(records), troubles_table(records), first_table(first)) if table]
    runs = [record.as_json() for record in records]
    asked = [record.as_json() for record in first]
    return replace(
        score,
        json={**score.json, "runs": runs, "first": asked, "quality_cost": [one.as_json() for one in compared]},
        tables=[*score.tables, *tables],
    )


def study_source(
    folder: Path, database: str | None, stage: str | None, field: str | None, by: str, reading: Reading
) -> ModelSource:
    """Read a study in which models have annotated. `field` is the part of answers to compare."""
    with started_study(folder, database) as study:
        settle_everything(study)
        source = study.store.look(lambda tx: _read(tx, study, folder, stage, field, by))
    return replace(source, reading=Reading(sep=reading.sep, repeats=reading.repeats))


def _read(tx: Tx, study: Study, folder: Path, stage_name: str | None, field: str | None, by: str) -> ModelSource:
    records = model_records(tx, study)
    stage = _stage(study, records, folder, stage_name)
    here = [one for one in records if one.stage == stage.name]
    first = [one for one in first_records(tx, study) if one.stage == stage.name]
    rows = list(judged_rows(tx, stage, field))
    if not any(row["kind"] == "human" for row in rows):
        raise UserError(
            f"So far, only models have annotated stage {stage.name} of {folder}. Compare them after people have "
            "annotated the stage."
        )
    compared = annotators(tx, study, here)
    currency = study.settings.pay.currency
    near = own_distance(stage) if by == "task" else by
    return ModelSource(
        rows,
        Reading(),
        near,
        partial(_added, here, first, compared, currency),
        partial(quality_cost_chart, compared, currency),
    )


def _stage(study: Study, records: list[ModelRecord], folder: Path, name: str | None) -> RunningStage:
    if name is not None:
        return stage_called(study, name)
    annotated = list(dict.fromkeys(one.stage for one in records if one.role != "round" and one.answered))
    if not annotated:
        raise UserError(f"No model has annotated {folder} yet. Run `chorale annotate {argument(folder)}` first.")
    if len(annotated) > 1:
        raise UserError(
            f"Models have annotated several stages of {folder}: {', '.join(annotated)}. Name one with --stage."
        )
    return study.stage(annotated[0])
