"""`chorale import judgments`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.exchange.importing import Imported, import_files
from chorale.files.batch_files import BatchOptions
from chorale.metrics.reading.judgment_files import separator_in
from chorale.metrics.reading.judgments_options import KeepRejected, LabelColumn, Separator, TaskColumn, WorkerColumn
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.present.shell import argument


def judgments(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="Batch files of Mechanical Turk or Appen, or tables (CSV, TSV, JSONL) with task, worker and label. "
            "Each file becomes a stage.",
        ),
    ],
    out: Annotated[Path, Option(metavar="DIR", help="Folder for the new study; it must not exist yet.")],
    title: Annotated[str | None, Option(metavar="TEXT", help="The study's title. Default: the folder's name.")] = None,
    task: TaskColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    sep: Separator = None,
    keep_rejected: KeepRejected = False,
    as_json: AsJson = False,
) -> None:
    """Import annotations collected elsewhere as a finished study, with the same console, report and exports."""
    if sep == "":
        raise UserError("--sep is empty. Name a separator, or leave it out.")
    options = BatchOptions(task, worker, label, separator_in(sep), keep_rejected)
    with patiently("judgments") as progress:
        done = import_files(files, out, options, title=title or out.name, progress=progress)
    print_imported(done, as_json=as_json)


def print_imported(done: Imported, *, as_json: bool) -> None:
    """Print a summary of the imported study."""
    if as_json:
        stages = {name: dict(counts) for name, counts in done.stages.items()}
        print_json({"study": str(done.directory), "stages": stages, "notes": list(done.notes)})
        return
    for name, counts in done.stages.items():
        print_line(
            f"{name}: {plural(counts['judgments'], 'judgment', 'judgments')} of "
            f"{plural(counts['items'], 'item', 'items')} by {plural(counts['workers'], 'worker', 'workers')}."
        )
    print_line(f"Created {done.directory}. Next: `chorale report {argument(done.directory)}`.")
    print_notes(done.notes)
