"""Servers that accept connections only once the application can answer, and report when that is."""

import logging
import os
import signal
import time
from collections.abc import Callable
from multiprocessing import parent_process
from socket import SO_ACCEPTCONN, SO_REUSEADDR, SOL_SOCKET, socket
from threading import Thread

from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

Announce = Callable[[], None]
log = logging.getLogger("chorale.web")

# On a busy machine a process takes longer to answer its parent than the usual 5 seconds, and would be killed for it.
HEALTH_CHECK_SECONDS = 60


class SiteServer(Server):
    """Serves on an address that is bound and not listened on: connections are refused until the application is up."""

    def __init__(self, config: Config, announce: Announce | None = None) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket] | None = None) -> None:
        start_application = self.lifespan.startup

        async def start() -> None:
            await start_application()
            # Where connections of an earlier site linger, an address can be listened on only if it may be reused, and
            # the next site needs the same of this one. Not a moment sooner: any program that reuses addresses could
            # bind it too, and listen first.
            for bound in sockets or ():
                bound.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)

        self.lifespan.startup = start
        await super().startup(sockets)
        if self._announce is not None:
            self._announce()


class SiteProcess(Process):
    @property
    def server(self) -> Server:
        if self._server is None:
            self._server = SiteServer(self.config)
        return self._server


class SiteProcesses(Multiprocess):
    """Several processes on one address. The first that is up begins to listen, and the others join it."""

    def __init__(self, config: Config, bound: socket, announce: Announce) -> None:
        super().__init__(config, sockets=[bound])
        self._announce: Announce | None = announce

    def init_processes(self) -> None:
        self.processes = [SiteProcess(self.config, self.sockets) for _ in range(self.processes_num)]
        for process in self.processes:
            process.start()

    def restart_all(self) -> None:
        """Replace the processes one by one: each new one answers before an old one stops taking connections."""
        for place, old in enumerate(self.processes):
            new = SiteProcess(self.config, self.sockets)
            new.start()
            while not new.is_ready(timeout=1):
                if self.should_exit.is_set() or not new.process.is_alive():
                    new.kill()
                    new.join()
                    log.error("a new server process did not start; the old ones continue")
                    return
                time.sleep(0.1)
            old.terminate()
            old.join()
            self.processes[place] = new
        log.warning("replaced %d server processes", len(self.processes))

    def keep_subprocess_alive(self) -> None:
        super().keep_subprocess_alive()
        if self._announce is not None and all(_is_listening(bound) for bound in self.sockets):
            self._announce()
            self._announce = None


def stop_with_parent() -> None:
    """Have this process stop serving when the process that started it ends, however that ends."""
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=wait, daemon=True).start()


def _is_listening(bound: socket) -> bool:
    """Whether any process listens on the address: they all have the same socket."""
    return bool(bound.getsockopt(SOL_SOCKET, SO_ACCEPTCONN))
