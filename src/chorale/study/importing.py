"""A finished study from files of work that was done elsewhere, so that old data get what a new study gets."""

import json
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from chorale.formats.batch_answers import LONGEST_OPTION, MOST_OPTIONS, BatchField, fits
from chorale.formats.batch_files import Batch, BatchOptions, read_batch
from chorale.formats.wording import many
from chorale.model import UserError, money_text
from chorale.store import Tx, events, importing
from chorale.store.importing import DoneWork, PaidEach
from chorale.store.setup import as_text
from chorale.study.folder import SETTINGS_FILE
from chorale.study.opening import open_study
from chorale.study.running import RunningStage, Study
from chorale.study.settling import settle_group

_LONGEST_LINE, _MOST_SHOWN = 200, 40
_TAKEN = frozenset({"id", "answer", "explanation", "pieces"})
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_GROUPS_AT_ONCE = 500
_CURRENCY = "USD"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to."""

    directory: Path
    stages: Mapping[str, Mapping[str, int]]
    """By name: judgments, items, workers."""
    notes: tuple[str, ...]


def import_files(
    files: Sequence[Path],
    directory: Path,
    options: BatchOptions,
    *,
    title: str,
    contact: str = "not known",
    progress: Progress | None = None,
) -> Imported:
    """Make a study of finished work: a stage for every file. All of it, or nothing and UserError."""
    if directory.exists():
        raise UserError(f"{directory} is there already. Name a folder that is not, with --out.")
    batches = _named([read_batch(path, options) for path in files])
    with _new_folder(directory) as folder:
        _write_folder(folder, batches, title, contact)
        study = open_study(folder)
        try:
            _bring_in(study, batches, progress or (lambda _done, _total: None))
        finally:
            study.close()
    notes = tuple(f"{batch.name}: {note}" for batch in batches.values() for note in batch.notes)
    return Imported(directory, {name: _counts(batch) for name, batch in batches.items()}, notes)


def _counts(batch: Batch) -> dict[str, int]:
    tasks, workers = {row.task for row in batch.rows}, {row.worker for row in batch.rows}
    return {"judgments": len(batch.rows), "items": len(tasks), "workers": len(workers)}


@contextmanager
def _new_folder(directory: Path) -> Iterator[Path]:
    """A folder beside the one wanted that takes its name if all goes well, and otherwise leaves no trace."""
    draft = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}.part")
    try:
        draft.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{directory} can't be made: {error.strerror}. Choose another place with --out.") from None
    try:
        yield draft
        draft.rename(directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _named(batches: Sequence[Batch]) -> dict[str, Batch]:
    """Batches by names that stages can have."""
    found: dict[str, Batch] = {}
    for batch in batches:
        stem = re.sub(r"(\.(csv|tsv|jsonl|ndjson|gz))+$", "", batch.name.lower())
        plain = re.sub(r"[^a-z0-9]+", "-", stem).strip("-").removesuffix("-batch-results")[:34].strip("-") or "batch"
        name = plain if plain[0].isalpha() else f"batch-{plain}"[:34].strip("-")
        number = 2
        while name in found:
            name = f"{plain}-{number}"
            number += 1
        found[name] = batch
    return found


# Files


def _write_folder(folder: Path, batches: Mapping[str, Batch], title: str, contact: str) -> None:
    (folder / "consent.md").write_text("# About these data\n\nThe work was done elsewhere and imported.\n", "utf-8")
    text = [
        "[study]",
        f"title = {_toml(title)}",
        f"contact = {_toml(contact)}",
        'consent = "consent.md"',
        "\n[arrival]\nby_url = false",
        f"\n[pay]\ncurrency = {_toml(_CURRENCY)}",
    ]
    for name, batch in batches.items():
        asked = ", ".join(field.title for field in batch.fields)
        shown = f"# {batch.name}\n\nThis stage was imported from {batch.name}: people filled in {asked}.\n"
        (folder / f"{name}.md").write_text(shown, "utf-8")
        rows = [{"id": task, **item_of(task, columns)} for task, columns in sorted(batch.items.items())]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
        text.append(_stage(name, batch, rows))
    (folder / SETTINGS_FILE).write_text("\n".join(text) + "\n", "utf-8")


def item_of(task: str, columns: Mapping[str, str]) -> dict[str, str]:
    """An item as a form shows it: something to read, under names that are free."""
    renamed = {f"item_{name}" if name in _TAKEN else name: text for name, text in columns.items()}
    return renamed or {"task": task}


def _stage(name: str, batch: Batch, rows: Sequence[Mapping[str, str]]) -> str:
    most = max(_judgments_of_each(batch).values())
    columns = list(dict.fromkeys(column for row in rows for column in row if column != "id"))
    shows = [column for column in columns if len(column) <= LONGEST_OPTION][:_MOST_SHOWN]
    parts = [f"{{ item = {_toml(column)}, label = {_toml(column)}, optional = true }}" for column in shows]
    pay = f"\n[stage.pay]\nper_judgment = {batch.reward}\n" if batch.reward else ""
    # Nobody is asked for more: an item is complete with the judgments it has.
    judgments = f"{{ min = 1, max = {most}, until = 0 }}" if most > 1 else "1"
    return f"""
