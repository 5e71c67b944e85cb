"""What one worker can do to a site, and to the others."""

import asyncio
import os
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.web.app import create_app
from chorale.web.limits import FairQueue, TokenBuckets
from serving import HOST, PATIENCE_SECONDS, Server, free_port, stop_process, wait_until_up
from small_study import write_small_study

IMPATIENT = """
import chorale.web.connections
chorale.web.connections.REQUEST_SECONDS = 0.5
"""
# One worker who asks for the next item on many connections at once, as fast as the site answers.
FLOOD = """
import asyncio, sys
port, cookie, connections = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
request = (f"POST /api/stages/meaningful/next HTTP/1.1\\r\\nHost: x\\r\\nCookie: chorale_worker={cookie}\\r\\n"
    "Content-Length: 0\\r\\n\\r\\n").encode()

async def flood():
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while True:
                writer.write(request)
                head = await reader.readuntil(b"\\r\\n\\r\\n")
                [length] = [line[15:] for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length")]
                await reader.readexactly(int(length))
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.05)

async def main():
    await asyncio.gather(*(flood() for _ in range(connections)))

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    write_small_study(folder, applications=2_000)
    return folder


@pytest.fixture
def study(folder: Path) -> Iterator[Study]:
    study = open_study(folder)
    yield study
    study.close()


def test_turns_come_at_their_rate_and_some_at_once() -> None:
    now = 0.0
    buckets = TokenBuckets(2.0, 4, lambda: now)
    assert [buckets.take("a", 1.0) for _ in range(8)] == [0, 0, 0, 0, 0.5, 1.0, 1.5, 1.5]
    assert buckets.take("b", 1.0) == 0
    now = 1.0
    assert buckets.take("a", 1.0) == 0.5
    now = 100.0
    assert [buckets.take("a", 1.0) for _ in range(5)] == [0, 0, 0, 0, 0.5]


@pytest.mark.parametrize("depth", [50, 900, 100_000])
@pytest.mark.parametrize("kind", ["[", '{"a":'])
def test_no_depth_of_nesting_breaks_the_interface(study: Study, depth: int, kind: str) -> None:
    with TestClient(create_app(study)) as worker:
        worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
        worker.post("/consent", data={"agree": "yes"})
        token = worker.post("/api/stages/meaningful/next").json()["assignment"]["id"]
        nested = kind * depth + "1" + ("]" if kind == "[" else "}") * depth
        body = f'{{"key": "key-00000001", "answer": {nested}}}'
        headers = {"Content-Type": "application/json"}
        answer = worker.post(f"/api/assignments/{token}/submit", content=body, headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        body = '{"key": "key-00000001", "answer": "yes"}'
        assert worker.post(f"/api/assignments/{token}/submit", content=body, headers=headers).status_code == 200


def test_a_worker_holds_one_item_of_a_stage(study: Study) -> None:
    with TestClient(create_app(study)) as worker:
        worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
        worker.post("/consent", data={"agree": "yes"})
        offers = [worker.post("/api/stages/meaningful/next").json()["assignment"]["id"] for _ in range(5)]
    assert len(set(offers)) == 1


def test_a_worker_holds_three_items_of_all_stages(folder: Path) -> None:
    """Before, somebody could hold one of every stage, however many there are."""
    text = (folder / "study.toml").read_text()
    first = text[text.index("[[stage]]") : text.index("[[stage]]", text.index("[[stage]]") + 1)]
    for number in range(4):
        text += "\n" + first.replace('name = "meaningful"', f'name = "extra-{number}"')
    (folder / "study.toml").write_text(text)
    with closing(open_study(folder)) as study, TestClient(create_app(study)) as worker:
        worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
        worker.post("/consent", data={"agree": "yes"})
        names = ["meaningful", "extra-0", "extra-1", "extra-2", "extra-3"]
        held = [worker.post(f"/api/stages/{name}/next") for name in names]
        assert [answer.status_code for answer in held] == [200, 200, 200, 409, 409]
        assert held[3].json()["error"]["message"].startswith("You have started 3 questions in other parts")
        # What they hold they can go on with, and one that is answered makes room for another.
        again = worker.post("/api/stages/meaningful/next").json()
        assert again["assignment"]["id"] == held[0].json()["assignment"]["id"]
        body = {"key": "key-00000001", "answer": "yes"}
        worker.post(f"/api/assignments/{again['assignment']['id']}/submit", json=body)
        assert worker.post("/api/stages/extra-2/next").status_code == 200
        assert worker.post("/api/stages/meaningful/next").status_code == 409


async def _statuses(
    study: Study, address: str, paths: list[str], cookies: Iterable[str] = (), *, method: str = "GET", **served: Any
) -> list[int]:
    app = create_app(study, requests_per_second=20, **served)
    transport = httpx.ASGITransport(app, client=(address, 1234))
    async with httpx.AsyncClient(transport=transport, base_url="http://study.test") as client:

        async def ask(path: str, cookie: str) -> int:
            return (await client.request(method, path, headers={"Cookie": f"chorale_worker={cookie}"})).status_code

        # Made up anew for every request, which must not help.
        made_up = (secrets.token_hex(8) for _ in paths)
        return await asyncio.gather(*map(ask, paths, cookies or made_up))


def test_joining_is_limited_per_address(study: Study) -> None:
    joins = [f"/join?PROLIFIC_PID={number:024x}" for number in range(80)]
    statuses = asyncio.run(_statuses(study, "203.0.113.5", joins))
    assert statuses.count(429) in range(15, 21)
    assert statuses.count(303) in range(60, 66)
    # Behind a proxy that names nobody, everybody has its address.
    assert asyncio.run(_statuses(study, "127.0.0.1", joins)) == [303] * 80


def test_joining_on_the_public_page_is_limited_per_address(folder: Path) -> None:
    """Before, the limit applied only to studies that people could also join by a platform's URL."""
    settings = folder / "study.toml"
    settings.write_text(settings.read_text("utf-8").replace("[arrival]\n", "[arrival]\nlanding = true\n"), "utf-8")
    with closing(open_study(folder)) as study:
        public = partial(_statuses, study, public_url="http://study.test")
        assert asyncio.run(public("203.0.113.5", ["/join?PROLIFIC_PID=5"])) == [403]
        joins = ["/welcome"] * 80
        statuses = asyncio.run(public("203.0.113.6", joins, method="POST"))
        assert statuses.count(429) in range(15, 21)
        assert statuses.count(303) in range(60, 66)
        assert asyncio.run(public("127.0.0.1", joins, method="POST")) == [303] * 80


