"""Passphrases of backups: from a file, from the environment, or from a hidden prompt."""

import os
import sys
from pathlib import Path
from typing import Annotated

import click

from chorale.cli.parameters import Option
from chorale.exchange.sealing import SHORTEST_PASSPHRASE
from chorale.model import UserError
from chorale.model.plural import plural

ENVIRONMENT = "CHORALE_PASSPHRASE"

PassphraseFile = Annotated[
    Path | None,
    Option(
        "--passphrase-file",
        metavar="FILE",
        help=f"Read the passphrase from this file. Default: the variable {ENVIRONMENT}; if it is not set, you type the "
        "passphrase.",
    ),
]


def passphrase_to_seal(file: Path | None) -> str:
    """The passphrase for a new backup; a prompt asks for it twice."""
    chosen = _given(file) or _typed("Passphrase of the backup", again=True)
    if len(chosen) < SHORTEST_PASSPHRASE:
        raise UserError(
            f"The passphrase has {plural(len(chosen), 'character', 'characters')}. Use {SHORTEST_PASSPHRASE} or more: "
            "anyone with the file can try any number of passphrases."
        )
    return chosen


def passphrase_to_open(file: Path | None) -> str:
    """The passphrase that a backup was made with."""
    return _given(file) or _typed("Passphrase of the backup", again=False)


def _given(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(ENVIRONMENT) or None
    try:
        text = file.read_text("utf-8").rstrip("\r\n")
    except OSError as error:
        raise UserError(f"--passphrase-file {file} can't be read: {error.strerror}. Name another file.") from None
    except UnicodeDecodeError:
        raise UserError(f"--passphrase-file {file} is not UTF-8 text. Save it as UTF-8.") from None
    if not text:
        raise UserError(f"--passphrase-file {file} is empty. Write the passphrase on its first line.")
    return text


def _typed(prompt: str, *, again: bool) -> str:
    if not sys.stdin.isatty():
        raise UserError(
            "There is no terminal to type a passphrase in. Use --passphrase-file, or the environment variable "
            f"{ENVIRONMENT}."
        )
    typed = str(click.prompt(prompt, hide_input=True))
    if again and typed != click.prompt("Repeat passphrase", hide_input=True):
        raise UserError("The two passphrases differ. Type the same one twice.")
    return typed
