"""`chorale password`"""

import asyncio
import os
import re
import sys
from typing import Annotated

import click

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.engine.running import Study
from chorale.engine.started import study_to_prepare
from chorale.model import UserError
from chorale.store import Tx, events, requesters
from chorale.web.console.signing_in import NAME_PATTERN
from chorale.web.links import OWNER
from chorale.web.staff import Passwords, change_password, check_new_password, make_owner

ENVIRONMENT = "CHORALE_PASSWORD"
DEFAULT_NAME = "owner"


def password(
    directory: StudyFolder,
    name: Annotated[
        str | None,
        Option(metavar="NAME", help="The owner's name. Default: the one chosen when the console was set up."),
    ] = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Set the owner's password. You type it twice, or set CHORALE_PASSWORD. All sessions of the owner end."""
    with study_to_prepare(directory, db) as study:
        chosen, is_new = study.store.read(lambda tx: _owner(tx, name)).result()
        new = _ask(chosen)
        hashed = asyncio.run(Passwords().hash(new))
        _store(study, chosen, hashed, is_new)
    if as_json:
        print_json({"name": chosen, "new": is_new})
    else:
        done = "Created the owner's account." if is_new else "Changed the password. Earlier sessions have ended."
        print_line(f"{done} User name: {chosen}")


def _owner(tx: Tx, name: str | None) -> tuple[str, bool]:
    """Whose password to set, and whether they are the study's first owner."""
    if name is not None and not re.fullmatch(NAME_PATTERN, name):
        raise UserError(f"{name!r} is not a valid user name. Use up to 80 letters, digits and . _ @ + -")
    if not requesters.has_owner(tx):
        return name or DEFAULT_NAME, True
    set_up = events.recent(tx, 1, kinds=("set up",))
    chosen = name or (str(set_up[0].evidence["by"]) if set_up else DEFAULT_NAME)
    known = requesters.find_requester(tx, chosen)
    if known is None or known.role != OWNER:
        raise UserError(f"This study has no owner called {chosen!r}. Leave --name out to use the owner who set it up.")
    return chosen, False


def _ask(name: str) -> str:
    given = os.environ.get(ENVIRONMENT)
    try:
        new = _typed("New password") if given is None else given
        again = _typed("Repeat password") if given is None else given
        new.encode()  # Python passes bytes that are not text through as surrogates
    except UnicodeError:
        raise UserError(
            "The password is not UTF-8 text. Use plain letters and digits, or set the terminal to UTF-8."
        ) from None
    check_new_password(name, new, again)
    return new


def _typed(prompt: str) -> str:
    """A line from a hidden prompt, or from standard input if it is not a terminal."""
    if sys.stdin.isatty():
        return str(click.prompt(prompt, hide_input=True))
    line = sys.stdin.readline()
    if not line:
        raise UserError(
            f"There is no terminal to type a password in. Put it into the environment variable {ENVIRONMENT}."
        )
    return line.rstrip("\r\n")


def _store(study: Study, name: str, hashed: str, is_new: bool) -> None:
    act = make_owner if is_new else change_password
    study.store.write(lambda tx: act(tx, study, name, hashed)).result()
