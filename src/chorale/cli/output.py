"""How commands print."""

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType

    from chorale.model import UserError

# Of half a surrogate pair, which no encoding has, a file's name may be made as well.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Tables are not cut to the width of a terminal that is not there.
_WIDTH_OF_A_FILE = 140


def plain(text: str) -> str:
    """Text from a study as a terminal may see it: nothing in it moves the cursor or changes a colour."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def console() -> "Console":
    """Where results go."""
    from rich.console import Console  # noqa: PLC0415 - only commands that print need it

    width = None if sys.stdout.isatty() else _WIDTH_OF_A_FILE
    return Console(highlight=False, markup=False, width=width, soft_wrap=False)


def say(text: str = "") -> None:
    """Print a line as it is, however long: links must stay whole."""
    typer.echo(plain(text))


def show(*things: "RenderableType") -> None:
    """Print tables, each with room around it."""
    target = console()
    target.print()
    for thing in things:
        target.print(thing)
        target.print()


def print_json(value: dict[str, Any]) -> None:
    """One object. What would move a terminal's cursor, or can't be encoded, is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def tell_notes(notes: "Iterable[str]") -> None:
    """What the reader of a result should know beside it."""
    for note in notes:
        typer.echo(f"note: {plain(note)}", err=True)


def tell_error(error: "UserError") -> None:
    """A user's mistake, with every problem on a line of its own."""
    ending = ":" if error.problems else ""
    typer.echo(f"chorale: {plain(error.message)}{ending}", err=True)
    for problem in error.problems:
        typer.echo(f"  {plain(str(problem))}", err=True)
