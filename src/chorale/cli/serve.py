"""`chorale serve`"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Annotated, Any, NamedTuple

from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn import Config

from chorale.cli.addresses import checked_public_url, is_preview, local_url, port_of, reserve
from chorale.cli.arguments import Database, PublicUrl
from chorale.cli.check import print_before_launch
from chorale.cli.output import print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.serving import UVICORN_OPTIONS, serve_until_stopped
from chorale.cli.together import database_of, studies_together
from chorale.engine.arrivals import ByUrl, arrival_url, by_url
from chorale.engine.opening import open_study, serving_alone
from chorale.engine.recruiting import connected, token_in_environment
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.folder.panel_notes import uses_platform
from chorale.folder.plan import consent_placeholders, study_notes
from chorale.folder.reading import load_folder
from chorale.model import UserError
from chorale.model.problems import UnavailableError
from chorale.monitor.measured import people_without_account
from chorale.platforms.prolific import Prolific
from chorale.store import consents, settings
from chorale.web.accounts import Accounts
from chorale.web.app import create_app
from chorale.web.front import FrontOptions
from chorale.web.limits import REQUESTS_PER_SECOND
from chorale.web.links import setup_link_path
from chorale.web.logs import set_up_logs
from chorale.web.servers import HEALTH_CHECK_SECONDS, Announce, SiteProcesses, stop_with_parent
from chorale.web.several import create_server

ENVIRONMENT = "CHORALE_SERVE"
_GRACE_SECONDS = 10


class Opened(NamedTuple):
    """An open site of a study, with everything that server processes need."""

    directory: str
    db: str | None
    public_url: str | None
    """The address of the server."""
    preview: bool
    """Whether the site can be reached only from this computer."""
    access_log: bool
    requests_per_second: float
    name: str = ""
    """Its name on a server with several studies; empty if the server has only one study."""

    @property
    def root(self) -> str:
        """The prefix of the study's paths."""
        return f"/{self.name}" if self.name else ""

    @property
    def front(self) -> FrontOptions:
        """The study's entry on the front page of a server with several studies."""
        return FrontOptions((self.public_url or "").startswith("https:"), self.access_log, self.requests_per_second)

    def app(self, study: Study, accounts: Accounts | None = None) -> FastAPI:
        return create_app(
            study,
            public_url=None if self.public_url is None else self.public_url + self.root,
            prolific=_prolific(study),
            preview=self.preview,
            folder=Path(self.directory),
            access_log=self.access_log,
            requests_per_second=self.requests_per_second,
            root=self.root,
            other_accounts=accounts,
        )


class _Running(NamedTuple):
    """An open study and its addresses."""

    opened: Opened
    study: Study
    arriving: ByUrl
    app: FastAPI | None
    """The application; None if other processes serve it."""


class _Opening(NamedTuple):
    """The options that apply to every study when it opens."""

    base: str
    """The address of the server."""
    processes: int
    unfinished: bool


