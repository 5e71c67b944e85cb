"""A simulated crowd that is as fast as one core allows: plain HTTP/1.1 over keep-alive connections.

An ordinary HTTP client spends more time on a request than the server does, and both share the machine.
"""

import asyncio
import json
import random
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast


class Connection(asyncio.Protocol):
    """One keep-alive connection with one cookie.

    A protocol of its own, because streams take several times as long for a request.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.cookie = ""
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._reply: asyncio.Future[tuple[bytes, bytes]] | None = None

    async def open(self) -> None:
        self._received = b""
        await asyncio.get_running_loop().create_connection(lambda: self, self.host, self.port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, content = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        length = _LENGTH.search(head)
        if len(content) >= (int(length[1]) if length else 0):
            self._received = b""
            if self._reply is not None and not self._reply.done():
                self._reply.set_result((head, content))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(exc or ConnectionError("the server closed the connection"))

    async def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes, bytes]:
        """The status, head and content of the reply."""
        if self._transport is None or self._transport.is_closing():
            # The server closes connections on which nothing happens.
            await self.open()
        assert self._transport is not None
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Length: {len(body)}\r\n"
        if body:
            head += f"Content-Type: {kind}\r\n"
        if self.cookie:
            head += f"Cookie: {self.cookie}\r\n"
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(head.encode() + b"\r\n" + body)
        head_received, content = await self._reply
        if cookie := _COOKIE.search(head_received):
            self.cookie = cookie[1].decode("latin-1")
        return int(head_received[9:12]), head_received, content

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        status, _, content = await self.request("POST", path, json.dumps(body).encode())
        return status, json.loads(content)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_COOKIE = re.compile(rb"\r\nset-cookie: ([^;\r]+)", re.IGNORECASE)


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
        connection.close()
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
        connection.close()
    return tally
