"""Servers that accept connections only once the application can answer, and report when that is."""

from collections.abc import Callable
from socket import SO_ACCEPTCONN, SO_REUSEADDR, SOL_SOCKET, socket

from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

Announce = Callable[[], None]

# On a busy machine a process takes longer to answer its parent than the usual 5 seconds, and would be killed for it.
HEALTH_CHECK_SECONDS = 60


class SiteServer(Server):
    """Serves on an address that is bound and not listened on: connections are refused until the application is up."""

    def __init__(self, config: Config, announce: Announce) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket] | None = None) -> None:
        for bound in sockets or ():
            _allow_next_site(bound)
        await super().startup(sockets)
        self._announce()


class SiteProcesses(Multiprocess):
    """Several processes on one address. The first that is up begins to listen, and the others join it."""

    def __init__(self, config: Config, bound: socket, announce: Announce) -> None:
        super().__init__(config, sockets=[bound])
        self._announce: Announce | None = announce

    def init_processes(self) -> None:
        for bound in self.sockets:
            _allow_next_site(bound)
        super().init_processes()

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        if self._announce is not None and all(_is_listening(bound) for bound in self.sockets):
            self._announce()
            self._announce = None


def _allow_next_site(bound: socket) -> None:
    """Let the address be bound again as soon as this site ends, while closed connections still linger."""
    bound.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)


def _is_listening(bound: socket) -> bool:
    """Whether any process listens on the address: they all have the same socket."""
    return bool(bound.getsockopt(SOL_SOCKET, SO_ACCEPTCONN))
