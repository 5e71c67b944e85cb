"""How commands print."""

import json
import re
from collections.abc import Iterable
from typing import Any

import click

from chorale.model.problems import UserError, condensed

# Of half a surrogate pair, which no encoding has, a file's name may be made as well.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """Text from a study as a terminal may see it: nothing in it moves the cursor or changes a colour."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def print_line(text: str = "") -> None:
    """Print a line as it is, however long: links must stay whole."""
    click.echo(plain(text))


def print_json(value: dict[str, Any]) -> None:
    """One object. What would move a terminal's cursor, or can't be encoded, is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    click.echo(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def print_notes(notes: Iterable[str]) -> None:
    """Notes for the reader of a result."""
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)


def print_error(error: UserError) -> None:
    """Print an error with its problems: one line for each cause, however many rows have it."""
    ending = ":" if error.problems else ""
    click.echo(f"chorale: {plain(error.message)}{ending}", err=True)
    for problem in condensed(error.problems):
        click.echo(f"  {plain(str(problem))}", err=True)
