"""Models on a server with OpenAI's chat completions API or Anthropic's messages API.

The key is read from the environment and used only in a request header. It is removed from everything a server returns.
"""

import asyncio
import email.utils
import math
import os
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache
from random import Random
from typing import Any

import httpx2 as httpx

from chorale.model import ModelSettings, UserError
from chorale.platforms.models.anthropic import Anthropic
from chorale.platforms.models.exchange import CallOutcome, ModelRequest, Reply, whole
from chorale.platforms.models.openai import OpenAi

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
LONGEST_ASKED_FOR = 300.0
_LONGEST_REASON = 300
_LONGEST_VERSION = 200
_REJECTS_ALL = (401, 402, 403, 404)
_BUSY = 429
_OVERLOADED = 529
_TIMED_OUT = 408


class ServerModel:
    """A model over HTTP."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._key = _key_of(settings)
        self._sleep = sleep
        self._random = Random()
        self._protocol = Anthropic(settings) if settings.protocol == "anthropic" else OpenAi(settings)
        # One client per connection: a pool checks all its connections for every request.
        self._idle: list[httpx.AsyncClient] = []

    def _new_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers=self._protocol.headers(self._key),
            timeout=httpx.Timeout(self._settings.timeout_seconds, pool=None),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            verify=_certificates(),
            follow_redirects=False,
            trust_env=False,
        )

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()

    async def ask(self, asked: ModelRequest) -> Reply:
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            return await self._ask(client, asked)
        finally:
            self._idle.append(client)

    async def _ask(self, client: httpx.AsyncClient, asked: ModelRequest) -> Reply:
        url, body = self._protocol.request(asked)
        faults: Counter[str] = Counter()
        pause, recorded = FIRST_PAUSE, 0
        reply = Reply(CallOutcome.UNREACHABLE)
        for attempt in range(1, self._settings.tries + 1):
            begun = time.monotonic()
            wait: float | None = None
            lost = reply.lost
            try:
                response = await client.post(url, json=body)
            except httpx.ConnectTimeout:
                reply = Reply(CallOutcome.UNREACHABLE, reason=f"{self._settings.endpoint} can't be reached")
            except httpx.TimeoutException:
                reply = Reply(CallOutcome.TIMEOUT, reason=f"no answer in {self._settings.timeout_seconds:g} s", lost=1)
            except (httpx.ConnectError, httpx.InvalidURL):
                reply = Reply(CallOutcome.UNREACHABLE, reason=f"{self._settings.endpoint} can't be reached")
            except (httpx.HTTPError, httpx.StreamError):
                reply = Reply(
                    CallOutcome.UNREACHABLE, reason="the connection was lost before the answer was read", lost=1
                )
            else:
                reply = self._read(response)
                wait = _asked_to_wait(response)
            reply = reply._replace(
                latency_ms=round((time.monotonic() - begun) * 1000),
                tries=attempt,
                faults=dict(faults),
                recorded=recorded,
                lost=lost + reply.lost,
            )
            if reply.outcome is CallOutcome.REJECTED or not reply.outcome.may_be_better_later:
                return reply
            faults[reply.outcome.value] += 1
            reply = reply._replace(faults=dict(faults))
            if reply.lost > lost and attempt < self._settings.tries and asked.may_repeat is not None:
                if not await asked.may_repeat():
                    return reply._replace(reason=f"{reply.reason}; the budget does not cover another attempt")
                recorded += 1
            reply = reply._replace(recorded=recorded)
            if attempt < self._settings.tries:
                await self._sleep(pause * self._random.uniform(0.5, 1.5) if wait is None else wait)
                pause = min(2 * pause, LONGEST_PAUSE)
        return reply

    def _read(self, response: httpx.Response) -> Reply:
        status = response.status_code
        if status == _BUSY:
            return Reply(CallOutcome.BUSY, reason="rate limit (429)")
        if status >= 500 or status in (_OVERLOADED, _TIMED_OUT):
            return Reply(CallOutcome.SERVER, reason=f"status {status}")
        try:
            body = response.json()
        except (ValueError, RecursionError):
            body = None
            if response.is_success:
                return Reply(CallOutcome.SERVER, reason=f"status {status}, but the answer is not JSON", lost=1)
        if not response.is_success:
            outcome = CallOutcome.REJECTED if status in _REJECTS_ALL or status < 400 else CallOutcome.DECLINED
            return Reply(outcome, reason=f"status {status}: {self._cleared(_message(body))[:_LONGEST_REASON]}")
        try:
            reply = self._protocol.read(body)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
            return Reply(CallOutcome.SERVER, reason="the answer does not follow the protocol", lost=1)
        return reply._replace(
            output=self._cleared(reply.output),
            version=self._cleared(reply.version)[:_LONGEST_VERSION] if isinstance(reply.version, str) else None,
            input_tokens=whole(reply.input_tokens),
            output_tokens=whole(reply.output_tokens),
        )

    def _cleared(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def _key_of(settings: ModelSettings) -> str | None:
    if settings.key is None:
        return None
    key = os.environ.get(settings.key, "").strip()
    if not key:
        raise UserError(
            f"The model {settings.name} needs an API key, but the environment variable {settings.key} is not set. "
            f"Set it: export {settings.key}=…"
        )
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"The environment variable {settings.key} has characters that are not allowed in a key. Copy the key again."
        )
    return key


@cache
def _certificates() -> ssl.SSLContext:
    """Cached: loading certificates takes longer than a request."""
    return ssl.create_default_context()


def _asked_to_wait(response: httpx.Response) -> float | None:
    """The server's retry delay in seconds, from a number or a date."""
    asked = response.headers.get("retry-after", "").strip()
    if not asked:
        return None
    try:
        seconds = float(asked)
    except ValueError:
        parsed = email.utils.parsedate_tz(asked)
        if parsed is None:
            return None
        try:
            seconds = email.utils.mktime_tz(parsed) - time.time()
        except (ValueError, OverflowError):
            return None
    if not math.isfinite(seconds):
        return None
    return min(max(seconds, 0.0), LONGEST_ASKED_FOR)


def _message(body: Any) -> str:
    """The error message of a server."""
    error = body.get("error", body) if isinstance(body, dict) else body
    text = error.get("message", error) if isinstance(error, dict) else error
    return "no reason given" if text is None else str(text)
