"""Printing for commands."""

import json
import re
from collections.abc import Iterable
from typing import Any

import click

from chorale.model.problems import UserError, condensed

# File names can contain lone surrogates, which no encoding can represent.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """Escape text from a study for the terminal, so that it cannot move the cursor or change colours."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def print_line(text: str = "") -> None:
    """Print a line without wrapping: links must stay intact."""
    click.echo(plain(text))


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object. Control characters and characters that can't be encoded are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    click.echo(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on a result to standard error."""
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)


def print_error(error: UserError) -> None:
    """Print an error with its problems: one line for each cause, with the number of rows affected."""
    ending = ":" if error.problems else ""
    click.echo(f"chorale: {plain(error.message)}{ending}", err=True)
    for problem in condensed(error.problems):
        click.echo(f"  {plain(str(problem))}", err=True)
