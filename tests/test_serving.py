"""`chorale serve` accepts connections only when it can answer them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chorale.cli.addresses import port_of, reserve
from serving import HOST, PATIENCE_SECONDS, Server, free_port
from small_study import write_small_study

STARTS = 20
# Makes starting slow, and leaves a mark as the last thing before the application is handed to the server.
SLOW_START = """
import os, time
from pathlib import Path
import chorale.cli.serve
import chorale.web.app

create_app, reserve = chorale.web.app.create_app, chorale.cli.serve.reserve

def reserve_and_mark(*address):
    bound = reserve(*address)
    Path(os.environ["CHORALE_TEST_MARK"] + "-bound").touch()
    return bound

def create_slowly(*args, **kwargs):
    app = create_app(*args, **kwargs)
    time.sleep(0.2)
    Path(os.environ["CHORALE_TEST_MARK"]).touch()
    return app

chorale.web.app.create_app = chorale.cli.serve.create_app = create_slowly
chorale.cli.serve.reserve = reserve_and_mark
"""


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once a server that starts slowly has an application."""
    hook = tmp_path / "hook" / "sitecustomize.py"
    hook.parent.mkdir()
    hook.write_text(SLOW_START, "utf-8")
    mark = tmp_path / "ready"
    monkeypatch.setenv("CHORALE_TEST_HOOK", str(hook))
    monkeypatch.setenv("CHORALE_TEST_MARK", str(mark))
    return mark


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    write_small_study(folder)
    return folder


def status_of_first_connection(port: int, *, mark: Path | None = None, log: Path | None = None) -> int:
    """Ask for the start page on the very first connection that is accepted; the mark must be there by then."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            connection = socket.create_connection((HOST, port), PATIENCE_SECONDS)
        except ConnectionRefusedError:
            time.sleep(0.002)
            continue
        with connection:
            assert mark is None or mark.exists(), "a connection was accepted before there was an application"
            connection.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            return int(connection.makefile("rb").readline().split()[1])
    raise TimeoutError("" if log is None else log.read_text("utf-8"))


@pytest.mark.slow
def test_whoever_connects_first_is_answered(folder: Path, mark: Path) -> None:
    server = Server(folder)
    for _ in range(STARTS):
        mark.unlink(missing_ok=True)
        server.start()
        try:
            assert status_of_first_connection(server.port, mark=mark, log=server.log) == 200
        finally:
            server.kill()
    assert server.log.read_text("utf-8").count("Serving at ") == STARTS


def test_a_connection_before_the_application_is_there_is_refused(folder: Path, mark: Path) -> None:
    server = Server(folder)
    server.start()
    try:
        refused = 0
        while not mark.exists():
            with socket.socket() as probe:
                if probe.connect_ex((HOST, server.port)) != 0:
                    refused += 1
                else:
                    assert mark.exists()
            time.sleep(0.002)
        assert refused
        assert status_of_first_connection(server.port, log=server.log) == 200
    finally:
        server.kill()


@pytest.fixture
def serve_with_processes(
    folder: Path, mark: Path, postgres_url: str
) -> Iterator[Callable[[int], "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []

    def serve(port: int) -> "subprocess.Popen[str]":
        options = ["--db", postgres_url, "--processes", "2", "--port", str(port)]
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "chorale", "serve", str(folder), *options],
                stdout=subprocess.PIPE,
                text=True,
                # Also the processes that the server starts find the hook as they start.
                env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(mark.parent / "hook")},
            )
        )
        return started[-1]

    yield serve
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)


@pytest.mark.slow
def test_several_processes_accept_connections_when_the_first_is_up(
    serve_with_processes: Callable[[int], "subprocess.Popen[str]"], mark: Path
) -> None:
    port = free_port()
    process = serve_with_processes(port)
    assert status_of_first_connection(port, mark=mark) == 200
    assert process.stdout is not None
    while "Serving at " not in (line := process.stdout.readline()):
        assert line, "ended without a word"


@pytest.mark.slow
def test_nobody_else_gets_the_port_while_several_processes_start(
    serve_with_processes: Callable[[int], "subprocess.Popen[str]"], mark: Path
) -> None:
    """Not even a program that reuses addresses, as most servers do."""
    port = free_port()
    process = serve_with_processes(port)
    while not mark.with_name("ready-bound").exists():
        assert process.poll() is None
        time.sleep(0.02)
    tries = 0
    while not mark.exists():
        tries += 1
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind((HOST, port))
        time.sleep(0.02)
    assert tries
    assert status_of_first_connection(port) == 200


@pytest.mark.slow
def test_processes_end_with_their_parent_however_it_ends(
    serve_with_processes: Callable[[int], "subprocess.Popen[str]"],
) -> None:
    port = free_port()
    process = serve_with_processes(port)
    assert status_of_first_connection(port) == 200
    process.kill()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) != 0:
                return
        time.sleep(0.02)
    raise TimeoutError("the site is still there after its parent was killed")


def test_a_reserved_port_is_free_again_at_once(folder: Path) -> None:
    """Also where connections of an earlier site linger."""
    server = Server(folder)
    for _ in range(3):
        server.start()
        assert status_of_first_connection(server.port, log=server.log) == 200
        server.stop()
    with reserve(HOST, server.port) as bound:
        assert port_of(bound) == server.port
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind((HOST, server.port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, server.port), 1)
