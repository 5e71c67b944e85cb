"""What commands ask people for: a platform's token, and whether to spend money."""

import os
import sys

import click

from chorale.engine.recruiting import TOKEN_VARIABLE, connected, token_in_environment
from chorale.model import UserError
from chorale.platforms.prolific import Prolific


def prolific() -> Prolific:
    """Prolific's interface, with the token in PROLIFIC_TOKEN or one that is typed unseen. It is kept nowhere."""
    token = token_in_environment()
    if token is None and not os.environ.get(TOKEN_VARIABLE):
        if sys.stdin.isatty():
            token = str(click.prompt("Prolific API token (not shown, not stored)", hide_input=True)).strip()
        else:
            token = sys.stdin.readline().strip()
    if not token:
        raise UserError(
            f"Prolific needs an API token. Set the variable {TOKEN_VARIABLE}, or type it when asked. Create a token "
            "on Prolific under Settings."
        )
    return connected(token)


def agreed(question: str) -> bool:
    """Whether somebody says yes."""
    try:
        return bool(click.confirm(question, err=True))
    except click.Abort:
        raise UserError("Not confirmed, so nothing was spent. Add --yes to confirm in advance.") from None
