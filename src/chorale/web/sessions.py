"""Signed cookies and links: who somebody is, without asking the database."""

import time
from dataclasses import dataclass

from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer

WORKER_COOKIE = "chorale_worker"
STAFF_COOKIE = "chorale_staff"
WORKER_SECONDS = 90 * 24 * 3600
STAFF_SECONDS = 12 * 3600
MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class WorkerSession:
    id: int
    pseudonym: str


@dataclass(frozen=True, slots=True)
class StaffSession:
    name: str
    version: int


class Sessions:
    """Makes and reads signed values. The secret is the study's own, made when its database was."""

    def __init__(self, secret: str) -> None:
        self._worker = URLSafeTimedSerializer(secret, salt="worker")
        self._staff = URLSafeTimedSerializer(secret, salt="staff")
        # Checking a signature is a noticeable part of a request, and the same cookies come again and again.
        self._read_before: dict[str, tuple[URLSafeTimedSerializer, object, float]] = {}
        self._links = {
            kind: URLSafeSerializer(secret, salt=f"link:{kind}") for kind in ("invitation", "expert", "viewer", "setup")
        }

    def worker_cookie(self, session: WorkerSession) -> str:
        return str(self._worker.dumps([session.id, session.pseudonym]))

    def worker(self, cookie: str | None) -> WorkerSession | None:
        match self._load(self._worker, cookie, WORKER_SECONDS):
            case [int(worker_id), str(pseudonym)]:
                return WorkerSession(worker_id, pseudonym)
        return None

    def staff_cookie(self, session: StaffSession) -> str:
        return str(self._staff.dumps([session.name, session.version]))

    def staff(self, cookie: str | None) -> StaffSession | None:
        match self._load(self._staff, cookie, STAFF_SECONDS):
            case [str(name), int(version)]:
                return StaffSession(name, version)
        return None

    def link_token(self, kind: str, name: str) -> str:
        return str(self._links[kind].dumps(name))

    def read_link(self, kind: str, token: str) -> str | None:
        """What a link was made for, if we made it."""
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
            read = (serializer, value, signed_at.timestamp())
            if len(self._read_before) >= MOST_REMEMBERED:
                self._read_before.clear()
            self._read_before[cookie] = read
        made_by, value, signed_at = read
        return value if made_by is serializer and time.time() - signed_at <= seconds else None
