"""Run a site at an address until it is stopped."""

from socket import socket
from typing import Any

from uvicorn import Config

from chorale.cli.addresses import why_not
from chorale.cli.output import print_line
from chorale.model import UserError
from chorale.web.connections import LimitedProtocol
from chorale.web.servers import Announce, SiteServer

UVICORN_OPTIONS: dict[str, Any] = {
    # The server's own log contains full URLs with their values; Chorale's log is already set up.
    "access_log": False,
    "log_config": None,
    "ws": "none",
    "http": LimitedProtocol,
    "server_header": False,
}


def serve_until_stopped(config: Config, bound: socket, announce: Announce) -> None:
    """Serve at a reserved address until Ctrl-C. The site is announced once it can answer."""
    server = SiteServer(config, announce)
    host, port = bound.getsockname()[:2]
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        print_line("Closed.")
    except OSError as error:
        if server.started:
            raise
        raise UserError(why_not(error, host, port)) from None
