"""Signed cookies and links: who somebody is, without asking the database."""

from dataclasses import dataclass

from itsdangerous import BadSignature, URLSafeSerializer, URLSafeTimedSerializer

WORKER_COOKIE = "chorale_worker"
STAFF_COOKIE = "chorale_staff"
WORKER_SECONDS = 90 * 24 * 3600
STAFF_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True)
class StaffSession:
    name: str
    version: int


class Sessions:
    """Makes and reads signed values. The secret is the study's own, made when its database was."""

    def __init__(self, secret: str) -> None:
        self._worker = URLSafeTimedSerializer(secret, salt="worker")
        self._staff = URLSafeTimedSerializer(secret, salt="staff")
        self._links = {
            kind: URLSafeSerializer(secret, salt=f"link:{kind}") for kind in ("invitation", "expert", "setup")
        }

    def worker_cookie(self, worker_id: int) -> str:
        return str(self._worker.dumps(worker_id))

    def worker_id(self, cookie: str | None) -> int | None:
        value = self._load(self._worker, cookie, WORKER_SECONDS)
        return value if isinstance(value, int) else None

    def staff_cookie(self, session: StaffSession) -> str:
        return str(self._staff.dumps([session.name, session.version]))

    def staff(self, cookie: str | None) -> StaffSession | None:
        value = self._load(self._staff, cookie, STAFF_SECONDS)
        match value:
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

    @staticmethod
    def _load(serializer: URLSafeTimedSerializer, cookie: str | None, seconds: int) -> object:
        if not cookie:
            return None
        try:
            return serializer.loads(cookie, max_age=seconds)
        except BadSignature:
            return None
