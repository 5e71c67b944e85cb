"""Signed cookies and links. The database decides whether a session is still valid (`engine/sessions.py`)."""

import time
from dataclasses import dataclass
from typing import NamedTuple

from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer
from itsdangerous.encoding import base64_decode, base64_encode

from chorale.engine.sessions import NewSession, digest_of
from chorale.store.sessions import SessionClaim

WORKER_COOKIE = "chorale_worker"
STAFF_COOKIE = "chorale_staff"
WORKER_SECONDS = 90 * 24 * 3600
STAFF_SECONDS = 12 * 3600
MOST_REMEMBERED = 10_000
_LINKS = ("invitation", "expert", "viewer", "setup", "unsubscribe", "team")


FRONT_COOKIE = "chorale_front"


class Grant(NamedTuple):
    """Access to an account in one study, as part of one sign-in to a server."""

    kind: str
    id: int
    version: int
    epoch: str


def is_as_made(signed: str) -> bool:
    """Whether a signed value is in its original encoding: a signature can be encoded in several ways.

    Otherwise, a client counted by such a value could appear as a new one every time.
    """
    signature = signed.rpartition(".")[2]
    return base64_encode(base64_decode(signature)).decode() == signature


@dataclass(frozen=True, slots=True)
class StaffSession:
    name: str
    version: int
    epoch: str
    """The mark of its epoch: versions are meaningless in another state of the database."""


class Sessions:
    """Makes and reads signed values, with the study's own key."""

    def __init__(self, key: str) -> None:
        self._key = ""
        self.use(key)

    def use(self, key: str) -> None:
        """Use this key from now on; signatures by other keys become invalid."""
        if key == self._key:
            return
        self._key = key
        self._worker = URLSafeTimedSerializer(key, salt="worker")
        self._staff = URLSafeTimedSerializer(key, salt="staff")
        # Cached: checking a signature takes a noticeable part of a request, and cookies repeat.
        self._read_before: dict[str, tuple[URLSafeTimedSerializer, object, float]] = {}
        self._media = URLSafeSerializer(key, salt="media")
        self._front = URLSafeTimedSerializer(key, salt="front")
        self._links = {kind: URLSafeSerializer(key, salt=f"link:{kind}") for kind in _LINKS}

    def worker_cookie(self, session: NewSession) -> str:
        return str(self._worker.dumps([session.worker_id, session.pseudonym, session.epoch, session.token]))

    def worker(self, cookie: str | None) -> SessionClaim | None:
        """The claim of a worker's cookie; None if we did not sign it."""
        match self._load(self._worker, cookie, WORKER_SECONDS):
            case [int(worker_id), str(pseudonym), str(epoch), str(token)]:
                return SessionClaim(worker_id, pseudonym, epoch, digest_of(token))
        return None

    def media_token(self, worker_id: int, path: str) -> str:
        """A token that opens a file of the study folder for one worker."""
        return str(self._media.dumps([worker_id, path]))

    def media(self, token: str) -> tuple[int, str] | None:
        """The worker and file of a token; None if we did not sign it."""
        try:
            match self._media.loads(token):
                case [int(worker_id), str(path)]:
                    return worker_id, path
        except BadSignature:
            pass
        return None

    def staff_cookie(self, session: StaffSession) -> str:
        return str(self._staff.dumps([session.name, session.version, session.epoch]))

    def staff(self, cookie: str | None) -> StaffSession | None:
        match self._load(self._staff, cookie, STAFF_SECONDS):
            case [str(name), int(version), str(epoch)]:
                return StaffSession(name, version, epoch)
        return None

    def front_token(self, grant: Grant) -> str:
        return str(self._front.dumps(list(grant)))

    def front(self, token: str, seconds: int) -> Grant | None:
        """The grant of a server-wide sign-in for this study, if this study has signed it."""
        match self._load(self._front, token, seconds):
            case [str(kind), int(number), int(version), str(epoch)]:
                return Grant(kind, number, version, epoch)
        return None

    def link_token(self, kind: str, name: str) -> str:
        return str(self._links[kind].dumps(name))

    def read_link(self, kind: str, token: str) -> str | None:
        """The content of a link; None if we did not sign it."""
        try:
            value = self._links[kind].loads(token)
        except BadSignature:
            return None
        return value if isinstance(value, str) else None

    def _load(self, serializer: URLSafeTimedSerializer, cookie: str | None, seconds: int) -> object:
        if not cookie:
            return None
        read = self._read_before.get(cookie)
        if read is None:
            try:
                value, signed_at = serializer.loads(cookie, return_timestamp=True)
            except BadSignature:
                return None
            if not is_as_made(cookie):
                return None
            read = (serializer, value, signed_at.timestamp())
            if len(self._read_before) >= MOST_REMEMBERED:
                self._read_before.clear()
            self._read_before[cookie] = read
        made_by, value, signed_at = read
        return value if made_by is serializer and time.time() - signed_at <= seconds else None