[[stage]]
name = "{name}"
title = {_toml(batch.name[:_LONGEST_LINE])}
task = "form"
guidelines = "{name}.md"
items = {{ file = "{name}.jsonl" }}
judgments = {judgments}
{pay}
[stage.options]
shows = [{", ".join(parts)}]
{"".join(_field(batch, field) for field in batch.fields)}"""


def _judgments_of_each(batch: Batch) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in batch.rows:
        counts[row.task] = counts.get(row.task, 0) + 1
    return counts


def _field(batch: Batch, field: BatchField) -> str:
    given = [row.answers[field.name] for row in batch.rows if field.name in row.answers]
    required = "" if len(given) == len(batch.rows) else "required = false\n"
    return f"""
[[stage.options.fields]]
name = "{field.name}"
ask = {_toml(field.title[:_LONGEST_LINE])}
{required}{_kind(batch, field, given)}
"""


def _kind(batch: Batch, field: BatchField, given: Sequence[str | tuple[str, ...]]) -> str:
    """The kind of the field: a choice where there are few short labels, text where there are not."""
    labels = sorted({label for one in given for label in ((one,) if isinstance(one, str) else one)})
    listed = f"options = [{', '.join(_toml(label) for label in labels)}]"
    if field.sep is not None:
        if not fits(labels):
            raise UserError(
                f"{batch.name} can't be imported with --sep: a form has at most {MOST_OPTIONS} options of at most "
                f"{LONGEST_OPTION} characters, and there are {many(len(labels), 'label', 'labels')}. "
                "Leave --sep out, or choose another --label."
            )
        return f'kind = "choices"\n{listed}'
    # One of several columns may hold remarks: few as they may be, they do not come again.
    again = len(batch.fields) == 1 or len(given) >= 2 * len(labels)
    if fits(labels) and len(labels) > 1 and again:
        return f'kind = "choice"\n{listed}'
    if all(len(label) <= _LONGEST_LINE and "\n" not in label for label in labels):
        return 'kind = "text"'
    return 'kind = "long_text"'


def _toml(text: str) -> str:
    """A text as TOML has it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# The database


def _bring_in(study: Study, batches: Mapping[str, Batch], progress: Progress) -> None:
    people: dict[tuple[str, str], int] = {}
    total = sum(len(batch.rows) for batch in batches.values())
    done = 0
    for name, batch in batches.items():
        stage = study.stage(name)
        study.store.write(lambda tx, stage=stage, batch=batch: _add(tx, study, stage, batch, people)).result()  # type: ignore[misc]
        groups = sorted(_judgments_of_each(batch))
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            some = groups[start : start + _GROUPS_AT_ONCE]
            study.store.write(lambda tx, stage=stage, some=some: _settle(tx, study, stage, some)).result()  # type: ignore[misc]
            progress(done + len(batch.rows) * min(len(groups), start + _GROUPS_AT_ONCE) // len(groups), total)
        done += len(batch.rows)


def _settle(tx: Tx, study: Study, stage: RunningStage, groups: Sequence[str]) -> None:
    for group in groups:
        settle_group(tx, study, stage, group)


def _add(tx: Tx, study: Study, stage: RunningStage, batch: Batch, people: dict[tuple[str, str], int]) -> None:
    now = study.clock()
    first: dict[str, int] = {}
    for row in batch.rows:
        came = (now if row.submitted_at is None else row.submitted_at) - row.duration_ms
        first[row.worker] = min(came, first.get(row.worker, came))
    # By chance, so that a pseudonym says nothing about the id, nor about the place in the file.
    rng: Random = SystemRandom()
    for worker in rng.sample(sorted(first), len(first)):
        if (batch.panel, worker) not in people:
            pseudonym = "w-" + "".join(rng.choices(_ALPHABET, k=10))
            people[batch.panel, worker] = importing.add_worker(tx, pseudonym, batch.panel, worker, first[worker])
    items = importing.item_ids(tx, stage.id)
    payloads = {task: item_of(task, columns) for task, columns in batch.items.items()}
    done = []
    texts: dict[str, str] = {}
    for row in sorted(batch.rows, key=lambda row: (row.submitted_at or 0, row.line)):
        item_id, group = items[row.task]
        given = {name: _value(label) for name, label in row.answers.items()}
        answer = stage.task.parse_answer(given, payloads[row.task])
        submitted = now if row.submitted_at is None else row.submitted_at
        worker_id = people[batch.panel, row.worker]
        text = as_text(answer)
        # Held once: of a choice there are few.
        text = texts.setdefault(text, text)
        done.append(DoneWork(worker_id, item_id, group, text, submitted, row.duration_ms))
    paid = None
    if batch.reward:
        paid = PaidEach(batch.reward, f"a judgment in {stage.name}, {money_text(batch.reward, _CURRENCY)} each")
    importing.add_done_work(tx, stage.id, stage.task.version, done, paid)
    evidence: dict[str, Any] = {"file": batch.name, "sha256": batch.digest, "notes": list(batch.notes)}
    events.record(tx, now, "imported", evidence, stage_id=stage.id)


def _value(label: str | tuple[str, ...]) -> str | list[str]:
    return label if isinstance(label, str) else list(label)
