"""The data card: what the data are, how they came about, and the same for machines."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chorale.engine.running import Study
from chorale.exchange.croissant import DataField, DataFile, DatasetFacts, croissant
from chorale.exchange.export import write_export_within
from chorale.metrics.score_table import ScoreTable
from chorale.report.document import Bullets, Part, Section
from chorale.store import Tx
from chorale.store.workers import Attendees

_LABELS = (
    DataField("stage", "Name of the stage.", "Text"),
    DataField("item", "Key of the item, unique in its stage.", "Text"),
    DataField("payload", "The item as people saw it and what was kept beside it, as JSON.", "Text"),
    DataField("label", "The crowd's answer; nested ones as JSON.", "Text"),
    DataField("confidence", "Its trust-weighted share.", "Float"),
    DataField("judgments", "How many judgments count.", "Integer"),
    DataField("released", "Whether the label is complete and confident enough to stand behind.", "Boolean"),
)
_RESPONSES = (
    DataField("response", "Number of the response.", "Integer"),
    DataField("stage", "Name of the stage.", "Text"),
    DataField("item", "Key of the item.", "Text"),
    DataField("worker", "Pseudonym of the worker.", "Text"),
    DataField("kind", "production, gold, training or qualification.", "Text"),
    DataField("answer", "What was submitted; nested ones as JSON.", "Text"),
    DataField("counts", "Whether it counts towards the item's label.", "Boolean"),
    DataField("submitted_at", "When, as ISO 8601 in UTC.", "Date"),
    DataField("duration_ms", "How long the item was in view.", "Integer"),
)
_FILES: tuple[tuple[str, str, str, str, Sequence[DataField]], ...] = (
    ("labels", "labels.csv", "text/csv", "Every item with the crowd's answer and its confidence.", _LABELS),
    ("jsonl", "responses.jsonl", "application/jsonlines", "Every response with all that belongs to it.", _RESPONSES),
)


def data_files(tx: Tx, study: Study, folder: Path) -> list[DataFile]:
    """Write the study's data to a folder, from the state that the report is about; what was written."""
    files = []
    for format_name, name, encoding, description, fields in _FILES:
        path = folder / name
        rows = write_export_within(tx, study, format_name, path)
        files.append(DataFile(name, encoding, _digest(path), path.stat().st_size, rows, description, fields))
    return files


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_card_section(
    study: Study,
    files: Sequence[DataFile],
    came: Attendees,
    *,
    licence: str | None,
    url: str | None,
    methods: str,
    models: Sequence[str] = (),
) -> tuple[Section, Mapping[str, Any]]:
    """The section, and the Croissant metadata."""
    tasks = sorted({stage.task.name for stage in study.stages.values()})
    facts = DatasetFacts(
        name=study.settings.study.title,
        description=methods,
        published=None if came.last_at is None else day(came.last_at),
        licence=licence,
        url=url,
        keywords=["crowdsourcing", *tasks],
    )
    rows = [(one.name, one.description, one.rows, one.size) for one in files]
    hashes = [(one.name, one.sha256) for one in files]
    collected = "Nobody has answered anything yet."
    if came.first_at is not None and came.last_at is not None:
        collected = f"Collected from {day(came.first_at)} to {day(came.last_at)} (UTC)."
    parts: list[Part] = [
        Bullets(
            [
                collected,
                f"Kinds of work: {', '.join(tasks)}. Seed of everything random: {study.settings.study.seed}.",
                "People appear under pseudonyms that are the same in all files; ids of panels are in none of them.",
                f"Licence: {licence}." if licence else "No licence has been named (--license names one).",
                f"Contact: {study.settings.study.contact}.",
                *models,
                "What people wrote and what items hold is as it was given: nobody has looked for personal data in it.",
            ]
        ),
        ScoreTable("Files", ("file", "what it has", "rows#", "bytes#"), rows),
        ScoreTable("SHA-256", ("file", "digest"), hashes),
        "The same is in this page as Croissant 1.0 metadata (JSON-LD), for search engines and data loaders.",
    ]
    summary = {
        "files": [{"name": one.name, "rows": one.rows, "bytes": one.size, "sha256": one.sha256} for one in files],
        "licence": licence,
    }
    return Section("data-card", "Data card", parts, summary), croissant(facts, files)


def day(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()
