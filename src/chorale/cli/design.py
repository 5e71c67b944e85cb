"""`chorale design`"""

import secrets
from functools import partial
from typing import Annotated

from uvicorn import Config

from chorale.cli.addresses import is_preview, local_url, port_of, reserve
from chorale.cli.arguments import Database, StudyFolder
from chorale.cli.output import print_line
from chorale.cli.parameters import Option
from chorale.cli.serving import UVICORN_OPTIONS, serve_until_stopped
from chorale.engine.started import changes_refused
from chorale.model import UserError
from chorale.web.design.app import create_design_app
from chorale.web.design.drafts import Designer
from chorale.web.logs import set_up_logs


def design(
    directory: StudyFolder,
    db: Database = None,
    host: Annotated[
        str, Option(metavar="HOST", help="Address to listen on; only local addresses are accepted.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", help="Port to listen on.", min=0, max=65535)] = 8010,
) -> None:
    """Edit a study's form in the browser, with a live preview of the page that workers see."""
    if not is_preview(None, host):
        raise UserError(
            f"--host {host} would let other computers edit the study file. Use 127.0.0.1, and reach it from elsewhere "
            "with ssh -L."
        )
    set_up_logs(access_log=False)
    designer = Designer(directory, partial(changes_refused, directory, db))
    designer.state()
    key = secrets.token_urlsafe(24)
    with reserve(host, port) as bound:
        base = local_url(host, port_of(bound))

        def announce() -> None:
            print_line(f"Editing {directory / 'study.toml'}. Open {base}/?key={key}")
            print_line("Nothing is written until you select Save. Ctrl-C stops the editor.")

        config = Config(create_design_app(designer, key), proxy_headers=False, **UVICORN_OPTIONS)
        serve_until_stopped(config, bound, announce)
