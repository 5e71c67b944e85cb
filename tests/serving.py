"""Real servers for tests: processes of their own that can be killed."""

import atexit
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

HOST = "127.0.0.1"
GOLD_SEED = 3
# Only a server that will never come up takes as long, also while the machine has several times too much to do.
PATIENCE_SECONDS = 180

# Imports once, then forks a server whenever it is told to: a test process needs one of these, and fifty restarts take
# seconds, not minutes. It has no threads and no database connection, so a fork is as good as a fresh process.
_FORKER = """
import json, os, runpy, signal, sys, traceback
from pathlib import Path
import chorale.cli.serve, chorale.engine.offering, chorale.web.app, uvicorn, uvloop, httptools
# Gold comes at secret positions; in tests always at the same ones.
chorale.engine.offering.secret_number = lambda study: int(sys.argv[1])

def serve(folder, port, database, log, environment):
    for number, path in enumerate((os.devnull, log, log)):
        os.dup2(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    try:
        if "CHORALE_TEST_HOOK" in environment:
            runpy.run_path(environment["CHORALE_TEST_HOOK"])
        chorale.cli.serve.serve([Path(folder)], db=database, port=port, requests_per_second=0.0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)

running = set()
for line in sys.stdin:
    what, given = json.loads(line)
    if what == "start":
        given = os.fork() or serve(*given)
        running.add(given)
    else:
        os.kill(given, signal.SIGKILL if what == "kill" else signal.SIGTERM)
        os.waitpid(given, 0)
        running.remove(given)
    print(given, flush=True)
for left in running:
    os.kill(left, signal.SIGKILL)
"""


@cache
def _forker() -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _FORKER, str(GOLD_SEED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def end() -> None:
        process.communicate(timeout=PATIENCE_SECONDS)

    atexit.register(end)
    return process


def _told(what: str, given: object) -> int:
    """Tell the forker; what it answers is the server's process."""
    forker = _forker()
    assert forker.stdin is not None
    assert forker.stdout is not None
    forker.stdin.write(json.dumps([what, given]) + "\n")
    forker.stdin.flush()
    return int(forker.stdout.readline())


def free_port() -> int:
    """A port that is free now, and that no connection gets as its own end: those come from a range further up.

    Browsers refuse to open some ports, of which 10080 is the highest.
    """
    while True:
        port = random.randrange(10_081, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port


def wait_until_up(port: int, log: Path | None = None) -> None:
    """Wait until a site answers: it accepts connections no sooner."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), PATIENCE_SECONDS).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError(f"no server came up on port {port}" + ("" if log is None else f": {log.read_text('utf-8')}"))


class Server:
    """`chorale serve` as a process. `kill` is kill -9."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        self.port = free_port()
        self.log = folder / f"server-{self.port}.log"
        self._folder = folder
        self._database = database
        self._process: int | None = None

    @property
    def process(self) -> int:
        assert self._process is not None
        return self._process

    def start(self) -> None:
        given = [str(self._folder), self.port, self._database, str(self.log), dict(os.environ)]
        self._process = _told("start", given)

    def wait(self) -> None:
        wait_until_up(self.port, self.log)

    def kill(self) -> None:
        self._end("kill")

    def stop(self) -> None:
        self._end("stop")

    def _end(self, how: str) -> None:
        if self._process is not None:
            _told(how, self._process)
            self._process = None

    def __enter__(self) -> "Server":
        self.start()
        self.wait()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()


def stop_process(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE_SECONDS)
