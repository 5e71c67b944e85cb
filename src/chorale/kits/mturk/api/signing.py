"""Verifies the sender of a request with AWS Signature Version 4.

A request has the name of a key and a signature, computed with its secret from the method, the path, some headers and
the body. Without the secret, or if any of these change, the signature does not match.
"""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import parse_qsl, quote

from chorale.kits.mturk.api import queues
from chorale.kits.mturk.api.errors import refused_signature

SERVICE = "mturk-requester"
SERVICES = frozenset({SERVICE, queues.SERVICE})
ALGORITHM = "AWS4-HMAC-SHA256"
SKEW_SECONDS = 5 * 60
"""Maximum clock difference, and thus the lifetime of a signature."""
MUST_SIGN = ("host", "x-amz-date", "x-amz-target")
_AUTHORIZATION = re.compile(
    rf"{ALGORITHM} Credential=(?P<key>[A-Z0-9]{{4,64}})/(?P<date>\d{{8}})/(?P<region>[a-z0-9-]{{1,40}})/"
    rf"(?P<service>[a-z-]{{1,40}})/aws4_request, ?SignedHeaders=(?P<signed>[a-z0-9;-]{{1,2000}}), ?"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as received; header names in lower case."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The values of a header in the signed form: stripped and separated by commas."""
        return ",".join(" ".join(value.split()) for key, value in self.headers if key == name)


@dataclass(frozen=True, slots=True)
class Credential:
    """The parsed Authorization header."""

    key: str
    date: str
    region: str
    service: str
    signed: tuple[str, ...]
    signature: str

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def read_credential(request: SignedRequest, now: float) -> Credential:
    """The claimed sender. Raises an error for invalid signatures and for those outside the time window."""
    header = request.header("authorization")
    if not header:
        raise refused_signature("MissingAuthenticationTokenException", "The request is not signed.")
    parts = _AUTHORIZATION.fullmatch(header)
    if parts is None or parts["service"] not in SERVICES:
        raise refused_signature(
            "IncompleteSignatureException", f"The Authorization header is not a {ALGORITHM} signature for {SERVICE}."
        )
    signed = tuple(parts["signed"].split(";"))
    credential = Credential(parts["key"], parts["date"], parts["region"], parts["service"], signed, parts["signature"])
    lacking = [name for name in MUST_SIGN if name not in credential.signed or not request.header(name)]
    if lacking:
        raise refused_signature("IncompleteSignatureException", f"{', '.join(lacking)} must be signed.")
    _check_time(request.header("x-amz-date"), credential.date, now)
    return credential


def _check_time(stamp: str, date: str, now: float) -> None:
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise refused_signature("IncompleteSignatureException", "X-Amz-Date is not a valid time.") from None
    if not stamp.startswith(date):
        raise refused_signature(
            "InvalidSignatureException", "The date of the signature differs from the date of the request."
        )
    if abs(now - signed_at) > SKEW_SECONDS:
        raise refused_signature(
            "InvalidSignatureException",
            f"Signature expired: it was made at {stamp}, but the server time is "
            f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}. Check your clock.",
        )


def check_signature(request: SignedRequest, credential: Credential, secret: str) -> None:
    """Raises an error unless the signature was made with the secret for this request."""
    content = sha256(request.body).hexdigest()
    claimed = request.header("x-amz-content-sha256")
    fits = hmac.compare_digest(signature_of(request, credential, secret, content), credential.signature)
    if not fits or (claimed and claimed != content):
        raise refused_signature(
            "InvalidSignatureException",
            "The request signature does not match the one calculated here. Check the secret access key.",
        )


def signature_of(request: SignedRequest, credential: Credential, secret: str, content: str) -> str:
    """The signature of a request with a secret. `content` is the digest of the body."""
    canonical = "\n".join(
        (
            request.method,
            quote(request.path or "/", safe="/-_.~%"),
            _canonical_query(request.query),
            *(f"{name}:{request.header(name)}" for name in credential.signed),
            "",
            ";".join(credential.signed),
            content,
        )
    )
    digest = sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join((ALGORITHM, request.header("x-amz-date"), credential.scope, digest))
    key = f"AWS4{secret}".encode()
    for part in (credential.date, credential.region, credential.service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, to_sign.encode(), "sha256").hex()


def _canonical_query(query: str) -> str:
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    return "&".join(f"{name}={value}" for name, value in pairs)