def serve(
    directories: Annotated[
        list[Path],
        Argument(
            metavar="DIR...",
            help="The study's folder. To serve several studies, name their folders, or the folder that contains them.",
        ),
    ],
    db: Database = None,
    host: Annotated[str, Option(metavar="HOST", help="Address to listen on; 0.0.0.0 for all addresses.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", help="Port to listen on.", min=0, max=65535)] = 8000,
    public_url: PublicUrl = None,
    processes: Annotated[
        int, Option(help="Number of server processes. More than one requires PostgreSQL.", min=1, max=256)
    ] = 1,
    unfinished: Annotated[bool, Option(help="Open the site even if the consent form has placeholders.")] = False,
    access_log: Annotated[
        bool, Option(help="Log the page, status and duration of every request. The log contains no personal data.")
    ] = False,
    requests_per_second: Annotated[
        float, Option(help="Maximum sustained rate of requests per worker; 0 for no limit.", min=0)
    ] = REQUESTS_PER_SECOND,
) -> None:
    """Open a study's site. Ctrl-C closes the site; no submitted answer is lost."""
    public = None if public_url is None else checked_public_url(public_url)
    set_up_logs(access_log=access_log)
    preview = is_preview(public, host)
    together = studies_together(directories)
    folders = together or {"": directories[0]}
    wanted = [
        Opened(
            str(folder.absolute()),
            database_of(name, db) if together else db,
            public,
            preview,
            access_log,
            requests_per_second,
            name,
        )
        for name, folder in folders.items()
    ]
    with ExitStack() as until_closed:
        # Reserve the port before changing a study: if the site can't open, nothing has been imported.
        if not together:
            until_closed.enter_context(serving_alone(directories[0], db))
        bound = until_closed.enter_context(reserve(host, port))
        opening = _Opening(public or local_url(host, port_of(bound)), processes, unfinished)
        if not together:
            only = _open(wanted[0], opening, until_closed)
            _serve(only.app, [only], [], bound, opening)
            return
        accounts = Accounts()
        running, closed = _open_each(wanted, opening, until_closed, accounts)
        apps = {each.opened.name: each.app for each in running if each.app is not None}
        server = create_server(apps, closed, accounts, wanted[0].front) if apps else None
        _serve(server, running, closed, bound, opening)


def _open(wanted: Opened, opening: _Opening, until_closed: ExitStack, accounts: Accounts | None = None) -> _Running:
    """Open a study's database for its site, after all checks and notes before launch."""
    directory = Path(wanted.directory)
    study = open_study(directory, wanted.db)
    until_closed.callback(study.close)
    if opening.processes > 1:
        _refuse_sqlite(study)
    if not (opening.unfinished or wanted.preview):
        _refuse_unfinished(study)
    # `chorale invite` uses this address for links.
    base = opening.base + wanted.root
    study.store.write(lambda tx: settings.set_setting(tx, "site", base)).result()
    if not study.store.look(has_simulated_people):
        print_before_launch(study_notes(load_folder(directory)), wanted.name)
    for note in people_without_account(study, directory):
        print_line(f"Warning: {note}")
    asks = study.settings.prolific is not None and token_in_environment() is not None
    arriving = study.store.look(lambda tx: by_url(tx, study, preview=wanted.preview, asks_prolific=asks))
    return _Running(wanted, study, arriving, wanted.app(study, accounts) if opening.processes == 1 else None)


def _open_each(
    several: Sequence[Opened], opening: _Opening, until_closed: ExitStack, accounts: Accounts
) -> tuple[list[_Running], list[str]]:
    """Open several studies.

    Return the open ones, and the names of those that could not be opened, which are reported.
    """
    running: list[_Running] = []
    closed: list[str] = []
    for wanted in several:
        try:
            until_closed.enter_context(serving_alone(Path(wanted.directory), wanted.db))
            running.append(_open(wanted, opening, until_closed, accounts))
        except (UserError, UnavailableError) as error:
            print_line(f"Warning: {wanted.name} is not served. {error}")
            closed.append(wanted.name)
    if not running:
        raise UserError("No study could be opened. Correct the problems above, then start the server again.")
    return running, closed


def _serve(
    app: ASGIApp | None, running: Sequence[_Running], closed: Sequence[str], bound: socket, opening: _Opening
) -> None:
    announce = partial(_print_links, running, opening.base)
    if app is not None:
        _serve_here(app, bound, running[0].opened.public_url, announce)
    else:
        _serve_with_processes([each.opened for each in running], closed, bound, opening.processes, announce)


def _serve_here(app: ASGIApp, bound: socket, public_url: str | None, announce: Announce) -> None:
    signal.signal(signal.SIGTERM, _stop)
    # The writing thread and the serving thread switch constantly. The default of 5 ms is too long, above all when the
    # writing thread waits for PostgreSQL: its rows have long arrived when its turn comes.
    sys.setswitchinterval(0.0005)
    serve_until_stopped(Config(app, **_uvicorn_options(public_url)), bound, announce)


