"""Signed links from a panel: a token identifies the person, and only the panel can create it.

Prolific uses JSON Web Tokens (RFC 7519) in `prolific_token`, signed by RS256 with published keys. Other parameters of
the link are not trusted.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import jwt

from chorale.model import ArrivalSettings, Refusal, UserError
from chorale.model.wording import joined, worded

TOKEN_PARAMETER = "prolific_token"  # noqa: S105 - the name of a parameter, not what is in it
PROLIFIC_KEYS = "https://api.prolific.com/.well-known/study/jwks.json"
PROLIFIC_ISSUER = "https://www.prolific.com"
ALGORITHMS = ("RS256", "ES256")
"""Only asymmetric algorithms: a public key must never be accepted as a shared secret (HS256), nor a missing signature
(none).
"""
LEEWAY_SECONDS = 60
"""Tolerated clock difference."""
FRESH_SECONDS = 24 * 3600
"""Prolific requires its keys to be fetched at least daily."""
STALE_SECONDS = 7 * 24 * 3600
"""How long old keys are used if they can't be fetched again."""
PAUSE_SECONDS = 60
"""Minimum interval between fetches, even for unknown keys."""
LONGEST_TOKEN = 8_000
MOST_BYTES = 100_000
AGAIN_FROM_PLATFORM = worded("Open the study again from the page where you found it.")
log = logging.getLogger("chorale.web")


@dataclass(frozen=True, slots=True)
class SignedArrival:
    """A verified arrival."""

    values: Mapping[str, str]
    """The signed parameters of the link."""
    digest: str
    """The token's digest, so that it can be used only once."""
    expires_at: int
    """In milliseconds since 1970."""


@dataclass
class KeySet:
    """A platform's public keys, fetched when they are needed."""

    fetch: Callable[[], Mapping[str, Any]]
    now: Callable[[], float] = time.time
    _keys: dict[str, jwt.PyJWK] = field(default_factory=dict)
    _fetched_at: float = float("-inf")
    _tried_at: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def key(self, kid: str) -> jwt.PyJWK | None:
        """The key with a name. For an unknown name, keys are fetched again."""
        with self._lock:
            age = self.now() - self._fetched_at
            if (age > FRESH_SECONDS or kid not in self._keys) and self.now() - self._tried_at >= PAUSE_SECONDS:
                self._tried_at = self.now()
                self._fetch_again()
            if self.now() - self._fetched_at > STALE_SECONDS:
                raise Refusal(
                    "unchecked", worded("Your link can't be checked right now. Please try again in a few minutes."), 503
                )
            return self._keys.get(kid)

    def _fetch_again(self) -> None:
        try:
            rows = self.fetch()["keys"]
            keys = {}
            for row in rows:
                if row.get("kty") in ("RSA", "EC") and row.get("kid"):
                    keys[str(row["kid"])] = jwt.PyJWK(dict(row), algorithm=row.get("alg"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, httpx.HTTPError, jwt.PyJWTError) as error:
            # Old keys stay in use for a while, since the panel may be down.
            log.warning("the keys of signed links could not be fetched; trying again: %s", type(error).__name__)
            return
        self._keys, self._fetched_at = keys, self.now()


def keys_of(arrival: ArrivalSettings, folder: Path | None = None) -> KeySet:
    """The keys that a study's links are signed with: Prolific's, or those at an address, or in a file."""
    place = arrival.signing_keys or PROLIFIC_KEYS
    if place.startswith("https://"):
        return KeySet(lambda: _downloaded(place))
    file = Path(place) if folder is None else folder / place
    if not file.is_file():
        raise UserError(
            f"arrival.signing_keys names a file that does not exist: {file}. Put the platform's keys there (JWKS)."
        )
    return KeySet(lambda: dict(json.loads(file.read_text("utf-8"))))


def _downloaded(url: str) -> Mapping[str, Any]:
    with httpx.Client(timeout=5.0, follow_redirects=False) as client:
        response = client.get(url)
        response.raise_for_status()
        if len(response.content) > MOST_BYTES:
            raise ValueError("too long to be a set of keys")
        return dict(response.json())


@dataclass(frozen=True)
class SignedLinks:
    """Checks the tokens of a study's links."""

    arrival: ArrivalSettings
    keys: KeySet
    public_url: str

    def read(self, token: str) -> SignedArrival:
        """The person of a token; Refusal if it is invalid, for another site, or expired."""
        if not token or len(token) > LONGEST_TOKEN:
            raise _refusal(worded("The link has no signature."))
        try:
            header = jwt.get_unverified_header(token)
            key = self.keys.key(str(header.get("kid", "")))
            algorithm = None if key is None else key.algorithm_name
            if key is None or algorithm not in ALGORITHMS or header.get("alg") != algorithm:
                raise _refusal(worded("The link was not signed by the recruitment platform."))
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=PROLIFIC_ISSUER,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"], "verify_aud": False},
            )
        except jwt.ExpiredSignatureError:
            raise _refusal(worded("The link has expired.")) from None
        except (jwt.PyJWTError, RecursionError):  # the latter for a header that is nested too deeply
            raise _refusal(worded("The link was not signed by the recruitment platform.")) from None
        self._check_audience(claims["aud"])
        values = claims.get("prolific")
        if not isinstance(values, dict):
            raise _refusal(worded("Part of the link is missing."))
        if self.arrival.workspace is not None and values.get("workspace_id") != self.arrival.workspace:
            raise _refusal(worded("The link belongs to another study."))
        plain = {str(name): value for name, value in values.items() if isinstance(value, str)}
        # Without the signature, which can be encoded in more than one way.
        digest = sha256(token.rpartition(".")[0].encode()).hexdigest()
        return SignedArrival(plain, digest, (int(claims["exp"]) + LEEWAY_SECONDS) * 1000)

    def _check_audience(self, named: Any) -> None:
        """Check that a token is for this site: Prolific names its domain or its full URL."""
        here = urlsplit(self.public_url)
        for audience in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            try:
                parts = urlsplit(str(audience) if "//" in str(audience) else f"//{audience}")
                if parts.hostname == here.hostname and parts.port in (None, here.port):
                    return
            except ValueError:  # not an address
                continue
        raise _refusal(worded("The link belongs to another site."))


def _refusal(why: str) -> Refusal:
    return Refusal("bad_arrival", joined(why, AGAIN_FROM_PLATFORM), 403)
