"""`chorale mturk run`"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from chorale.cli.addresses import checked_study_url
from chorale.cli.arguments import BY, Database, StudyFolder
from chorale.cli.invite import base_url
from chorale.cli.output import print_line
from chorale.cli.parameters import Argument, Option
from chorale.engine.running import Study
from chorale.kits.mturk.commands.keys import study_with_hits
from chorale.kits.mturk.market.access import NewKey, make_key
from chorale.kits.mturk.store import keys
from chorale.model import UserError
from chorale.present.shell import argument
from chorale.store import Tx

SHIM = Path(__file__).parents[1] / "shim"
KEY_NAME = "chorale mturk run"
_PATIENCE_SECONDS = 10


def run(
    directory: StudyFolder,
    command: Annotated[
        list[str] | None,
        Argument(metavar="SCRIPT", help="A Python script or any other command, with its arguments.", verbatim=True),
    ] = None,
    endpoint: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="URL of the site.",
            envvar="CHORALE_ENDPOINT",
            show_default="the last address of the site",
        ),
    ] = None,
    show: Annotated[
        bool, Option("--env", help="Print the environment variables for a shell instead of running a script.")
    ] = False,
    db: Database = None,
) -> None:
    """Run a Mechanical Turk script against a study, without changing the script."""
    if bool(command) == show:
        raise UserError("Give either a script to run or --env.")
    with study_with_hits(directory, db) as study:
        site = base_url(study, None) if endpoint is None else checked_study_url(endpoint)
        key = study.store.write(lambda tx: _key(tx, study)).result()
    variables = _variables(site, key)
    if not command:
        for name, value in variables.items():
            print_line(f"export {name}={shlex.quote(value)}")
        return
    _check_answers(site, directory)
    sys.exit(_run(command, variables))


def _key(tx: Tx, study: Study) -> NewKey:
    """The access key of this command, created on its first run and after it was revoked."""
    for row in keys.keys(tx):
        secret = keys.secret_of(tx, row.access_key) if row.name == KEY_NAME else None
        if secret is not None:
            return NewKey(row.access_key, secret, row.name)
    return make_key(tx, study, KEY_NAME, BY)


def _variables(site: str, key: NewKey) -> dict[str, str]:
    """Environment variables for a script: for boto3 with the shim, and for other AWS tools."""
    before = os.environ.get("PYTHONPATH")
    return {
        "CHORALE_ENDPOINT": site,
        "CHORALE_ACCESS_KEY": key.access_key,
        "CHORALE_SECRET_KEY": key.secret,
        "PYTHONPATH": os.pathsep.join([str(SHIM), *([before] if before else [])]),
        "AWS_ENDPOINT_URL_MTURK": site,
        "AWS_ACCESS_KEY_ID": key.access_key,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_DEFAULT_REGION": os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
    }


def _check_answers(site: str, directory: Path) -> None:
    try:
        with urlopen(site, timeout=_PATIENCE_SECONDS):  # noqa: S310 - an address that was checked
            pass
    except HTTPError:
        pass  # The site responds and asks for authentication.
    except (URLError, OSError):
        raise UserError(
            f"No site responds at {site}. Start it with `chorale serve {argument(directory)}`. If it is running, check "
            "the host name, certificate and reverse proxy, or set another address with --endpoint."
        ) from None


def _run(command: list[str], variables: Mapping[str, str]) -> int:
    """Runs a script and returns its exit status."""
    if command[0].endswith(".py"):
        # Scripts need their own packages, so the Python of the shell is used.
        command = [shutil.which("python3") or shutil.which("python") or sys.executable, *command]
    try:
        return subprocess.run(command, env={**os.environ, **variables}, check=False).returncode  # noqa: S603 - it is the user's own
    except FileNotFoundError:
        raise UserError(f"Command not found: {command[0]!r}. Give a Python script (.py) or a program.") from None
    except OSError as error:
        raise UserError(f"Cannot run {command[0]}: {error.strerror}.") from None
