"""`chorale new`"""

import sys
from pathlib import Path
from typing import Annotated

import click

from chorale.cli.arguments import AsJson, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.files.rows import shortened
from chorale.folder.own_table import read_own_table
from chorale.folder.templates import (
    create_study,
    create_study_for_scripts,
    create_study_from_files,
    create_study_from_table,
    template_names,
    usual_template,
)
from chorale.model import UserError


def new(
    directory: StudyFolder,
    template: Annotated[
        str | None, Option(help=f"What the study starts from: {', '.join(template_names())}.", metavar="NAME")
    ] = usual_template(),
    html: Annotated[
        Path | None, Option(help="A layout: HTML with ${variables}. With --csv, for a template that takes one.")
    ] = None,
    csv: Annotated[Path | None, Option(help="The batch file that fills the layout's variables.")] = None,
    scripts_only: Annotated[
        bool, Option(help="Without items of its own: all work comes from scripts. For a template that takes them.")
    ] = False,
    table: Annotated[
        Path | None, Option("--from", help="A table of your own (CSV, TSV, JSONL): one question about every row.")
    ] = None,
    text: Annotated[
        str | None, Option(metavar="COLUMN", help="With --from: the column people read. Default: the longest texts.")
    ] = None,
    key: Annotated[
        str | None,
        Option("--id", metavar="COLUMN", help="With --from: the column with the IDs. Default: one named like an ID."),
    ] = None,
    ask: Annotated[str | None, Option(metavar="QUESTION", help="With --from: the question.")] = None,
    labels: Annotated[
        str | None, Option(metavar="LABELS", help="With --from: the possible answers, separated by commas.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new study from a template, or from a table of your own (--from)."""
    if table is not None:
        if scripts_only or not html is csv is None:
            raise UserError("--from makes a study of its own. Leave out --html, --csv and --scripts-only.")
        _new_from_table(directory, table, text, key, ask, labels, as_json=as_json)
        return
    if not text is key is ask is labels is None:
        raise UserError("--text, --id, --ask and --labels go with --from. Name the table with --from FILE.")
    if template is None:
        raise UserError(f"Name what the study starts from with --template: {', '.join(template_names())}.")
    if scripts_only and not html is csv is None:
        raise UserError("--scripts-only makes a study without a layout. Leave out --html and --csv, or --scripts-only.")
    if scripts_only:
        files = create_study_for_scripts(directory, template)
    elif html is None and csv is None:
        files = create_study(directory, template)
    elif html is None or csv is None:
        raise UserError("--html and --csv go together: a layout and the batch file that fills its variables.")
    else:
        files = create_study_from_files(directory, template, html, csv)
    if as_json:
        print_json({"study": str(directory), "template": template, "files": [str(file) for file in files]})
        return
    print_line(f"Made {directory} from the template `{template}`: {len(files)} files.")
    first = f"Edit {directory / 'study.toml'}; {directory / 'README.md'} says what is what."
    _print_next(directory, first, rehearse=html is None and not scripts_only)


def _new_from_table(
    directory: Path,
    path: Path,
    text: str | None,
    key: str | None,
    ask: str | None,
    labels: str | None,
    *,
    as_json: bool,
) -> None:
    table = read_own_table(path)
    shown, identified = table.text_column(text), table.id_column(key)
    if sys.stdin.isatty() and not as_json:
        if text is None:
            shown = table.text_column(click.prompt(f"Column people read ({', '.join(table.columns)})", default=shown))
        ask = ask or str(click.prompt("Question (for example: Is this comment toxic?)"))
        labels = labels or str(click.prompt("Possible answers, separated by commas"))
    if ask is None or labels is None:
        missing = " and ".join(name for name, given in (("--ask", ask), ("--labels", labels)) if given is None)
        raise UserError(
            f"{missing} missing: a study from a table needs a question and its possible answers. For example: "
            f"chorale new {directory} --from {path} --ask 'Is this comment toxic?' --labels 'toxic,not toxic'"
        )
    listed = [label.strip() for label in labels.split(",") if label.strip()]
    files = create_study_from_table(directory, table, shown, identified, ask, listed)
    if as_json:
        columns = {"text": shown, "id": identified or table.number_column}
        print_json({"study": str(directory), "from": str(path), **columns, "files": [str(file) for file in files]})
        return
    numbered = f"rows numbered in the new column `{table.number_column}`, since no column has usable IDs"
    ids = f"IDs from `{identified}`" if identified else numbered
    print_line(f"Made {directory} from {path}: {len(table.rows):,} items, texts from `{shown}`, {ids}.")
    print_line(
        f"People read, for example: {shortened(str(table.rows[0][shown]))}. To show another column: --text COLUMN"
    )
    _print_next(
        directory, f"Fill in the [placeholders] of {directory / 'guidelines.md'} and {directory / 'consent.md'}."
    )


def _print_next(directory: Path, first: str, *, rehearse: bool = True) -> None:
    commands = ["check", *(["rehearse"] if rehearse else []), "serve"]
    print_line()
    print_line("What to do next:")
    for number, step in enumerate([first, *(f"chorale {command} {directory}" for command in commands)], 1):
        print_line(f"  {number}. {step}")
