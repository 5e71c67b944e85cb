"""The data card: the files of the dataset, how they were made, and this description as Croissant metadata."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chorale.engine.running import Study
from chorale.exchange.croissant import DataFile, DatasetFacts, croissant
from chorale.exchange.export import (
    OF_EVERY_DATASET,
    dataset_formats,
    export_file_name,
    export_format,
    export_formats,
    write_export_within,
)
from chorale.exchange.export_descriptions import described_columns
from chorale.metrics.score_table import ScoreTable
from chorale.report.document import Bullets, Part, ReportOptions, Section
from chorale.report.methods import main_stages
from chorale.store import Tx
from chorale.store.workers import Attendees

_ENCODINGS = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".zip": "application/zip",
}


def data_files(tx: Tx, study: Study, folder: Path) -> list[DataFile]:
    """Write the study's dataset to a folder, from the same database state as the report; returns the files."""
    return list(_written(tx, study, folder))


def _written(tx: Tx, study: Study, folder: Path) -> Iterator[DataFile]:
    summaries = export_formats(study)
    for name in dataset_formats(study, {stage.name for stage in main_stages(study)}):
        path = folder / export_file_name(study, name)
        rows = write_export_within(tx, study, name, path)
        if not rows and name not in OF_EVERY_DATASET:
            path.unlink()
            continue
        columns = described_columns(tx, study, export_format(study, name)) if path.suffix != ".zip" else ()
        nested = _nested_columns(path) if path.suffix == ".jsonl" else frozenset()
        summary = summaries[name]
        yield DataFile(
            path.name,
            _ENCODINGS[path.suffix],
            _digest(path),
            path.stat().st_size,
            rows,
            f"{summary[0].upper()}{summary[1:]}.",
            [replace(column, is_nested=column.name in nested) for column in columns],
        )


def _nested_columns(path: Path) -> frozenset[str]:
    """The columns of a JSONL file that have an object, or a list with an object, in at least one row."""
    nested: set[str] = set()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            nested.update(name for name, value in json.loads(line).items() if _is_nested(value))
    return frozenset(nested)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_nested, value)))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_card_section(
    study: Study,
    files: Sequence[DataFile],
    came: Attendees,
    options: ReportOptions,
    methods: str,
    models: Sequence[str] = (),
) -> tuple[Section, Mapping[str, Any]]:
    """The section, and the Croissant metadata. `models` are sentences on the models that annotated."""
    tasks = sorted({stage.task.name for stage in study.stages.values()})
    licence = options.licence
    facts = DatasetFacts(
        name=study.settings.study.title,
        description=methods,
        published=None if came.last_at is None else day(came.last_at),
        licence=licence,
        url=options.url,
        keywords=["crowdsourcing", *tasks],
    )
    rows = [(one.name, one.description, one.rows, one.size) for one in files]
    collected = "There are no answers yet."
    if came.first_at is not None and came.last_at is not None:
        first, last = day(came.first_at), day(came.last_at)
        collected = f"Collected on {first} (UTC)." if first == last else f"Collected from {first} to {last} (UTC)."
    parts: list[Part] = [
        ScoreTable("Files of the dataset", ("file", "content", "rows#", "bytes#"), rows),
        Bullets(
            [
                collected,
                f"Tasks: {', '.join(tasks)}. Random seed: {study.settings.study.seed}.",
                *models,
                "People appear under random participant IDs, the same in all files. No file has their platform IDs.",
                "The texts have not been screened for personal data.",
                f"Licence: {licence}." if licence else "No licence is named. To name one, use --license.",
                f"Contact: {study.settings.study.contact}.",
            ]
        ),
    ]
    details: list[Part] = [
        ScoreTable("SHA-256 digests", ("file", "digest"), [(one.name, one.sha256) for one in files]),
        *(_columns_table(file) for file in files if file.fields),
        "This page also has the data card as Croissant 1.0 metadata (JSON-LD) for search engines and data loaders.",
    ]
    summary = {
        "files": [{"name": one.name, "rows": one.rows, "bytes": one.size, "sha256": one.sha256} for one in files],
        "licence": licence,
    }
    return Section("data-card", "Data card", parts, summary, details), croissant(facts, files)


def _columns_table(file: DataFile) -> ScoreTable:
    rows = [(field.name, field.description) for field in file.fields]
    return ScoreTable(f"Columns of {file.name}", ("column", "content"), rows)


def day(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()
