"""`chorale new`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.check import print_check
from chorale.cli.first_steps import steps_before_launch
from chorale.cli.new_questions import Beginning, ask_about_table, ask_for_beginning, ask_for_folder, can_ask
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.files.shortening import shortened
from chorale.folder.own_table import read_own_table
from chorale.folder.templates import (
    create_study,
    create_study_for_scripts,
    create_study_from_files,
    create_study_from_table,
    layout_template,
    template_names,
)
from chorale.model import UserError
from chorale.present.shell import argument

ScriptsOnly = Annotated[
    bool,
    Option(
        help="Make a study without items, in which your scripts create all tasks. Needs a template that "
        "supports scripts."
    ),
]
OwnTable = Annotated[
    Path | None,
    Option("--from", help="Your own table (CSV, TSV, JSONL or JSON). The study asks one question about every row."),
]
TextColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="With --from: the column with the text that people read. Default: the column with the most words.",
    ),
]
IdColumn = Annotated[
    str | None,
    Option(
        "--id",
        metavar="COLUMN",
        help="With --from: the column with the IDs. Default: a column named like an ID, such as id, tweet_id or "
        "tweetId.",
    ),
]


def new(
    directory: Annotated[
        Path | None,
        Argument(
            metavar="DIR", help="Folder of the new study. In a terminal, `chorale new` asks for it if you leave it out."
        ),
    ] = None,
    template: Annotated[
        str | None, Option(help=f"The template to copy: {', '.join(template_names())}.", metavar="NAME")
    ] = None,
    html: Annotated[
        Path | None, Option(help="A Mechanical Turk layout: HTML with ${variables}. Also needs --csv.")
    ] = None,
    csv: Annotated[Path | None, Option(help="The batch file that fills the layout's variables.")] = None,
    scripts_only: ScriptsOnly = False,
    table: OwnTable = None,
    text: TextColumn = None,
    key: IdColumn = None,
    ask: Annotated[str | None, Option(metavar="QUESTION", help="With --from: the question.")] = None,
    labels: Annotated[
        str | None, Option(metavar="LABELS", help="With --from: the possible answers, separated by commas.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new study from your own table (--from), a template (--template) or a layout (--html, --csv).

    In a terminal, `chorale new` asks for missing options.
    """
    asking = can_ask() and not as_json
    if table is None and not text is key is ask is labels is None:
        raise UserError("--text, --id, --ask and --labels describe a table. Add --from FILE.")
    if table is not None and (scripts_only or template is not None or not html is csv is None):
        raise UserError("--from makes a study from your table. Leave out --template, --html, --csv and --scripts-only.")
    if directory is None:
        if not asking:
            raise UserError("DIR is missing. Name the new study's folder: chorale new my-study")
        directory = ask_for_folder()
    beginning = Beginning(template, html, csv, table)
    if beginning == Beginning() and not scripts_only:
        beginning = ask_for_beginning() if asking else _refuse_without_beginning(directory)
    if beginning.table is not None:
        _new_from_table(directory, beginning.table, text, key, ask, labels, asking=asking, as_json=as_json)
    else:
        _new_from_template(directory, beginning, scripts_only=scripts_only, as_json=as_json)


def _refuse_without_beginning(directory: Path) -> Beginning:
    raise UserError(
        "Nothing to start the study from. Add `--from texts.csv` (your own table), `--template NAME` (a template; "
        "`chorale new --help` lists them) or `--html FILE --csv FILE` (a Mechanical Turk layout and batch file). "
        f"For example: chorale new {argument(directory)} --from texts.csv --ask 'Is this comment toxic?' "
        "--labels 'yes,no'"
    )


def _new_from_template(directory: Path, beginning: Beginning, *, scripts_only: bool, as_json: bool) -> None:
    html, csv = beginning.html, beginning.csv
    template = beginning.template or layout_template()
    if template is None:
        raise UserError(f"Choose a template with --template: {', '.join(template_names())}.")
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
    print_line(f"Created {directory} from the template `{template}`: {len(files)} files.")
    first = f"Edit {directory / 'study.toml'}. {directory / 'README.md'} explains the files."
    _print_next(directory, first, simulated=not scripts_only)


def _new_from_table(
    directory: Path,
    path: Path,
    text: str | None,
    key: str | None,
    ask: str | None,
    labels: str | None,
    *,
    asking: bool,
    as_json: bool,
) -> None:
    with patiently("reading"):
        table = read_own_table(path)
    if asking:
        text, ask, labels = ask_about_table(table, text, ask, labels)
    with patiently("finding columns"):
        shown, identified = table.text_column(text), table.id_column(key)
    if ask is None or labels is None:
        missing = " and ".join(name for name, given in (("--ask", ask), ("--labels", labels)) if given is None)
        raise UserError(
            f"{missing} missing: a study from a table needs a question and its possible answers. For example: "
            f"chorale new {argument(directory)} --from {argument(path)} --ask 'Is this comment toxic?' "
            "--labels 'toxic,not toxic'"
        )
    listed = [label.strip() for label in labels.split(",") if label.strip()]
    with patiently("writing"):
        files = create_study_from_table(directory, table, shown, identified, ask, listed)
    if as_json:
        columns = {"text": shown, "id": identified or table.number_column}
        print_json({"study": str(directory), "from": str(path), **columns, "files": [str(file) for file in files]})
        return
    numbered = f"rows numbered in the new column `{table.number_column}` ({table.why_numbered()})"
    ids = f"IDs from `{identified}`" if identified else numbered
    items = "1 item" if len(table.rows) == 1 else f"{len(table.rows):,} items"
    print_line(f"Created {directory} from {path}: {items}, texts from `{shown}`, {ids}.")
    other_ids = "" if identified else ". To take IDs from a column: --id COLUMN"
    print_line(
        f"People read, for example: {shortened(str(table.rows[0][shown]))} (another column: --text COLUMN){other_ids}"
    )
    if repeated := table.repeated_text(shown):
        words, rows = repeated
        print_line(
            f"{rows:,} of the {len(table.rows):,} texts are the same: {shortened(words)}. Each is paid for. Remove the "
            f"rows that need no label, delete {directory}, and run the command again."
        )
    if doubtful := table.doubtful_header():
        print_line(
            f"The first row of {path} was read as column names, such as {shortened(doubtful)}. If this row is data, "
            f"add a row of column names above it, delete {directory}, and run the command again."
        )
    _print_next(
        directory, f"Fill in the [placeholders] of {directory / 'guidelines.md'} and {directory / 'consent.md'}."
    )


def _print_next(directory: Path, first: str, *, simulated: bool = True) -> None:
    """Print the plan as `chorale check` does, then the next steps."""
    print_line()
    print_check(directory)
    steps = steps_before_launch(str(directory))
    if not simulated:
        steps = steps[-1:]
    width = max(len(command) for command, _ in steps)
    print_line()
    print_line("Next steps:")
    print_line(f"  1. {first} Then check again: chorale check {argument(directory)}")
    for number, (command, meaning) in enumerate(steps, 2):
        print_line(f"  {number}. {command:<{width}}   {meaning}")
