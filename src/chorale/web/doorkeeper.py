"""Checks passwords, and not too many of them. Nobody can keep the owner out by trying wrong ones."""

import asyncio
import hmac
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from math import ceil

from fastapi import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from chorale.engine.running import Study
from chorale.store import Tx, settings
from chorale.store.attempts import attempts_since, forget_attempts, note_attempt
from chorale.store.requesters import RequesterRow
from chorale.web import staff
from chorale.web.serving import Site

DEVICE_COOKIE = "chorale_device"
DEVICE_SECONDS = 365 * 24 * 3600
TRIES = 5
"""From one address, or one device that an owner has signed in from, in a window."""
WINDOW_SECONDS = 300
FREE_TRIES_PER_NAME = 10
DELAY_PER_TRY = 0.2
LONGEST_DELAY = 10.0
"""Seconds. Tries from everywhere at once are answered more and more slowly; they are never refused for their number,
or anybody could keep the owner out."""


class TooManyTriesError(Exception):
    def __init__(self, wait: int) -> None:
        super().__init__()
        self.wait = wait


class Doorkeeper:
    """Counts tries in the database, for all processes, by keyed hashes of where and as whom somebody tried."""

    def __init__(self, site: Site) -> None:
        self.passwords = staff.Passwords()
        self._site = site
        secret = site.study.store.do(lambda tx: settings.secret(tx, "devices"))
        self._secret = secret.encode()
        self._devices = URLSafeTimedSerializer(secret, salt="device")

    async def owner(self, request: Request, name: str, password: str) -> RequesterRow | None:
        """The owner whose name and password these are; raises TooManyTriesError instead of looking too often."""
        known = self._is_known_device(request, name)
        where = f"device:{request.cookies[DEVICE_COOKIE]}" if known else f"address:{_address(request)}"
        keys = [self._key(where), self._key(f"name:{name}")]
        # Noted before it is looked at: a hundred tries at the same moment are a hundred tries.
        wait, tries_of_name = await self._site.write(_note, keys)
        if wait:
            raise TooManyTriesError(wait)
        if not known and tries_of_name >= FREE_TRIES_PER_NAME:
            await asyncio.sleep(min(LONGEST_DELAY, DELAY_PER_TRY * (tries_of_name - FREE_TRIES_PER_NAME + 1)))
        row = await self._site.read(staff.requester, name)
        if not await self.passwords.matches(row, password):
            return None
        await self._site.write(lambda tx, _: forget_attempts(tx, keys))
        return row

    def remember_device(self, response: Response, name: str) -> Response:
        """Let wrong passwords from elsewhere be no hindrance to whoever signs in from here again."""
        self._site.set_cookie(response, DEVICE_COOKIE, str(self._devices.dumps(name)), DEVICE_SECONDS)
        return response

    def _is_known_device(self, request: Request, name: str) -> bool:
        try:
            return bool(self._devices.loads(request.cookies.get(DEVICE_COOKIE, ""), DEVICE_SECONDS) == name)
        except BadSignature:
            return False

    def _key(self, what: str) -> str:
        return hmac.new(self._secret, what.encode(), sha256).hexdigest()[:32]


def _note(tx: Tx, study: Study, keys: list[str]) -> tuple[int, int]:
    """Seconds to wait before the next try from there is looked at, and how often the name was tried before."""
    where, name = keys
    now, window = study.clock(), WINDOW_SECONDS * 1000
    from_there = attempts_since(tx, where, now - window)
    of_name = attempts_since(tx, name, now - window)
    if from_there.tries >= TRIES:
        return max(1, ceil((from_there.first_at + window - now) / 1000)), of_name.tries
    note_attempt(tx, keys, now)
    return 0, of_name.tries


def _address(request: Request) -> str:
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    # One subscriber has a whole /64 of IPv6 addresses to come from.
    return str(int(address) >> 64) if isinstance(address, IPv6Address) else host
