"""A simulated crowd that is as fast as one core allows: plain HTTP/1.1 over keep-alive connections.

An ordinary HTTP client spends more time on a request than the server does, and both share the machine.
"""

import asyncio
import json
import random
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


class Connection:
    """One keep-alive connection with one cookie."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.cookie = ""

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, dict[str, str], bytes]:
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(body)}\r\n"
        if body:
            head += f"Content-Type: {kind}\r\n"
        if self.cookie:
            head += f"Cookie: {self.cookie}\r\n"
        self.writer.write(head.encode() + b"\r\n" + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
        content = await self.reader.readexactly(int(headers.get("content-length", "0")))
        if "set-cookie" in headers:
            self.cookie = headers["set-cookie"].split(";")[0]
        return int(lines[0].split()[1]), headers, content

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, _, content = await self.request("POST", path, json.dumps(body).encode())
        return status, json.loads(content)

    async def close(self) -> None:
        self.writer.close()
        # The other side may be gone already; then there is nothing left to wait for.
        with suppress(OSError):
            await self.writer.wait_closed()


@dataclass
class Tally:
    """What a crowd saw."""

    cycles: list[float] = field(default_factory=list)
    """Seconds from asking for an item to hearing that its answer is on disk."""
    statuses: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    processor: tuple[float, ...] = ()
    """Seconds of processor time that were used meanwhile."""

    def note(self, status: str) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1


async def join(host: str, port: int, name: str) -> Connection:
    connection = Connection(host, port)
    await connection.open()
    try:
        status, _, _ = await connection.request("GET", f"/join?PROLIFIC_PID={name}&STUDY_ID=s&SESSION_ID=x")
        if status != 303:
            raise RuntimeError(f"joining answered {status}")
        await connection.request("POST", "/consent", b"agree=yes", "application/x-www-form-urlencoded")
    except BaseException:
        await connection.close()
        raise
    return connection


async def work(connection: Connection, stage: str, until: float, tally: Tally, think: float = 0.0) -> None:
    """Cycles of one worker, who thinks about every item for about so many seconds, which do not count."""
    # People do not all begin at the same moment.
    await asyncio.sleep(random.uniform(0, think))
    while time.perf_counter() < until:
        began = time.perf_counter()
        status, offer = await connection.post(f"/api/stages/{stage}/next", {})
        if status != 200 or offer["status"] != "item":
            tally.note(f"next {status} {offer.get('status')}")
            await asyncio.sleep(0.05)
            continue
        assignment = offer["assignment"]["id"]
        thought = time.perf_counter()
        if think:
            await asyncio.sleep(random.uniform(think / 2, think * 1.5))
        thought = time.perf_counter() - thought
        status, outcome = await connection.post(
            f"/api/assignments/{assignment}/submit",
            {"key": secrets.token_urlsafe(12), "answer": "yes", "duration_ms": 5},
        )
        tally.note(f"submit {status} {outcome.get('status')}")
        tally.cycles.append(time.perf_counter() - began - thought)


async def crowd(
    host: str,
    port: int,
    stage: str,
    workers: int,
    seconds: float,
    think: float = 0.0,
    processor: Callable[[], tuple[float, ...]] = tuple,
) -> Tally:
    """`workers` people for `seconds`, who never stop to think unless they are to.

    `processor` says how much processor time was used so far, by whatever is to be measured.
    """
    run = secrets.token_hex(4)
    connections = [await join(host, port, f"bench-{run}-{number}") for number in range(workers)]
    # Warm up: caches, prepared statements, the first lease of everybody.
    await asyncio.gather(*(work(c, stage, time.perf_counter() + 1.0, Tally()) for c in connections))
    tally = Tally()
    used, began = processor(), time.perf_counter()
    await asyncio.gather(*(work(c, stage, began + seconds, tally, think) for c in connections))
    tally.seconds = time.perf_counter() - began
    tally.processor = tuple(after - before for before, after in zip(used, processor(), strict=True))
    for connection in connections:
        await connection.close()
    return tally
