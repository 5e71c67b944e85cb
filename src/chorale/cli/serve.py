"""`chorale serve`"""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Annotated, Any, NamedTuple

from fastapi import FastAPI
from uvicorn import Config

from chorale.cli.addresses import checked_public_url, is_preview, local_url, port_of, reserve, why_not
from chorale.cli.arguments import Database, PublicUrl, StudyFolder
from chorale.cli.output import print_line
from chorale.cli.parameters import Option
from chorale.engine.arrivals import ByUrl, arrival_url, by_url
from chorale.engine.opening import open_study, serving_alone
from chorale.engine.recruiting import connected, token_in_environment
from chorale.engine.running import Study
from chorale.folder.plan import consent_placeholders, study_notes
from chorale.folder.reading import load_folder
from chorale.model import UserError
from chorale.monitor.measured import people_without_account
from chorale.platforms.prolific import Prolific
from chorale.store import consents, settings
from chorale.web.app import create_app
from chorale.web.connections import LimitedProtocol
from chorale.web.limits import REQUESTS_PER_SECOND
from chorale.web.links import setup_link_path
from chorale.web.logs import set_up_logs
from chorale.web.servers import HEALTH_CHECK_SECONDS, Announce, SiteProcesses, SiteServer, stop_with_parent

ENVIRONMENT = "CHORALE_SERVE"
_GRACE_SECONDS = 10


class Opened(NamedTuple):
    """A site that is open, as its processes need to know it."""

    directory: str
    db: str | None
    public_url: str | None
    preview: bool
    """Whether nobody but who is at this computer reaches it."""
    access_log: bool
    requests_per_second: float

    def app(self, study: Study) -> FastAPI:
        return create_app(
            study,
            public_url=self.public_url,
            prolific=_prolific(study),
            preview=self.preview,
            folder=Path(self.directory),
            access_log=self.access_log,
            requests_per_second=self.requests_per_second,
        )


def serve(
    directory: StudyFolder,
    db: Database = None,
    host: Annotated[str, Option(metavar="HOST", help="Where to listen; 0.0.0.0 for everywhere.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", help="The port to listen on.", min=0, max=65535)] = 8000,
    public_url: PublicUrl = None,
    processes: Annotated[int, Option(help="Server processes; PostgreSQL only.", min=1, max=256)] = 1,
    unfinished: Annotated[bool, Option(help="Open although the consent form still has placeholders.")] = False,
    access_log: Annotated[bool, Option(help="Log every request, without values.")] = False,
    requests_per_second: Annotated[
        float, Option(help="Requests a worker may make per second, lastingly; 0 for no limit.", min=0)
    ] = REQUESTS_PER_SECOND,
) -> None:
    """Open a study's site. Ctrl-C closes it; whatever was accepted is on disk."""
    public = None if public_url is None else checked_public_url(public_url)
    set_up_logs(access_log=access_log)
    preview = is_preview(public, host)
    opened = Opened(str(directory.absolute()), db, public, preview, access_log, requests_per_second)
    # The port first: a site that can't open has not brought anything in.
    with serving_alone(directory, db), reserve(host, port) as bound:
        study = open_study(directory, db)
        try:
            if processes > 1:
                _refuse_sqlite(study)
            if not (unfinished or preview):
                _refuse_unfinished(study)
            base = public or local_url(host, port_of(bound))
            # So that `chorale invite` makes links to where the site really is.
            study.store.write(lambda tx: settings.set_setting(tx, "site", base)).result()
            for note in study_notes(load_folder(directory)):
                print_line(f"Before people come: {note}")
            for note in people_without_account(study):
                print_line(f"Warning: {note}")
            arriving = _by_url(study, opened)
            announce = partial(_print_links, study, base, arriving)
            if processes == 1:
                _serve_here(study, bound, opened, announce)
                return
            _serve_with_processes(opened, bound, processes, announce)
        finally:
            study.close()


def _by_url(study: Study, opened: Opened) -> ByUrl:
    asks = study.settings.prolific is not None and token_in_environment() is not None
    return study.store.look(lambda tx: by_url(tx, study, preview=opened.preview, asks_prolific=asks))


