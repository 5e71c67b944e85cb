"""Verifies Prolific's notifications, which are signed with a secret of the workspace."""

import base64
import hmac
from hashlib import sha256

EVENTS = ("submission.status.change", "study.status.change")
"""The events a site subscribes to."""
SIGNATURE_HEADER = "x-prolific-request-signature"
TIMESTAMP_HEADER = "x-prolific-request-timestamp"
OLDEST_SECONDS = 600


def signature_of(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the timestamp and the body, in base64."""
    return base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, sha256).digest()).decode()


def is_genuine(secret: str, timestamp: str, body: bytes, signature: str, now: float) -> bool:
    """Whether a notification was recently signed with the secret.

    >>> is_genuine("s", "1000", b"{}", signature_of("s", "1000", b"{}"), 1001.0)
    True
    >>> is_genuine("s", "1000", b"{}", signature_of("s", "1000", b"{}"), 5000.0)
    False
    """
    try:
        sent = float(timestamp)
    except ValueError:
        return False
    expected = signature_of(secret, timestamp, body).encode()
    return hmac.compare_digest(expected, signature.encode()) and abs(now - sent) <= OLDEST_SECONDS
