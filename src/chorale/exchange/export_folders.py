"""Exports that are folders: a dataset for Hugging Face's `datasets`, with its card."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chorale.engine.running import Study
from chorale.exchange.export_fields import stages_with_fields
from chorale.folder.draft import draft_folder
from chorale.model.stage_settings import JudgmentSettings

WriteTable = Callable[[str, Path], int]
"""Writes an export of this name to a file; returns the number of rows."""


@dataclass(frozen=True, slots=True)
class FolderFormat:
    summary: str
    name: str
    """The folder's default name."""


FOLDERS: Mapping[str, FolderFormat] = {
    "huggingface": FolderFormat(
        "a dataset for Hugging Face's datasets: responses and labels as Parquet, with a card", "dataset"
    )
}


def write_folder(study: Study, path: Path, write: WriteTable) -> int:
    """Write the dataset's folder completely or not at all; returns the number of responses."""
    with draft_folder(path) as draft:
        data = draft.study / "data"
        data.mkdir(parents=True)
        rows = write("parquet", data / "responses.parquet")
        labels = write("labels-parquet", data / "labels.parquet")
        if stages_with_fields(study):
            write("tidy-parquet", data / "fields.parquet")
        (draft.study / "README.md").write_text(_card(study, rows, labels, data), "utf-8", errors="replace")
    return rows


def _card(study: Study, responses: int, labels: int, data: Path) -> str:
    info = study.settings.study
    # Any JSON text is also valid YAML.
    title = json.dumps(info.title, ensure_ascii=False)
    stages = "\n".join(
        f"| `{name}` | `{stage.task.name}` | {_annotations(stage.settings.judgments)} |"
        for name, stage in study.stages.items()
    )
    tables = ["responses", "labels", *(["fields"] if stages_with_fields(study) else [])]
    configs = "".join(_config(data / f"{table}.parquet", table == tables[0]) for table in tables)
    tidy = "\n\n`fields` has a row for every value of every field of the annotations that count."
    tidy = tidy if "fields" in tables else ""
    return f"""---
pretty_name: {title}
tags:
- crowdsourcing
configs:
{configs}---

# {_plain(info.title)}

{responses:,} responses and {labels:,} items from a crowdsourcing study, exported by Chorale.

| stage | task | annotations per item |
| --- | --- | --- |
{stages}

`responses` has a row for every response, including those to gold and training items. `labels` has one for every item,
with its aggregated label and confidence.
Use only accepted labels (`released`), or explain why you use others. People appear under random participant IDs. Nested
values are JSON.{tidy}

Random seed: {info.seed}. Contact: {_plain(info.contact)}
"""


def _config(table: Path, is_default: bool) -> str:
    """The settings of one table. `datasets` reads new data only if these differ, so they include a checksum."""
    checksum = hashlib.sha256(table.read_bytes()).hexdigest()
    default = "  default: true\n" if is_default else ""
    return f"""- config_name: {table.stem}
{default}  data_files: data/{table.name}
  description: SHA-256 {checksum}
"""


def _annotations(rule: JudgmentSettings) -> str:
    return str(rule.min) if rule.min == rule.max else f"{rule.min} to {rule.max}"


def _plain(text: str) -> str:
    """Text with Markdown characters escaped."""
    flat = " ".join(text.split())
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>#|" else one for one in flat)
