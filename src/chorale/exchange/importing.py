"""Imports files of finished work as a study, so that old data get all features of a new study.

Files are read once, and only workers are kept in memory: rows are stored in a draft folder until their meaning is
known. Only a complete study gets its final name.
"""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from chorale.engine.clock import wall_clock
from chorale.engine.opening import DATABASE, bring_in
from chorale.exchange.batch_kinds import BatchKind, batch_kind_of
from chorale.exchange.imported_files import StagedBatch, names_of, write_folder
from chorale.exchange.imported_work import Progress, bring_in_work, counted
from chorale.files.batch_files import BatchOptions, read_batch
from chorale.files.shortening import shortened
from chorale.files.source import StreamedFile
from chorale.folder.draft import draft_folder
from chorale.model import Problem, UserError
from chorale.model.plural import plural
from chorale.store import open_loading_store
from chorale.store.loading import disk_errors
from chorale.store.staging import Staging

MOST_JUDGMENTS = 1_000
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    directory: Path
    stages: Mapping[str, Mapping[str, int]]
    """Counts by name: judgments, items, workers."""
    notes: tuple[str, ...]


def import_files(
    files: Sequence[Path],
    directory: Path,
    options: BatchOptions,
    *,
    title: str,
    progress: Progress | None = None,
    kind: BatchKind | None = None,
    media: Mapping[str, Path] | None = None,
) -> Imported:
    """Make a study from finished work, with one stage per file; UserError if any file is invalid.

    `kind` sets how files become stages; by default, their columns decide. `media` are files that items refer to, by
    their place in the study folder.
    """
    report_progress = progress or (lambda _done, _total, _what: None)
    with draft_folder(directory) as draft, disk_errors(), ExitStack() as stack:
        read = _FilesRead(files, report_progress)
        staged = []
        for number, path in enumerate(files):
            staging = Staging(draft.path / f"{number}.db")
            stack.callback(staging.close)
            staged.append(
                _staged(path, options, staging, draft.path / f"{number}.rows", read.streamed(), report_progress)
            )
        if kind is not None:
            staged = [
                replace(one, kind=kind, notes=(*one.notes, *kind.notes), left_out={**one.left_out, **kind.left_out})
                for one in staged
            ]
            if kind.source is not None:
                for file in staged:
                    file.batch.name_source(kind.source)
        batches = names_of(staged)
        for place, source in (media or {}).items():
            (draft.study / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, draft.study / place)
        folder, batches = write_folder(draft.study, batches, title)
        store = open_loading_store(draft.study / DATABASE)
        stack.callback(store.close)
        bring_in_work(bring_in(folder, store, wall_clock), batches, report_progress)
        store.finish()
    notes = (*draft.notes, *(f"{one.batch.name}: {note}" for one in batches.values() for note in one.notes))
    return Imported(directory, {name: _counts(one) for name, one in batches.items()}, notes)


def _counts(staged: StagedBatch) -> dict[str, int]:
    totals = staged.totals
    return {"judgments": totals.judgments, "items": totals.items, "workers": totals.workers}


class _FilesRead:
    """Progress of reading all files."""

    def __init__(self, files: Sequence[Path], progress: Progress) -> None:
        self._total = sum(path.stat().st_size for path in files if path.is_file())
        self._tell, self._done = progress, 0

    def streamed(self) -> StreamedFile:
        return StreamedFile(self._more)

    def _more(self, count: int) -> None:
        before, self._done = self._done, self._done + count
        if self._done // _MEGABYTE > before // _MEGABYTE:
            self._tell(self._done // _MEGABYTE, -(-self._total // _MEGABYTE), "MB read")


def _staged(
    path: Path, options: BatchOptions, staging: Staging, spool: Path, streamed: StreamedFile, progress: Progress
) -> StagedBatch:
    """Read and check a file; UserError lists all its problems."""
    batch = read_batch(path, options, spool, streamed)
    count = staging.add(counted(batch.rows(), batch.count, "rows parsed", progress))
    spool.unlink()
    kind = batch_kind_of(batch)
    notes = batch.notes()
    if not count:
        fix = "Name the column of the labels with --label."
        problem = Problem(batch.file, None, "has no judgments", fix, "; ".join(notes).rstrip(".") or None)
        raise UserError(f"{path} can't be imported", [problem])
    totals = staging.arrange()
    left_out = batch.left_out()
    if totals.repeated:
        left_out["repeated"] = totals.repeated
        again = plural(totals.repeated, "judgment", "judgments")
        notes.append(f"{again} left out: if a worker judged a task more than once, only the last judgment counts.")
    if totals.most > MOST_JUDGMENTS:
        line, task = staging.too_many(MOST_JUDGMENTS)
        message, fix = (
            f"has more than {MOST_JUDGMENTS:,} judgments of one task",
            "Check which column names the task (--task).",
        )
        raise UserError(f"{path} can't be imported", [Problem(batch.file, line, message, fix, shortened(task))])
    lowest, highest = staging.rewards()
    if lowest != highest:
        notes.append("Rewards differ between judgments, so pay is not recorded.")
    reward = lowest if lowest == highest else None
    return StagedBatch(batch, staging, totals, reward, tuple(notes), left_out, kind)
