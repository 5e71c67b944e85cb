"""Checks passwords with rate limits. Wrong attempts by others can't lock a user out."""

import asyncio
import hmac
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from math import ceil
from typing import NamedTuple, TypeVar

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from chorale.engine.clock import Clock
from chorale.model.logins import login_of
from chorale.store import Store, Tx, requesters, settings, team
from chorale.store.attempts import attempts_since, forget_attempts, forget_latest_attempt, note_attempt
from chorale.store.requesters import RequesterRow
from chorale.store.team import Member
from chorale.web import staff
from chorale.web.client_addresses import counted_address
from chorale.web.links import OWNER
from chorale.web.sessions import is_as_made

T = TypeVar("T")
Row = TypeVar("Row", RequesterRow, Member)

DEVICE_COOKIE = "chorale_device"
TEAM_DEVICE_COOKIE = "chorale_team_device"
DEVICE_SECONDS = 365 * 24 * 3600
TRIES = 5
"""Maximum number of wrong passwords for one name in a window. Further attempts are refused on a known device, and
only delayed elsewhere, so that one person does not lock out others at the same address."""
WINDOW_SECONDS = 300
FREE_TRIES_PER_NAME = 10
FREE_TRIES_PER_ADDRESS = 30
"""Attempts without delay, for all names together: a group of annotators may sign in from one address at once."""
DELAY_PER_TRY = 0.2
LONGEST_DELAY = 10.0
"""Maximum delay in seconds.

Repeated attempts are answered more slowly but not refused; otherwise anybody could lock a user out.
"""
DELAYED_AT_ONCE = 5
"""Maximum number of delayed attempts per address at a time, in each process; more are refused.

This limits guessing to one password every two seconds.
"""


class TooManyTriesError(Exception):
    def __init__(self, wait: int) -> None:
        super().__init__()
        self.wait = wait


class TryKeys(NamedTuple):
    """The keys by which an attempt is counted."""

    here: str
    """The name, with the device or else the address."""
    name: str
    address: str | None = None
    """None for a known device, which attempts by others at its address do not affect."""

    @property
    def all(self) -> list[str]:
        return [key for key in self if key is not None]


class Doorkeeper:
    """Counts attempts in the database, for all processes, by keyed hashes of address and name."""

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
        self._trying: Counter[str] = Counter()
        """Number of pending attempts, by address."""

    async def owner(self, request: Request, name: str, password: str) -> RequesterRow | None:
        """The owner with this name and password; raises TooManyTriesError after too many attempts."""
        return await self._checked(request, name, password, _owner)

    async def member(self, request: Request, name: str, password: str) -> Member | None:
        """The annotator with this name and password; raises TooManyTriesError after too many attempts."""
        return await self._checked(request, login_of(name), password, _member)

    async def _checked(
        self, request: Request, name: str, password: str, find: Callable[[Tx, str], Row | None]
    ) -> Row | None:
        async with self.counted(request, name, self._known_device(request, name)) as keys:
            row = await asyncio.wrap_future(self._store.read(lambda tx: find(tx, name)))
            if not await self.passwords.matches(None if row is None else row.password_hash, password):
                return None
        await self.forget(keys)
        return row

    @asynccontextmanager
    async def counted(self, request: Request, name: str, device: str | None) -> AsyncIterator[TryKeys]:
        """Count an attempt for a name while it is checked; `device` is the cookie of a known device.

        Yields the keys to `forget` if the password was correct. Raises TooManyTriesError after too many attempts.
        """
        address = _address(request)
        keys = self._keys(name, address, device)
        is_full = self._trying[address] >= DELAYED_AT_ONCE
        self._trying[address] += 1
        try:
            # Counted before it is checked, so that simultaneous attempts all count.
            refused_for, delay = await self._write(lambda tx: _note(tx, self._clock(), keys, is_full=is_full))
            if refused_for:
                raise TooManyTriesError(refused_for)
            if delay:
                await asyncio.sleep(delay)
            yield keys
        finally:
            self._trying[address] -= 1
            if not self._trying[address]:
                del self._trying[address]

    async def forget(self, keys: TryKeys) -> None:
        """Remove a successful attempt from the count."""
        await self._write(lambda tx: _forget(tx, keys))

    def _keys(self, name: str, address: str, device: str | None) -> TryKeys:
        of_name = self._key(f"{self._kind}name:{name}")
        if device is not None:
            return TryKeys(self._key(f"device:{device}"), of_name)
        return TryKeys(
            self._key(f"{self._kind}name at address:{name}\0{address}"), of_name, self._key(f"address:{address}")
        )

    async def _write(self, work: Callable[[Tx], T]) -> T:
        return await asyncio.wrap_future(self._store.write(work))

    def remember_device(self, response: Response, name: str) -> Response:
        """Remember this device, so that wrong passwords from elsewhere do not affect it."""
        self._set_cookie(response, self._cookie, str(self._devices.dumps(name)), DEVICE_SECONDS)
        return response

    def _known_device(self, request: Request, name: str) -> str | None:
        """The device cookie of a browser that was signed in with this name before."""
        cookie = request.cookies.get(self._cookie, "")
        try:
            is_known = self._devices.loads(cookie, DEVICE_SECONDS) == name and is_as_made(cookie)
            return cookie if is_known else None
        except BadSignature:
            return None

    def _key(self, purpose: str) -> str:
        return hmac.new(self._secret, purpose.encode(), sha256).hexdigest()[:32]


