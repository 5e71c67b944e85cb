"""A user's own program: one JSON object per line in, one per line out, in any order."""

import asyncio
import json
import time
from itertools import count
from pathlib import Path
from typing import Any

from chorale.model import ModelSettings, UserError
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply, whole

_LONGEST_LINE = 16 * 1024 * 1024


class ProgramModel:
    """Starts the program with the first request and keeps it running. It gets no item keys."""

    def __init__(self, settings: ModelSettings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    async def ask(self, asked: ModelRequest) -> Reply:
        process = await self._running()
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        line = {
            "id": number,
            "model": self._settings.asked_for,
            "system": asked.system,
            "messages": [{"role": one.role, "content": one.text} for one in asked.messages],
            "schema": asked.schema,
            "temperature": self._settings.temperature,
            "seed": None if self._settings.seed is None else self._settings.seed + asked.number,
            "max_tokens": self._settings.max_tokens,
        }
        begun = time.monotonic()
        try:
            if process.stdin is None:
                return Reply(CallOutcome.UNREACHABLE, reason="the program does not accept input")
            process.stdin.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            await process.stdin.drain()
            row = await asyncio.wait_for(answer, self._settings.timeout_seconds)
        except TimeoutError:
            return Reply(CallOutcome.TIMEOUT, reason=f"no answer in {self._settings.timeout_seconds:g} s", lost=1)
        except (ConnectionError, OSError):
            return Reply(CallOutcome.UNREACHABLE, reason="the program has ended", lost=1)
        finally:
            self._waiting.pop(number, None)
        return _reply(row)._replace(latency_ms=round((time.monotonic() - begun) * 1000))

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None:
                command = self._settings.command or ()
                try:
                    self._process = await asyncio.create_subprocess_exec(
                        *command,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        cwd=self._folder,
                        limit=_LONGEST_LINE,
                    )
                except OSError as error:
                    raise UserError(
                        f"The program of model {self._settings.name} can't be started: {command[0]}: {error.strerror}. "
                        "Correct `command` in study.toml."
                    ) from None
                self._reader = asyncio.create_task(self._read(self._process))
            return self._process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        try:
            while line := await _next_line(process.stdout):
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # not JSON, or too long: its request will time out
                number = row.get("id") if isinstance(row, dict) else None
                waiting = self._waiting.get(number) if isinstance(number, int) else None
                if waiting is not None and not waiting.done():
                    waiting.set_result(row)
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionError("the program has ended"))

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reader is not None:
            await self._reader


async def _next_line(stdout: asyncio.StreamReader) -> bytes:
    """The next line. A line that is too long is discarded, and only its line end is returned."""
    try:
        return await stdout.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        consumed = error.consumed
    while True:
        await stdout.readexactly(consumed)
        try:
            await stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            consumed = error.consumed
        except asyncio.IncompleteReadError:
            return b""
        else:
            return b"\n"


def _reply(row: dict[str, Any]) -> Reply:
    output = row.get("output")
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False) if output is not None else ""
    given, made = (whole(row.get(name)) for name in ("input_tokens", "output_tokens"))
    version = row.get("version")
    outcome = CallOutcome.ANSWER if text.strip() else CallOutcome.EMPTY
    if row.get("refusal"):
        outcome = CallOutcome.REFUSAL
    confidence = row.get("confidence")
    sure = float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None
    return Reply(outcome, text, version if isinstance(version, str) else None, given, made, confidence=sure)
