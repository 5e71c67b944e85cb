"""Prompts of commands: for a platform's token, and for consent to spend money."""

import os
import sys

import click

from chorale.engine.recruiting import TOKEN_VARIABLE, connected, token_in_environment
from chorale.model import UserError
from chorale.platforms.prolific import Prolific


def prolific() -> Prolific:
    """A client for Prolific's API. The token comes from PROLIFIC_TOKEN or a hidden prompt, and is not stored."""
    token = token_in_environment()
    if token is None and not os.environ.get(TOKEN_VARIABLE):
        if sys.stdin.isatty():
            token = str(click.prompt("Prolific API token (not shown, not stored)", hide_input=True)).strip()
        else:
            token = sys.stdin.readline().strip()
    if not token:
        raise UserError(
            f"Prolific needs an API token. Set the environment variable {TOKEN_VARIABLE}, or type it when asked. "
            "Create a token on Prolific under Settings."
        )
    return connected(token)


def agreed(question: str) -> bool:
    """Ask for confirmation; True if the user agrees."""
    try:
        return bool(click.confirm(question, err=True))
    except click.Abort:
        raise UserError("Not confirmed, so nothing was spent. Add --yes to confirm in advance.") from None
