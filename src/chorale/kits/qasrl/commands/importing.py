"""`chorale import qasrl`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.files.tables import write_all_jsonl
from chorale.kits.qasrl.files import read_sentences
from chorale.kits.qasrl.tasks.shared.published import read_published
from chorale.model import UserError
from chorale.model.plural import plural


def qasrl(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="Questions and answers: CSV like the QA-SRL gold standard, or JSONL of the QA-SRL Bank. Verbs that "
            "occur in several files become items to consolidate.",
        ),
    ],
    out: Annotated[Path, Option(metavar="DIR", help="Folder for the files; created if missing.")],
    sentences: Annotated[
        Path | None,
        Option(help="Sentences of a CSV file: qasrl_id and tokens. Not needed for files of the QA-SRL Bank."),
    ] = None,
    force: Annotated[bool, Option(help="Overwrite existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Turn published QA-SRL data into items and gold, for browsing, consolidation or training."""
    published = read_published(files, read_sentences(sentences) if sentences else None)
    made = {out / name: rows for name, rows in published.files().items()}
    if not made:
        raise UserError(f"{files[0]} contains no verbs to make items from.")
    there = [path for path in made if path.exists()]
    if there and not force:
        raise UserError(f"{there[0]} already exists. Use --force to overwrite it, or set --out to another folder.")
    try:
        write_all_jsonl(made)
    except OSError as error:
        raise UserError(f"Cannot write to {out}: {error.strerror or error}. Choose another folder.") from error
    if as_json:
        print_json({"files": {str(path): len(rows) for path, rows in made.items()}, "notes": published.notes})
        return
    for path, rows in made.items():
        print_line(f"Wrote {plural(len(rows), 'row', 'rows')} to {path}.")
    for note in published.notes:
        print_line(note)