def _owner(tx: Tx, name: str) -> RequesterRow | None:
    row = requesters.find_requester(tx, name)
    return row if row is not None and row.role == OWNER else None


def _member(tx: Tx, login: str) -> Member | None:
    member = team.find(tx, login)
    return member if member is not None and member.deactivated_at is None else None


def _note(tx: Tx, now: int, keys: TryKeys, *, is_full: bool) -> tuple[int, float]:
    """Count an attempt; returns the seconds for which it is refused, and by which its answer is delayed."""
    window = WINDOW_SECONDS * 1000
    here = attempts_since(tx, keys.here, now - window)
    delay = 0.0
    if keys.address is not None:
        of_name, of_address = (attempts_since(tx, key, now - window).tries for key in (keys.name, keys.address))
        delay = _delay(here.tries, of_name, of_address)
        if delay and is_full:
            return ceil(LONGEST_DELAY), delay
    elif here.tries >= TRIES:
        return max(1, ceil((here.first_at + window - now) / 1000)), delay
    note_attempt(tx, keys.all, now)
    return 0, delay


def _delay(here: int, of_name: int, of_address: int) -> float:
    """The delay of an attempt in seconds, by the numbers of earlier attempts.

    The longest of three delays applies. With each attempt, the delay for the name at this address doubles; the delays
    for the name and for the address grow linearly.

    >>> [_delay(tries, tries, tries) for tries in (0, 4, 5, 6, 8, 9, 500)]
    [0.0, 0.0, 1.0, 2.0, 8.0, 10.0, 10.0]
    >>> _delay(0, 14, 0), _delay(0, 0, 34)
    (1.0, 1.0)
    """
    doubled = 2.0 ** min(here - TRIES, 10) if here >= TRIES else 0.0
    further = max(of_name - FREE_TRIES_PER_NAME, of_address - FREE_TRIES_PER_ADDRESS) + 1
    return min(LONGEST_DELAY, max(doubled, DELAY_PER_TRY * further, 0.0))


def _forget(tx: Tx, keys: TryKeys) -> None:
    """Delete the attempts of a person who has signed in.

    Wrong passwords for other names stay counted. Otherwise, anybody with an account could guess others' passwords
    without limit by signing in to their own in between.
    """
    forget_attempts(tx, keys.here)
    forget_attempts(tx, keys.name)
    if keys.address is not None:
        forget_latest_attempt(tx, keys.address)


def _address(request: Request) -> str:
    return counted_address(request.client.host if request.client else "")
