"""`chorale` without a command: the next steps in this folder."""

from pathlib import Path

from chorale.cli.output import print_line
from chorale.present.shell import argument

_STUDY, _DATABASE = "study.toml", "study.db"
_TABLES = (".csv", ".tsv", ".jsonl")
_MOST_LISTED = 5
_CHECKS = "list problems in its files, or its plan and cost"


def steps_before_launch(name: str) -> list[tuple[str, str]]:
    """The commands between a study's files and its launch, each with its purpose.

    One simulated run comes first: it shows mistakes on the pages, and such mistakes would make a forecast worthless.
    """
    name = argument(name)
    return [
        (f"chorale simulate {name}", "try its site, console and report with simulated workers"),
        (f"chorale rehearse {name}", "then forecast its results, cost and duration from many simulations"),
        (f"chorale serve {name}", "open its site"),
    ]


def print_first_steps(here: Path) -> None:
    """Print the commands that make sense in this folder, the likely next ones first, and how to list the others."""
    studies = [Path()] if (here / _STUDY).is_file() else _studies_in(here)
    steps = _with_studies(here, studies) if studies else _without_studies(_tables_in(here))
    width = max(len(command) for command, _ in steps)
    for command, meaning in steps:
        print_line(f"  {command:<{width}}   {meaning}" if command else meaning)
    print_line()
    print_line("`chorale --help` lists all commands, and `chorale COMMAND --help` explains one.")


def _studies_in(here: Path) -> list[Path]:
    try:
        return sorted(Path(path.parent.name) for path in here.glob(f"*/{_STUDY}"))
    except OSError:
        return []


def _with_studies(here: Path, studies: list[Path]) -> list[tuple[str, str]]:
    name = str(studies[0])
    if name == ".":
        title = "This folder is a study."
    else:
        listed = ", ".join(map(str, studies[:_MOST_LISTED])) + (", …" if len(studies) > _MOST_LISTED else ".")
        title = f"{'Study' if len(studies) == 1 else f'{len(studies)} studies'} in this folder: {listed}"
    name = argument(name)
    if (here / studies[0] / _DATABASE).exists():
        steps = [
            (f"chorale serve {name}", "open its site"),
            (f"chorale status {name}", "show its progress, people, cost and wages"),
            (f"chorale report {name}", "write a report with its numbers and charts"),
            (f"chorale export {name}", "write its results to a file"),
            (f"chorale verify {name}", "recompute every number from the recorded answers"),
            (f"chorale check {name}", _CHECKS),
        ]
    else:
        steps = [(f"chorale check {name}", _CHECKS), *steps_before_launch(str(studies[0]))]
    return [("", title), *steps]


def _tables_in(here: Path) -> list[str]:
    try:
        return sorted(path.name for path in here.iterdir() if path.suffix in _TABLES and path.is_file())
    except OSError:
        return []


def _without_studies(tables: list[str]) -> list[tuple[str, str]]:
    own = argument(tables[0]) if tables else "texts.csv"
    if len(tables) > 1:
        from_table = f"make a study from {own}, or another table in this folder"
    else:
        from_table = (
            f"make a study from {own}, the table in this folder" if tables else "make a study from your own table"
        )
    return [
        ("", "To run a study:"),
        ("chorale demo", "see simulated workers complete a study"),
        ("chorale new", "make a study; asks for what it needs"),
        (f"chorale new my-study --from {own}", from_table),
        ("chorale new my-study --template form", "make a study from a template"),
        ("", "To score files:"),
        ("chorale agreement judgments.csv", "agreement between annotators"),
        ("chorale aggregate judgments.csv", "one label per item from several annotations"),
        ("chorale evaluate --help", "scores of a system against a gold standard"),
    ]
