"""The files of a study with imported work: settings, items, and a note on the origin of the data."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chorale.contract import ItemError, Task
from chorale.exchange.batch_kinds import BatchKind
from chorale.files.batch_files import BatchFile
from chorale.files.rows import Row, read_rows
from chorale.files.toml_lines import as_toml
from chorale.folder.reading import SETTINGS_FILE, StudyFolder, load_folder
from chorale.lazy import load
from chorale.model import NewItem, Problem, UserError
from chorale.registry import blaming, only
from chorale.store.staging import Staging, Totals

CURRENCY = "USD"
_LONGEST_LINE = 200
_TAKEN = frozenset({"id", "answer", "explanation", "pieces"})


@dataclass(frozen=True)
class StagedBatch:
    """A file of finished work whose judgments have been checked."""

    batch: BatchFile
    staging: Staging
    totals: Totals
    reward: int | None
    """Pay per judgment, in cents; None if the file has none or different amounts."""
    notes: tuple[str, ...]
    left_out: Mapping[str, int]
    """Numbers of judgments in the file that the study does not have, by reason."""
    kind: BatchKind | None = None
    """The specific task for such files; None for a form."""


def names_of(batches: Sequence[StagedBatch]) -> dict[str, StagedBatch]:
    """Batches by valid stage names."""
    named: dict[str, StagedBatch] = {}
    for batch in batches:
        stem = re.sub(r"(\.(csv|tsv|json|jsonl|ndjson|gz))+$", "", batch.batch.name.lower())
        plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-").removesuffix("-batch-results")[:34].strip("-") or "batch"
        name = plain if plain[0].isalpha() else f"batch-{plain}"[:34].strip("-")
        number = 2
        while name in named:
            name = f"{plain}-{number}"
            number += 1
        named[name] = batch
    return named


def write_folder(
    folder: Path, batches: Mapping[str, StagedBatch], title: str
) -> tuple[StudyFolder, dict[str, StagedBatch]]:
    """Write a study's files; returns the study and the batches, with notes on their forms.

    The study reads its items from the files on demand.
    """
    folder.mkdir(exist_ok=True)
    (folder / "consent.md").write_text("# About these data\n\nThe work was done elsewhere and imported.\n", "utf-8")
    text = [
        "[study]",
        f"title = {as_toml(title)}",
        'contact = "not known"',
        'consent = "consent.md"',
        "\n[arrival]\nby_url = false",
        f"\n[pay]\ncurrency = {as_toml(CURRENCY)}",
    ]
    columns = {}
    noted = {}
    for name, staged in batches.items():
        asked = ", ".join(field.title for field in staged.batch.fields)
        shown = (
            f"# {staged.batch.name}\n\nThis stage was imported from {staged.batch.name}: people filled in {asked}.\n"
        )
        (folder / f"{name}.md").write_text(shown, "utf-8")
        columns[name] = _write_items(folder / f"{name}.jsonl", staged)
        settings, notes = _stage(name, staged, columns[name])
        text.append(settings)
        noted[name] = replace(staged, notes=(*staged.notes, *_about_renamed(staged, columns[name]), *notes))
    (folder / SETTINGS_FILE).write_text("\n".join(text) + "\n", "utf-8")
    return _checked(folder, noted, columns), noted


def _checked(folder: Path, batches: Mapping[str, StagedBatch], columns: Mapping[str, Sequence[str]]) -> StudyFolder:
    """Check the study's settings.

    There may be too many items for memory, so one item per stage is checked now and all of them as they are read.
    """
    sample = folder.with_name("sample")
    sample.mkdir()
    for path in folder.iterdir():
        if path.is_dir():
            (sample / path.name).symlink_to(path.resolve())
        elif path.suffix != ".jsonl":
            (sample / path.name).write_bytes(path.read_bytes())
    for name, names in columns.items():
        row = {
            "id": "sample",
            **(_first_row(folder / f"{name}.jsonl") if batches[name].kind else dict.fromkeys(names, "sample")),
        }
        (sample / f"{name}.jsonl").write_text(f"{json.dumps(row, ensure_ascii=False)}\n", "utf-8")
    try:
        study = load_folder(sample)
    except UserError as error:
        raise UserError("These files can't be imported", error.problems) from None
    stages = tuple(
        replace(content, items=_Items(folder / f"{name}.jsonl", content.task, staged))  # type: ignore[arg-type]
        for content, (name, staged) in zip(study.stages, batches.items(), strict=True)
    )
    return replace(study, path=folder, stages=stages)


# Items


def _write_items(file: Path, staged: StagedBatch) -> list[str]:
    """Write the items; returns their columns."""
    columns = staged.batch.columns
    varying = _varying(staged)
    written: dict[str, None] = {}
    with file.open("w", encoding="utf-8") as out:
        for item in staged.staging.items():
            cells = {
                name: text
                for place, (name, text) in enumerate(zip(columns, item.cells, strict=True))
                if place not in varying and text.strip()
            }
            row = {"id": item.task, **_row_of(staged, item.task, cells, item.line)}
            written |= dict.fromkeys(row)
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return [name for name in written if name != "id"]


def _row_of(staged: StagedBatch, task: str, cells: Mapping[str, str], line: int) -> Mapping[str, Any]:
    if staged.kind is None:
        return item_of(task, cells)
    try:
        return staged.kind.item(cells)
    except ValueError as error:
        problem = Problem(staged.batch.file, line, str(error), "Correct the row, or leave the item out.")
        raise UserError(f"{staged.batch.file} can't be imported", [problem]) from None


def _first_row(file: Path) -> dict[str, Any]:
    with file.open(encoding="utf-8") as lines:
        row: dict[str, Any] = json.loads(next(lines))
    return {name: value for name, value in row.items() if name != "id"}


def _varying(staged: StagedBatch) -> set[int]:
    """The columns that differ between rows of the same item, so they do not belong to the item."""
    varying: set[int] = set()
    for rows in staged.staging.differing():
        first = rows[0]
        varying |= {place for row in rows for place, cell in enumerate(row) if cell != first[place]}
        if len(varying) == len(first):
            break
    return varying


def _about_renamed(staged: StagedBatch, columns: Sequence[str]) -> Iterator[str]:
    """A note on item columns whose names Chorale uses itself."""
    taken = sorted(_TAKEN.intersection(staged.batch.columns))
    renamed = [name for name in taken if f"item_{name}" in columns] if staged.kind is None else []
    if not renamed:
        return
    listed = ", ".join(f"{name!r} is now 'item_{name}'" for name in renamed)
    note = f"Columns with names that Chorale uses itself are renamed: {listed}."
    if "id" in renamed:
        note += " To take the item IDs from 'id', name that column of your file with --task."
    yield note


def item_of(task: str, columns: Mapping[str, str]) -> dict[str, str]:
    """An item for a form: readable text, with unused column names."""
    renamed = {f"item_{name}" if name in _TAKEN else name: text for name, text in columns.items()}
    return renamed or {"task": task}


class _Items:
    """The items in a file, read again on every iteration."""

    def __init__(self, file: Path, task: Task, of: StagedBatch) -> None:
        self._file, self._task, self._of = file, task, of

    def __iter__(self) -> Iterator[NewItem]:
        problems: list[Problem] = []
        for row in read_rows(self._file, shown_as=self._file.name, problems=problems):
            try:
                item = self._task.shape.parse_row({name: value for name, value in row.values.items() if name != "id"})
            except ItemError as error:
                raise self._refused(row, error) from None
            yield from self._task.shape.expand(item, row.values["id"])
        if problems:
            raise UserError(f"{self._of.batch.name} can't be imported", problems)

    def _refused(self, row: Row, error: ItemError) -> UserError:
        file = self._of.batch.file
        line = next(item.line for item in self._of.staging.items() if item.task == row.values["id"])
        problems = [
            Problem(
                file, line, f"column {name!r} {message.removeprefix('Value error, ').partition('. ')[0]}", "Shorten it."
            )
            for name, message, _ in error.messages
        ]
        return UserError(f"{file} can't be imported", problems)


# Settings


def _stage(name: str, staged: StagedBatch, columns: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The settings of a stage, and notes on them."""
    notes: Sequence[str] = ()
    if staged.kind is not None:
        task, options = staged.kind.task, staged.kind.options
    else:
        kit, place = only("stage for plain judgments", lambda kit: kit.plain_stage)
        with blaming(f"part {place} of the kit `{kit}`"):
            task, options, notes = load(place)(staged, columns)
    most = staged.totals.most
    pay = f"\n[stage.pay]\nper_judgment = {staged.reward}\n" if staged.reward else ""
    # No more judgments are needed: an item is complete with those it has.
    judgments = f"{{ min = 1, max = {most}, until = 0 }}" if most > 1 else "1"
    settings = f"""
[[stage]]
name = "{name}"
title = {as_toml(staged.batch.name[:_LONGEST_LINE])}
task = {as_toml(task)}
guidelines = "{name}.md"
items = {{ file = "{name}.jsonl" }}
judgments = {judgments}
{staged.kind.settings if staged.kind else ""}
{pay}
[stage.options]
{options}"""
    return settings, notes