def _serve_here(study: Study, bound: socket, opened: Opened, announce: Announce) -> None:
    signal.signal(signal.SIGTERM, _stop)
    # The thread that writes and the one that talks hand over to each other all the time; the usual 5 ms are too long.
    sys.setswitchinterval(0.001)
    server = SiteServer(Config(opened.app(study), **_uvicorn_options(opened.public_url)), announce)
    host, port = bound.getsockname()[:2]
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        print_line("Closed.")
    except OSError as error:
        if server.started:
            raise
        raise UserError(why_not(error, host, port)) from None


def _prolific(study: Study) -> Prolific | None:
    """For a site that finds its people on Prolific, if there is a token to talk to it."""
    token = token_in_environment() if study.settings.prolific is not None else None
    # People wait for the answer, and what fails is tried again soon.
    return None if token is None else connected(token, tries=2, timeout=5.0)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Asked to end by the system: end well. The server has finished its requests before this is called."""
    raise SystemExit(0)


def _refuse_unfinished(study: Study) -> None:
    """Keep a consent form from people that does not say who is responsible, or for how long data are kept."""
    left, file = consent_placeholders(study.consent.text), study.settings.study.consent
    if not left:
        return
    what = f"{file} still has placeholders: {', '.join(left)}."
    if study.store.look(lambda tx: bool(consents.consents(tx))):
        print_line(f"Warning: {what} People have agreed to it already. Fill them in; everybody is then asked again.")
        return
    raise UserError(
        f"{what} Fill them in before people come. To try the site on this computer, leave --public-url and --host out; "
        "to open it all the same, add --unfinished."
    )


def _refuse_sqlite(study: Study) -> None:
    if study.store.dialect == "sqlite":
        raise UserError(
            "--processes needs PostgreSQL: on SQLite one process does all the writing, which is what makes it fast. "
            "Leave --processes out, or name a PostgreSQL database with --db postgresql+psycopg://user@host/name."
        )


def _print_links(study: Study, base: str, arriving: ByUrl) -> None:
    arrival = study.settings.arrival
    print_line(study.settings.study.title)
    if arriving.note is not None:
        print_line(f"Warning: {arriving.note}")
    if arriving.is_open:
        print_line(f"  for {arrival.panel}:  {arrival_url(base, arrival)}")
    print_line(f"  console:  {base}/console")
    if (setup_path := setup_link_path(study)) is not None:
        print_line(f"  set it up, once:  {base}{setup_path}")
    print_line(f"Serving at {base}. Invitations: `chorale invite`. Ctrl-C closes the site.")


def _uvicorn_options(public: str | None) -> dict[str, Any]:
    return {
        # The server's own log has addresses in full, with whatever is in them; ours is set up already.
        "access_log": False,
        "log_config": None,
        "ws": "none",
        "http": LimitedProtocol,
        # Nobody but a proxy we were told of may say who a request comes from.
        "proxy_headers": public is not None,
        "server_header": False,
        "timeout_graceful_shutdown": _GRACE_SECONDS,
        # People think longer than the usual 5 seconds; without a new connection for every item, phones answer faster.
        "timeout_keep_alive": 75,
    }


def _serve_with_processes(opened: Opened, bound: socket, processes: int, announce: Announce) -> None:
    os.environ[ENVIRONMENT] = json.dumps(opened._asdict())
    config = Config(
        "chorale.cli.serve:app_from_environment",
        factory=True,
        workers=processes,
        timeout_worker_healthcheck=HEALTH_CHECK_SECONDS,
        **_uvicorn_options(opened.public_url),
    )
    SiteProcesses(config, bound, announce).run()


def app_from_environment() -> FastAPI:
    """The application of one of several server processes, which get nothing from their parent but this."""
    stop_with_parent()
    opened = Opened(**json.loads(os.environ[ENVIRONMENT]))
    set_up_logs(access_log=opened.access_log)
    try:
        return opened.app(open_study(Path(opened.directory), opened.db))
    except UserError as error:
        # The log would have its place in the code only, and the requester needs to know what to do.
        print_line(f"A server process can't start: {error}")
        raise SystemExit(2) from None