def _prolific(study: Study) -> Prolific | None:
    """A Prolific client, if the study recruits on Prolific and a token is set."""
    token = token_in_environment() if study.settings.prolific is not None else None
    # A short time-out: workers are waiting, and failed calls are retried soon.
    return None if token is None else connected(token, tries=2, timeout=5.0)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Exit cleanly on a signal from the system. The server has finished its requests before this is called."""
    raise SystemExit(0)


def _refuse_unfinished(study: Study) -> None:
    """Refuse to open a site whose consent form still has placeholders, such as `[institution]`."""
    left, file = consent_placeholders(study.consent.text), study.settings.study.consent
    if not left:
        return
    problem = f"{file} still has placeholders: {', '.join(left)}."
    if study.store.look(lambda tx: bool(consents.consents(tx))):
        print_line(
            f"Warning: {problem} People have already agreed to this form. Fill in the placeholders; everybody is then "
            "asked to agree again."
        )
        return
    raise UserError(
        f"{problem} Fill them in before launch. To try the site on this computer, leave out --public-url and --host. "
        "To open it anyway, add --unfinished."
    )


def _refuse_sqlite(study: Study) -> None:
    if study.store.dialect == "sqlite":
        raise UserError(
            "--processes needs PostgreSQL: SQLite allows one writing process. "
            "Leave --processes out, or name a PostgreSQL database with --db postgresql+psycopg://user@host/name."
        )


def _print_links(running: Sequence[_Running], base: str) -> None:
    for opened, study, arriving, _ in running:
        address, arrival = base + opened.root, study.settings.arrival
        print_line(study.settings.study.title)
        if study.store.look(has_simulated_people):
            print_line("  All people are simulated. Do not invite anybody to this study.")
        elif uses_platform(study.settings):
            if arriving.note is not None:
                print_line(f"Warning: {arriving.note}")
            if arriving.is_open:
                print_line(f"  for {arrival.panel}:  {arrival_url(address, arrival)}")
        print_line(f"  console:  {address}/console")
        if (setup_path := setup_link_path(study)) is not None:
            print_line(f"  first sign-in (link works once):  {address}{setup_path}")
    real = any(not one.study.store.look(has_simulated_people) for one in running)
    invitations = " Invitations: `chorale invite`." if real else ""
    print_line(f"Serving at {base}.{invitations} Ctrl-C closes the site.")


def _uvicorn_options(public: str | None) -> dict[str, Any]:
    return {
        **UVICORN_OPTIONS,
        # Only a configured proxy may set the client's address.
        "proxy_headers": public is not None,
        "timeout_graceful_shutdown": _GRACE_SECONDS,
        # Workers think longer than the default of 5 seconds; keeping connections open makes phones respond faster.
        "timeout_keep_alive": 75,
    }


def _serve_with_processes(
    several: Sequence[Opened], closed: Sequence[str], bound: socket, processes: int, announce: Announce
) -> None:
    os.environ[ENVIRONMENT] = json.dumps({"studies": [opened._asdict() for opened in several], "closed": closed})
    config = Config(
        "chorale.cli.serve:app_from_environment",
        factory=True,
        workers=processes,
        timeout_worker_healthcheck=HEALTH_CHECK_SECONDS,
        **_uvicorn_options(several[0].public_url),
    )
    SiteProcesses(config, bound, announce).run()


def app_from_environment() -> ASGIApp:
    """The application of one of several server processes, which inherit only the environment."""
    stop_with_parent()
    asked = json.loads(os.environ[ENVIRONMENT])
    several = [Opened(**each) for each in asked["studies"]]
    set_up_logs(access_log=several[0].access_log)
    accounts = Accounts()
    try:
        studies = {each.name: open_study(Path(each.directory), each.db) for each in several}
        if not several[0].name:
            return several[0].app(studies[""])
        apps = {each.name: each.app(studies[each.name], accounts) for each in several}
        return create_server(apps, asked["closed"], accounts, several[0].front)
    except UserError as error:
        # A traceback in the log would not help the requester, who needs to know what to do.
        print_line(f"A server process can't start: {error}")
        raise SystemExit(2) from None
