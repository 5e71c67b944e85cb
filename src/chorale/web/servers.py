"""Servers that accept connections only once the application is ready, and report that."""

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

# On a busy machine, a process may need longer than the default 5 seconds to answer its parent, and would be killed.
HEALTH_CHECK_SECONDS = 60


class SiteServer(Server):
    """Serves on a bound address that is not listening yet: connections are refused until the application is ready."""

    def __init__(self, config: Config, announce: Announce | None = None) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket] | None = None) -> None:
        start_application = self.lifespan.startup

        async def start() -> None:
            await start_application()
            # If connections of an earlier site linger, listening needs SO_REUSEADDR, and so does the next site. It is
            # not set earlier, since any program with this option could then bind the address and listen first.
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
    """Several processes on one address. The first that is ready starts to listen, and the others join."""

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
    """Stop serving when the parent process ends, even after a crash."""
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=wait, daemon=True).start()


def _is_listening(bound: socket) -> bool:
    """Whether any process listens on the shared socket."""
    return bool(bound.getsockopt(SOL_SOCKET, SO_ACCEPTCONN))
