"""`chorale import judgments`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import Annotated

import typer

from chorale.cli.arguments import AsJson
from chorale.cli.judgments_options import KeepRejected, LabelColumn, Separator, TaskColumn, WorkerColumn
from chorale.cli.output import print_json, say, tell_notes


def judgments(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Batch files of Mechanical Turk or Appen, or CSV, TSV or JSONL tables of task, worker and label. Each "
            "becomes a stage.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The study's folder. It must not be there yet.")],
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The study's title; the folder's name if not given.", show_default=False),
    ] = None,
    task: TaskColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    sep: Separator = None,
    keep_rejected: KeepRejected = False,
    as_json: AsJson = False,
) -> None:
    """Make a finished study of work that was done elsewhere: old data get the same console, report and exports."""
    from chorale.cli.progress import patiently
    from chorale.exchange.importing import import_files
    from chorale.files.batch_files import BatchOptions
    from chorale.metrics.reading.judgment_files import separator_in
    from chorale.model import UserError

    if sep == "":
        raise UserError("An empty separator separates nothing. Give --sep a text, or leave it out.")
    options = BatchOptions(task, worker, label, separator_in(sep), keep_rejected)
    with patiently("judgments") as progress:
        done = import_files(files, out, options, title=title or out.name, progress=progress)
    if as_json:
        print_json(
            {
                "study": str(out),
                "stages": {name: dict(one) for name, one in done.stages.items()},
                "notes": list(done.notes),
            }
        )
        return
    for name, one in done.stages.items():
        say(f"{name}: {one['judgments']:,} judgments of {one['items']:,} items by {one['workers']:,} workers.")
    say(f"Made {out}. `chorale report {out}` reports on it.")
    tell_notes(done.notes)
