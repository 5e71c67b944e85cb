"""The questions that `chorale new` asks in a terminal."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from chorale.cli.output import print_line
from chorale.files.shortening import shortened
from chorale.folder.own_table import OwnTable
from chorale.folder.templates import layout_template, template_names, template_titles, usual_template

_TABLE, _TEMPLATE, _LAYOUT = "1", "2", "3"
_FEWEST_LABELS = 2


@dataclass(frozen=True, slots=True)
class Beginning:
    """The source of a new study: a template, a layout with its batch file, or a table."""

    template: str | None = None
    html: Path | None = None
    csv: Path | None = None
    table: Path | None = None


def can_ask() -> bool:
    """Whether a person can answer at a terminal."""
    return sys.stdin.isatty()


def ask_for_folder() -> Path:
    folder: Path = click.prompt("Folder for the new study", default="my-study", value_proc=_new_folder)
    return folder


def _new_folder(typed: str) -> Path:
    folder = Path(typed.strip())
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise click.UsageError(f"{folder} already exists. Choose another name.")
    return folder


def ask_for_beginning() -> Beginning:
    """Ask for the source of the study and its files."""
    doors = {_TABLE: "your own table (CSV, TSV, JSONL or JSON): one question about every row", _TEMPLATE: "a template"}
    if layout_template() is not None:
        doors[_LAYOUT] = "a Mechanical Turk layout (HTML) and its batch file (CSV)"
    print_line("Make the study from:")
    for number, door in doors.items():
        print_line(f"  {number}  {door}")
    chosen = click.prompt("Choose", type=click.Choice(list(doors)), default=_TABLE, show_choices=False)
    if chosen == _TABLE:
        return Beginning(table=_ask_for_file("Table"))
    if chosen == _LAYOUT:
        return Beginning(html=_ask_for_file("Layout (.html)"), csv=_ask_for_file("Batch file (.csv)"))
    titles = template_titles()
    width = max(map(len, titles))
    for name, title in titles.items():
        print_line(f"  {name:<{width}}  {title}")
    names = click.Choice(template_names())
    return Beginning(template=click.prompt("Template", type=names, default=usual_template(), show_choices=False))


def _ask_for_file(question: str) -> Path:
    return Path(_ask(question, _existing_file))


def _existing_file(typed: str) -> str:
    name = typed.strip()
    if not name:
        raise click.UsageError("Type the name of a file, for example: texts.csv")
    file = Path(name).expanduser()
    if not file.is_file():
        wrong = "is a folder" if file.is_dir() else "does not exist"
        raise click.UsageError(f"{shortened(name)} {wrong}. Type the name of a file.")
    return str(file)


def ask_about_table(
    table: OwnTable, text: str | None, ask: str | None, labels: str | None
) -> tuple[str, str | None, str | None]:
    """Ask for the text column, the question and the labels that are missing on the command line."""
    if text is None:
        columns = click.Choice(table.columns)
        text = str(click.prompt("Column with the text that people read", type=columns, default=table.likely_text()))
    ask = ask or _ask("Question (for example: Is this comment toxic?)", _some_question)
    labels = labels or _ask("Possible answers, separated by commas", _several_labels)
    return text, ask, labels


def _ask(question: str, check: Callable[[str], str]) -> str:
    # An empty default, because click repeats a question without one and gives no reason.
    return str(click.prompt(question, default="", show_default=False, value_proc=check))


def _some_question(typed: str) -> str:
    if not typed.strip():
        raise click.UsageError("Type the question that people answer about every row.")
    return typed.strip()


def _several_labels(typed: str) -> str:
    if len({label.strip() for label in typed.split(",")} - {""}) < _FEWEST_LABELS:
        raise click.UsageError("At least two different answers are needed, for example: toxic, not toxic")
    return typed