@pytest.mark.parametrize(
    ("addresses", "answered"),
    [
        pytest.param(["2001:db8::1", "2001:db8::2", "2001:db8::ffff:3"], 1, id="one connection with IPv6"),
        pytest.param(["2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"], 3, id="three connections"),
        pytest.param(["::ffff:203.0.113.5", "::ffff:203.0.113.6", "::ffff:203.0.113.7"], 3, id="IPv4 written as IPv6"),
        pytest.param(["::ffff:203.0.113.5", "203.0.113.5"], 1, id="one address written in two ways"),
        pytest.param(["::ffff:127.0.0.1", "127.0.0.1", "::1"], 3, id="a proxy on this machine"),
    ],
)
def test_all_addresses_of_a_connection_count_as_one(addresses: list[str], answered: int) -> None:
    """Before, everybody with IPv6 had a share of requests for each of 2⁶⁴ addresses."""

    async def statuses() -> list[int]:
        queue = FairQueue(PlainTextResponse("here"), 0.2, lambda name, value: None, limits_joining=False)
        async with AsyncExitStack() as opened:
            clients = [
                await opened.enter_async_context(
                    httpx.AsyncClient(
                        transport=httpx.ASGITransport(queue, client=(address, 1)), base_url="http://x.test"
                    )
                )
                for address in addresses
            ]
            return [answer.status_code for answer in await asyncio.gather(*(client.get("/") for client in clients))]

    assert asyncio.run(statuses()).count(200) == answered


