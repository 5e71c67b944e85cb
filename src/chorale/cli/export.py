"""`chorale export`"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.engine.started import started_study
from chorale.exchange.export import GENERAL_FORMATS, export_file_name, note_export, write_export
from chorale.exchange.export_folders import FOLDERS
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.monitor.outcomes import tallies

STDOUT = Path("-")


_ALSO_WRITTEN = {"label-studio": "labelstudio", "hugging-face": "huggingface", "crowd-kit": "crowdkit"}


def export(
    directory: StudyFolder,
    format_name: Annotated[
        str,
        Option(
            "--format",
            metavar="NAME",
            help=f"{', '.join(GENERAL_FORMATS)}, huggingface (a folder), or a table of one of the study's tasks.",
        ),
    ] = "jsonl",
    out: Annotated[
        Path | None,
        Option(
            help="File to write; - for standard output. Default: a file name for the format, such as responses.jsonl."
        ),
    ] = None,
    force: Annotated[bool, Option(help="Overwrite an existing file.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a study's results to a file, with participant IDs for workers."""
    format_name = _ALSO_WRITTEN.get(format_name, format_name)
    if out == STDOUT and as_json:
        raise UserError("--out - and --json both use standard output. Leave one out.")
    if out == STDOUT and format_name in FOLDERS:
        raise UserError(f"{format_name} is a folder and can't be written to standard output. Name a folder with --out.")
    with started_study(directory, db) as study:
        target = out or Path(export_file_name(study, format_name))
        if target != STDOUT and target.exists() and not force and format_name not in FOLDERS:
            raise UserError(f"{target} already exists. Add --force to overwrite it, or name another file with --out.")
        if target == STDOUT:
            _write_to_stdout(study, format_name)
            return
        with patiently("rows") as progress:
            rows = write_export(study, format_name, target, progress)
        study.store.write(lambda tx: note_export(tx, study, format_name, BY)).result()
        beside = _beside_the_table(study, format_name)
        simulated = study.store.look(has_simulated_people)
    if as_json:
        marked = {"simulated": True} if simulated else {}
        print_json({"format": format_name, "file": str(target), "rows": rows, **marked, **beside})
        return
    print_line(f"Wrote {plural(rows, 'row', 'rows')} to {target}.{' All people are simulated.' if simulated else ''}")
    for outcome, count in beside.get("outcomes", {}).items():
        print_line(f"  {count:>8,}  {outcome}")


def _write_to_stdout(study: Study, format_name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export"
        write_export(study, format_name, file)
        # Checked before anything is written: a reader of the pipe may stop half-way.
        study.store.write(lambda tx: note_export(tx, study, format_name, BY)).result()
        with file.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _beside_the_table(study: Study, format_name: str) -> dict[str, dict[str, int]]:
    """Print notes on what a task's table leaves out, and why."""
    tally = study.store.read(lambda tx: tallies(tx, study)).result().get(format_name)
    return {} if tally is None else {"outcomes": dict(tally)}
