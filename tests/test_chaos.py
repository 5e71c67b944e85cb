"""Disks that fill up or slow down, while people work."""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import httpx2 as httpx
import pytest

from chorale.engine.opening import open_study
from serving import HOST, PATIENCE_SECONDS, Server
from small_study import write_small_study
from test_promises import PatientWorker, check_integrity

pytestmark = pytest.mark.slow
WORKERS = 6
MOST_WAITS = 1_200
SLOW_DISK = """
import time
from chorale.store.sqlite import Driver
commit = Driver.commit

def commit_slowly(driver):
    time.sleep(0.3)
    commit(driver)

Driver.commit = commit_slowly
"""


class ChaosWorker(PatientWorker):
    tried_again = frozenset({503})


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