@pytest.mark.parametrize("accepted", ["text/html,*/*", "application/json"])
def test_a_browser_is_refused_in_words_and_a_script_in_json(accepted: str) -> None:
    async def no_site(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the request was let through")

    async def refused() -> httpx.Response:
        queue = FairQueue(no_site, 0.01, lambda name, value: None, limits_joining=False)
        transport = httpx.ASGITransport(queue, client=("203.0.113.5", 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://study.test") as client:
            return await client.get("/", headers={"Accept": accepted})

    answer = asyncio.run(refused())
    message = "You have made too many requests in a short time. Wait a moment, then try again."
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0
    if "html" in accepted:
        assert f"<p>{message}</p>" in answer.text and "<h1>Too many requests</h1>" in answer.text
    else:
        assert answer.json()["error"]["message"] == message


def test_made_up_cookies_are_one_address(study: Study) -> None:
    began = time.monotonic()
    statuses = asyncio.run(_statuses(study, "203.0.113.5", ["/"] * 200))
    # Requests wait for two seconds at most. On a busy machine they come more slowly, and meanwhile more are allowed.
    more = int(20 * max(0.0, time.monotonic() - began - 2))
    assert statuses.count(200) in range(135, 160 + more)
    assert statuses.count(429) == 200 - statuses.count(200)


def test_one_cookie_written_in_many_ways_is_one_worker(study: Study) -> None:
    with TestClient(create_app(study), follow_redirects=False) as worker:
        worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
        cookie = worker.cookies["chorale_worker"]
    # Base64 skips what is none of its signs.
    written = [cookie + "!" * number for number in range(200)]
    began = time.monotonic()
    statuses = asyncio.run(_statuses(study, "203.0.113.5", ["/"] * 200, written))
    more = int(20 * max(0.0, time.monotonic() - began - 2))
    assert statuses.count(200) <= 160 + more


def test_one_worker_with_many_sessions_is_one_worker(study: Study) -> None:
    """Before, opening the link again gave another cookie, and with it another share of requests."""
    cookies = []
    with TestClient(create_app(study), follow_redirects=False) as worker:
        for _ in range(20):
            worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
            cookies.append(worker.cookies["chorale_worker"])
    assert len(set(cookies)) == 20
    began = time.monotonic()
    statuses = asyncio.run(_statuses(study, "203.0.113.5", ["/"] * 200, cookies * 10))
    more = int(20 * max(0.0, time.monotonic() - began - 2))
    assert statuses.count(200) <= 160 + more


def test_a_cookie_in_a_second_header_is_counted(study: Study) -> None:
    """Before, only the first header was read: with an empty one in front, a worker behind a proxy had no limit."""
    with TestClient(create_app(study), follow_redirects=False) as worker:
        worker.get("/join", params={"PROLIFIC_PID": "5f0c5f0c5f0c5f0c5f0c5f0c"})
        own = f"chorale_worker={worker.cookies['chorale_worker']}"

    async def statuses() -> list[int]:
        transport = httpx.ASGITransport(create_app(study, requests_per_second=20), client=("127.0.0.1", 1234))
        async with httpx.AsyncClient(transport=transport, base_url="http://study.test") as client:
            headers = [("Cookie", "nothing=here"), ("Cookie", own)]
            answers = await asyncio.gather(*(client.get("/withdraw", headers=headers) for _ in range(200)))
        return [answer.status_code for answer in answers]

    began = time.monotonic()
    answered = asyncio.run(statuses())
    more = int(20 * max(0.0, time.monotonic() - began - 2))
    assert set(answered) == {200, 429}
    assert answered.count(200) <= 160 + more


def answered_before_closing(port: int, sent: bytes) -> bytes:
    """What comes back until the server closes a connection on which nothing more is sent."""
    with socket.create_connection((HOST, port), PATIENCE_SECONDS) as connection:
        connection.sendall(sent)
        received = b""
        while more := connection.recv(65536):
            received += more
        return received


def test_slow_idle_and_large_requests_end(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(IMPATIENT, "utf-8")
    monkeypatch.setenv("CHORALE_TEST_HOOK", str(hook))
    with Server(folder) as server:
        started = time.monotonic()
        assert answered_before_closing(server.port, b"") == b""
        assert answered_before_closing(server.port, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""
        head = b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        answered_before_closing(server.port, head + b"Content-Length: 1000\r\n\r\nagree=")
        assert time.monotonic() - started < PATIENCE_SECONDS / 2
        large = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Large: " + b"a" * 1000
        assert b" 431 " in answered_before_closing(server.port, large + b"b" * 40_000)
        whole = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert b" 200 " in answered_before_closing(server.port, whole)


def test_headers_that_trickle_keep_nobody_out(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text(IMPATIENT, "utf-8")
    monkeypatch.setenv("CHORALE_TEST_HOOK", str(hook))
    whole = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with Server(folder) as server:
        slow = [socket.create_connection((HOST, server.port), PATIENCE_SECONDS) for _ in range(100)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert b" 200 " in answered_before_closing(server.port, whole)
        ended: set[socket.socket] = set()
        until = time.monotonic() + PATIENCE_SECONDS
        while len(ended) < len(slow) and time.monotonic() < until:
            time.sleep(0.1)
            for connection in set(slow) - ended:
                # A header now and then: what is sent does not make the time longer.
                with suppress(OSError):
                    connection.sendall(b"X-a: 1\r\n")
                connection.setblocking(False)
                try:
                    over = connection.recv(1) == b""
                except BlockingIOError:
                    over = False
                except OSError:
                    over = True
                if over:
                    ended.add(connection)
        assert len(ended) == len(slow)
        assert b" 200 " in answered_before_closing(server.port, whole)
        for connection in slow:
            connection.close()


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "pipelined"])
def test_headers_that_are_too_large_are_refused_also_when_they_come_at_once(folder: Path, before: bytes) -> None:
    """Before, what one read brought was taken, up to 256 kB."""
    with Server(folder) as server:
        for large in (b"X: " + b"a" * 40_000 + b"\r\n", b"X: a\r\n" * 20_000, b"Cookie: " + b"b=1; " * 9_000 + b"\r\n"):
            whole = before + b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + large + b"\r\n"
            assert b"HTTP/1.1 431 " in answered_before_closing(server.port, whole)
        fits = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"a" * 30_000 + b"\r\n\r\n"
        assert b" 200 " in answered_before_closing(server.port, fits)


def join(port: int, number: int) -> httpx.Client:
    client = httpx.Client(base_url=f"http://{HOST}:{port}", timeout=PATIENCE_SECONDS)
    assert client.get("/join", params={"PROLIFIC_PID": f"{number:024x}"}).status_code == 303
    client.post("/consent", data={"agree": "yes"})
    return client


def median_cycle(clients: list[httpx.Client], cycles: int) -> float:
    """The median time of asking for an item and answering it, by people who take turns."""
    taken = []
    for _ in range(cycles):
        for client in clients:
            started = time.perf_counter()
            token = client.post("/api/stages/meaningful/next").json()["assignment"]["id"]
            body = {"key": secrets.token_hex(8), "answer": "yes"}
            assert client.post(f"/api/assignments/{token}/submit", json=body).status_code == 200
            taken.append(time.perf_counter() - started)
            time.sleep(0.1)
    return statistics.median(taken)


@pytest.mark.slow
def test_one_flooding_worker_does_not_slow_the_others(folder: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "chorale", "serve", str(folder), "--port", str(port)]
    rate = os.environ.get("CHORALE_TEST_RATE")  # 0 shows what there would be without limits
    options = ["--requests-per-second", rate] if rate else []
    server = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, text=True)
    flood, everybody = None, list[httpx.Client]()
    try:
        wait_until_up(port)
        everybody += [join(port, number) for number in range(6)]
        flooding, *clients = everybody
        median_cycle(clients, 3)
        alone = median_cycle(clients, 12)
        arguments = [str(port), flooding.cookies["chorale_worker"], "50"]
        flood = subprocess.Popen([sys.executable, "-c", FLOOD, *arguments], text=True)
        time.sleep(8)  # until the flood has used up what it may ask for at once
        beside = median_cycle(clients, 12)
    finally:
        if flood is not None:
            flood.kill()
            flood.wait()
        for client in everybody:
            client.close()
        stop_process(server)
    assert beside <= 1.5 * alone, f"{beside / alone:.1f} times as long beside a flood ({alone:.4f} s alone)"


@pytest.mark.slow
def test_processes_are_replaced_without_losing_a_request(folder: Path, postgres_url: str) -> None:
    port = free_port()
    options = ["--db", postgres_url, "--processes", "2", "--port", str(port), "--requests-per-second", "0"]
    command = [sys.executable, "-m", "chorale", "serve", str(folder), *options]
    printed = folder / "printed.log"
    with printed.open("w") as output:
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=output, text=True)
    try:
        wait_until_up(port)
        answered = asyncio.run(_work_while_restarting(port, server))
    finally:
        stop_process(server)
    assert printed.read_text("utf-8").count("replaced 2 server processes") == 1
    assert answered > 20


async def _work_while_restarting(port: int, server: "subprocess.Popen[str]") -> int:
    """Have people work without a second try for anything, while all processes are replaced."""
    ended = asyncio.Event()
    answered = 0

    async def work(number: int) -> None:
        nonlocal answered
        async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}", timeout=PATIENCE_SECONDS) as client:
            await client.get("/join", params={"PROLIFIC_PID": f"{number:024x}"})
            await client.post("/consent", data={"agree": "yes"})
            while not ended.is_set():
                offer = (await client.post("/api/stages/meaningful/next")).json()
                body = {"key": secrets.token_hex(8), "answer": "yes"}
                answer = await client.post(f"/api/assignments/{offer['assignment']['id']}/submit", json=body)
                assert answer.status_code == 200, answer.text
                answered += 1
                await asyncio.sleep(0.2)

    working = [asyncio.create_task(work(number)) for number in range(4)]
    try:
        await asyncio.sleep(2)
        before = _serving(server.pid)
        server.send_signal(signal.SIGHUP)
        await asyncio.to_thread(_wait_for_others, server.pid, before)
        await asyncio.sleep(1)
    finally:
        ended.set()
        await asyncio.gather(*working)
    return answered


def _wait_for_others(parent: int, before: set[int]) -> None:
    """Wait until all processes of a server are others than before."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        now = _serving(parent)
        if len(now) == len(before) and not now & before:
            return
        time.sleep(0.2)
    raise TimeoutError("the processes were not replaced")


def _serving(parent: int) -> set[int]:
    """The processes that serve: of the parent's children, those that multiprocessing started to work."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return {int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()}
