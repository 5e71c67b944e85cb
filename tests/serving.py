"""Real servers for tests: processes of their own that can be killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

HOST = "127.0.0.1"
GOLD_SEED = 3

# Imports once, then forks a server whenever it is told to: fifty restarts take seconds, not minutes. The parent has no
# threads and no database connection, so a fork is as good as a fresh process.
_FORKER = """
import os, signal, sys, traceback
from pathlib import Path
import chorale.cli.serve, chorale.study.work, chorale.web.app, uvicorn, uvloop, httptools
folder, port, database = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] or None
# Gold comes at secret positions; in tests always at the same ones.
chorale.study.work.secret_number = lambda study: int(sys.argv[4])
child = None
for line in sys.stdin:
    if line.strip() == "start":
        child = os.fork()
        if child == 0:
            try:
                chorale.cli.serve.serve(folder, db=database, port=port)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
    elif child is not None:
        os.kill(child, signal.SIGKILL if line.strip() == "kill" else signal.SIGTERM)
        os.waitpid(child, 0)
        child = None
    print("done", flush=True)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(port: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError(f"no server came up on port {port}")


class Server:
    """`chorale serve` as a process. `kill` is kill -9."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        self.port = free_port()
        self.log = folder / f"server-{self.port}.log"
        self._output = self.log.open("w")
        self._forker = subprocess.Popen(
            [sys.executable, "-c", _FORKER, str(folder), str(self.port), database or "", str(GOLD_SEED)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def _tell(self, command: str) -> None:
        assert self._forker.stdin is not None
        assert self._forker.stdout is not None
        self._forker.stdin.write(command + "\n")
        self._forker.stdin.flush()
        while (line := self._forker.stdout.readline()) != "done\n":
            if not line:
                raise RuntimeError(self.log.read_text())

    def start(self) -> None:
        self._tell("start")

    def wait(self) -> None:
        wait_until_up(self.port)

    def kill(self) -> None:
        self._tell("kill")

    def stop(self) -> None:
        self._tell("stop")

    def __enter__(self) -> "Server":
        self.start()
        self.wait()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._tell("stop")
        assert self._forker.stdin is not None
        assert self._forker.stdout is not None
        self._forker.stdin.close()
        self._forker.wait(10)
        self._forker.stdout.close()
        self._output.close()


def stop_process(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(15)
