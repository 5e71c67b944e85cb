"""Checks passwords, and not too many of them. Nobody can keep somebody out by trying wrong ones."""

import asyncio
import hmac
from collections.abc import Callable
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import TypeVar

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from chorale.engine.clock import Clock
from chorale.model.logins import login_of
from chorale.store import Store, Tx, requesters, settings, team
from chorale.store.attempts import attempts_since, forget_attempts, forget_latest_attempt, note_attempt
from chorale.store.requesters import RequesterRow
from chorale.store.team import Member
from chorale.web import staff
from chorale.web.links import OWNER

T = TypeVar("T")
Row = TypeVar("Row", RequesterRow, Member)

DEVICE_COOKIE = "chorale_device"
TEAM_DEVICE_COOKIE = "chorale_team_device"
DEVICE_SECONDS = 365 * 24 * 3600
TRIES = 5
"""From one address, or one device that somebody has signed in from as that name, in a window."""
WINDOW_SECONDS = 300
FREE_TRIES_PER_NAME = 10
DELAY_PER_TRY = 0.2
LONGEST_DELAY = 10.0
"""Seconds. Tries from everywhere at once are answered more and more slowly; they are never refused for their number,
or anybody could keep somebody out."""


class TooManyTriesError(Exception):
    def __init__(self, wait: int) -> None:
        super().__init__()
        self.wait = wait


class Doorkeeper:
    """Counts tries in the database, for all processes, by keyed hashes of where and as whom somebody tried."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        set_cookie: Callable[[Response, str, str, int], None],
        *,
        is_team: bool = False,
    ) -> None:
        self.passwords = staff.Passwords()
        self._store = store
        self._clock = clock
        self._set_cookie = set_cookie
        secret = store.do(lambda tx: settings.secret(tx, "devices"))
        self._secret = secret.encode()
        self._kind = "team-" if is_team else ""
        self._cookie = TEAM_DEVICE_COOKIE if is_team else DEVICE_COOKIE
        self._devices = URLSafeTimedSerializer(secret, salt=f"{self._kind}device")

    async def owner(self, request: Request, name: str, password: str) -> RequesterRow | None:
        """The owner whose name and password these are; raises TooManyTriesError instead of looking too often."""
        return await self._checked(request, name, password, _owner)

    async def member(self, request: Request, name: str, password: str) -> Member | None:
        """The annotator whose name and password these are; raises TooManyTriesError instead of looking too often."""
        return await self._checked(request, login_of(name), password, _member)

    async def _checked(
        self, request: Request, name: str, password: str, find: Callable[[Tx, str], Row | None]
    ) -> Row | None:
        keys = await self.admit(request, name, self._known_device(request, name))
        row = await asyncio.wrap_future(self._store.read(lambda tx: find(tx, name)))
        if not await self.passwords.matches(None if row is None else row.password_hash, password):
            return None
        await self.forget(keys)
        return row

    async def admit(self, request: Request, name: str, device: str | None) -> list[str]:
        """Count a try for a name, from a device that is known or from an address; what to `forget` if it was right.

        Raises TooManyTriesError where there were too many.
        """
        where = f"address:{_address(request)}" if device is None else f"device:{device}"
        keys = [self._key(where), self._key(f"{self._kind}name:{name}")]
        # Noted before it is looked at: a hundred tries at the same moment are a hundred tries.
        wait, tries_of_name = await self._write(lambda tx: _note(tx, self._clock(), keys))
        if wait:
            raise TooManyTriesError(wait)
        if device is None and tries_of_name >= FREE_TRIES_PER_NAME:
            await asyncio.sleep(min(LONGEST_DELAY, DELAY_PER_TRY * (tries_of_name - FREE_TRIES_PER_NAME + 1)))
        return keys

    async def forget(self, keys: list[str]) -> None:
        """Stop counting a try whose password was right."""
        await self._write(lambda tx: _forget(tx, keys))

    async def _write(self, work: Callable[[Tx], T]) -> T:
        return await asyncio.wrap_future(self._store.write(work))

    def remember_device(self, response: Response, name: str) -> Response:
        """Wrong passwords from elsewhere do not block somebody who signs in from here again."""
        self._set_cookie(response, self._cookie, str(self._devices.dumps(name)), DEVICE_SECONDS)
        return response

    def _known_device(self, request: Request, name: str) -> str | None:
        """The cookie of a browser that somebody has signed in with as that name before."""
        cookie = request.cookies.get(self._cookie, "")
        try:
            return cookie if self._devices.loads(cookie, DEVICE_SECONDS) == name else None
        except BadSignature:
            return None

    def _key(self, what: str) -> str:
        return hmac.new(self._secret, what.encode(), sha256).hexdigest()[:32]


def _owner(tx: Tx, name: str) -> RequesterRow | None:
    row = requesters.find_requester(tx, name)
    return row if row is not None and row.role == OWNER else None


def _member(tx: Tx, login: str) -> Member | None:
    member = team.find(tx, login)
    return member if member is not None and member.deactivated_at is None else None


def _note(tx: Tx, now: int, keys: list[str]) -> tuple[int, int]:
    """Seconds to wait before the next try from there is looked at, and how often the name was tried before."""
    where, name = keys
    window = WINDOW_SECONDS * 1000
    from_there = attempts_since(tx, where, now - window)
    of_name = attempts_since(tx, name, now - window)
    if from_there.tries >= TRIES:
        return max(1, ceil((from_there.first_at + window - now) / 1000)), of_name.tries
    note_attempt(tx, keys, now)
    return 0, of_name.tries


def _forget(tx: Tx, keys: list[str]) -> None:
    """Forget what somebody tried who is in now. Wrong passwords for other names stay counted where they came from.

    Otherwise anybody with an account could try passwords for others without end, signing in to their own in between.
    """
    where, name = keys
    forget_latest_attempt(tx, where)
    forget_attempts(tx, name)


def _address(request: Request) -> str:
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    # One subscriber has a whole /64 of IPv6 addresses to come from.
    return str(int(address) >> 64) if isinstance(address, IPv6Address) else host
