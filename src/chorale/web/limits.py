"""Rate limits per worker, so that one worker's requests do not delay others."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from chorale.web.bare_refusals import bare_refusal
from chorale.web.client_addresses import counted_address, is_this_machine
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE

REQUESTS_PER_SECOND = 20.0
BURST_SECONDS = 5.0
"""Burst size after a quiet time, in seconds of the sustained rate."""
LONGEST_WAIT = 2.0
"""Maximum seconds that a request waits for its turn; others are refused."""
REFUSED_AFTER = 1.0
"""Delay in seconds before a request is refused, which also slows down programs that retry at once."""
JOINS_PER_MINUTE = 60
"""Maximum number of joins from one address, by a platform's URL or on the public page."""
MOST_REMEMBERED = 20_000
_UNCOUNTED = ("/static/", "/tasks/")

CookieOwner = Callable[[str, str], str | None]
"""The person a cookie was issued to; None if we did not issue it."""


class TokenBuckets:
    """A token bucket per key: a sustained rate, and a burst after a quiet time."""

    def __init__(self, per_second: float, at_once: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, longest_wait: float) -> float:
        """Reserve a turn; returns the seconds until it comes. If that exceeds the maximum, none is reserved."""
        now = self._clock()
        left, at = self._left.get(key, (self._at_once, now))
        left = min(self._at_once, left + (now - at) * self._per_second) - 1
        wait = max(0.0, -left / self._per_second)
        self._left[key] = (left if wait <= longest_wait else left + 1, now)
        self._left.move_to_end(key)
        if len(self._left) > MOST_REMEMBERED:
            self._left.popitem(last=False)
        return wait


class FairQueue:
    """Makes requests wait for their turn, per signed-in worker, or per address for everybody else."""

    def __init__(self, app: ASGIApp, per_second: float, cookie_owner: CookieOwner, *, limits_joining: bool) -> None:
        self.app = app
        self._turns = TokenBuckets(per_second, per_second * BURST_SECONDS)
        self._joins = TokenBuckets(JOINS_PER_MINUTE / 60, JOINS_PER_MINUTE)
        self._cookie_owner = cookie_owner
        self._limits_joining = limits_joining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_UNCOUNTED):
            await self.app(scope, receive, send)
            return
        wait = self._wait(scope)
        if wait > LONGEST_WAIT:
            await asyncio.sleep(REFUSED_AFTER)
            await _refusal(scope, wait)(scope, receive, send)
            return
        if wait:
            await asyncio.sleep(wait)
        await self.app(scope, receive, send)

    def _wait(self, scope: Scope) -> float:
        """Seconds until a request's turn."""
        cookies, host = _cookies(scope), _host(scope)
        # A proxy without client addresses: all requests come from it.
        is_shared, address = is_this_machine(host), counted_address(host)
        wait = 0.0
        if not is_shared and self._limits_joining and scope["path"] in ("/join", "/welcome"):
            wait = self._joins.take(address, LONGEST_WAIT)
        for name in (WORKER_COOKIE, STAFF_COOKIE):
            # Counted by person: anyone who opens their link again gets another cookie. Values that we did not issue are
            # ignored. Otherwise, with a new cookie for every request, there would be no limit.
            if (value := cookies.get(name)) is not None and (owner := self._cookie_owner(name, value)) is not None:
                return max(wait, self._turns.take(f"{name}:{owner}", LONGEST_WAIT))
        return wait if is_shared else max(wait, self._turns.take(address, LONGEST_WAIT))


def _cookies(scope: Scope) -> dict[str, str]:
    """The cookies that the application will see: a request can have several such headers, and the last one counts."""
    cookies: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie":
            cookies.update(cookie_parser(value.decode("latin-1")))
    return cookies


def _host(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else ""


def _refusal(scope: Scope, wait: float) -> Response:
    message = "You have made too many requests in a short time. Wait a moment, then try again."
    return bare_refusal(Headers(scope=scope), 429, "too_many_requests", message, {"Retry-After": str(ceil(wait))})
